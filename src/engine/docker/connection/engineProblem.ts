import { stripVTControlCharacters } from 'node:util';
import { Cancelled, HumanError, messageOf } from '../../../domain/work';
import { EngineFault } from '../../engine';

/** The engine cannot be reached any more, or answers as if it were about to end. */
export class EngineGone extends EngineFault {}

/**
 * The engine answers, but cannot do what it was asked for now. It is overloaded or about to restart
 * (429, 5xx). Or someone else removed the object or is changing it (404, 409).
 */
export class EngineTrouble extends EngineFault {}

/** The disk that holds the engine's images and containers is full. */
export class EngineDiskFull extends HumanError {}

/** Error codes of the operating system for a connection that ends or cannot be made. */
const gone = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'],
  ...[
    'ENETUNREACH',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ECONNABORTED',
    'ENOTSOCK',
    'ERR_STREAM_PREMATURE_CLOSE',
  ],
]);

/** The most usual of these codes in words. */
const endings: Readonly<Record<string, string>> = {
  ENOENT: 'its socket no longer exists',
  ECONNREFUSED: 'it is not running',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
};

/** The HTTP status with which the engine refused a call; undefined for any other error. */
export function refusedStatus(error: unknown): number | undefined {
  const status = (error as { readonly statusCode?: unknown } | null | undefined)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

/**
 * Turns the error of a failed call into one that the user understands. Returns `HumanError` and
 * `Cancelled` unchanged, and the error of an `AbortSignal` as `Cancelled`.
 *
 * @param doing what was being done, as in "while …": `starting the sandbox of R`
 */
export function engineProblem(
  error: unknown,
  connection: { readonly address: string },
  doing: string,
): Error {
  if (error instanceof HumanError || error instanceof Cancelled) return error;
  const { name, code, statusCode } = (error ?? {}) as {
    name?: unknown;
    code?: unknown;
    statusCode?: unknown;
  };
  if (name === 'AbortError' || code === 'ABORT_ERR') return new Cancelled();
  const { address } = connection;
  const text = engineText(error);
  const at = `the Docker engine at ${address}, while ${doing}`;

  if (/no space left on device|disk quota exceeded|not enough space/i.test(text)) {
    return new EngineDiskFull(
      `The disk of ${at}, is full: ${text}`,
      'Free some space: swt-bench storage --free-images all removes images built here; docker system df shows the rest',
    );
  }
  if (typeof code === 'string' && (code === 'EACCES' || code === 'EPERM')) {
    return new HumanError(`Permission denied by ${at}`, permissionAdvice);
  }
  if (
    (typeof code === 'string' && gone.has(code)) ||
    /socket hang up|other side closed|premature close|^aborted$/i.test(text)
  ) {
    return new EngineGone(
      `Lost ${at}: ${endings[String(code)] ?? text}`,
      'It may have stopped or be restarting. Start it and try again',
    );
  }
  if (typeof statusCode === 'number') {
    const mayPass = [404, 409, 429].includes(statusCode) || statusCode >= 500;
    return new (mayPass ? EngineTrouble : HumanError)(...answered(statusCode, text, at));
  }
  return new HumanError(
    `Failed with ${at}: ${text}`,
    "Try again; the engine's log may have details",
  );
}

function answered(status: number, text: string, at: string): [what: string, next: string] {
  const what = (verb: string): string => `${verb} ${at}: ${text}`;
  if (status === 404) {
    return [
      what('Not found by'),
      'Another process may have removed it. Repeat this to create it again',
    ];
  }
  if (status === 429) {
    return [what('Too many requests to'), 'Try again in a moment with fewer --workers'];
  }
  if (status === 409) return [what('A conflict in'), 'Try again in a moment'];
  if (status === 401 || status === 403) return [what('Refused by'), permissionAdvice];
  if (status >= 500) {
    return [
      what('Failed in'),
      'Try again; if it fails again, restart the engine and check its log',
    ];
  }
  return [
    what('Not accepted by'),
    'The engine may be too old or have this feature turned off. Check its log and the docker settings',
  ];
}

export const permissionAdvice =
  'Give your user access (sudo usermod -aG docker $USER, then log in again), or use a rootless engine';

/**
 * The engine's error text on one short line, since it is untrusted. The modem writes answers as
 * `(HTTP code 404) no such container - No such container: …`.
 */
export function engineText(error: unknown): string {
  const reason = (error as { json?: { message?: unknown } } | undefined)?.json?.message;
  const raw = typeof reason === 'string' ? reason : messageOf(error);
  return lineOfProblem(raw.replace(/^\(HTTP code \d+\)\s+[^-]*-\s*/, ''));
}

/** Untrusted text on one line, without control characters, at most 300 characters. */
export function lineOfProblem(text: string): string {
  const plain = stripVTControlCharacters(text)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .replace(/\.+$/, '');
  return plain.length > 300 ? `${plain.slice(0, 299)}…` : plain;
}
