import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * Environment variables that may have the key of a provider of models; the first one that is set
 * counts.
 */
export const keyVariables = {
  openai: ['OPENAI_API_KEY'],
  // Never the key of OpenAI: it would go to the company that serves the model.
  'openai-compatible': ['OPENAI_COMPATIBLE_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The companies and protocols whose models are asked. */
export type Provider = keyof typeof keyVariables;

const allKeyVariables = new Set<string>(Object.values(keyVariables).flat());

interface Held {
  /** Values that were removed from the environment, by the names of their variables. */
  readonly taken: Map<string, string>;
  readonly keys: Set<string>;
  redact: Redact;
  longest: number;
}

/**
 * One registry for the whole process. The extension consists of several bundles, each with its own
 * copy of this module.
 */
const place = Symbol.for('swt-bench.keysInUse');

const held = (): Held => {
  const global = globalThis as { [place]?: Held };
  return (global[place] ??= {
    taken: new Map(),
    keys: new Set(),
    redact: (text) => text,
    longest: 0,
  });
};

/** Registers a key, so that it is removed from all text that is written from now on. */
export function useKey(key: string): void {
  const known = held();
  if (known.keys.has(key)) return;
  known.keys.add(key);
  known.redact = redactor([...known.keys]);
  known.longest = formsOf([...known.keys])[0]?.length ?? 0;
}

/** Removes the keys in use from a text, in whatever form they are written. */
export const redactKeys: Redact = (text) => held().redact(text);

/** Length in characters of the longest form of a key in use; 0 when there is none. */
export const longestKey = (): number => held().longest;

/** Names of environment variables that usually contain secrets. */
const secretName = /(?:^|_)(?:API_?KEY|ACCESS_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$/i;

/**
 * Moves keys of models from the environment into memory, so that no process started from now on
 * inherits them. On Linux, `/proc/PID/environ` of this process no longer shows them either. Other
 * variables that seem to contain secrets stay, since git or a registry may need them; their values
 * are redacted too.
 */
export function captureKeys(env: NodeJS.ProcessEnv = process.env): void {
  const { taken } = held();
  const gone: string[] = [];
  for (const name of allKeyVariables) {
    const value = env[name];
    if (value === undefined) continue;
    delete env[name];
    gone.push(name);
    taken.set(name, value);
    useKey(value.trim());
  }
  if (env === process.env && gone.length > 0) wipe(gone);
  noteKeys(env);
}

/**
 * Registers the keys in an environment but leaves them there, because other code shares the
 * process.
 */
export function noteKeys(env: NodeJS.ProcessEnv = process.env): void {
  for (const [name, value = ''] of Object.entries(env)) {
    const text = value.trim();
    const seemsSecret = secretName.test(name) && text.length >= 12 && !/[\s/\\]/.test(text);
    if (allKeyVariables.has(name) || seemsSecret) useKey(text);
  }
}

/** A key from the environment, whether it was removed from it or is still there. */
export function keyOfEnvironment(
  names: readonly string[],
  env: NodeJS.ProcessEnv = { ...Object.fromEntries(held().taken), ...process.env },
): string | undefined {
  return names.map((name) => env[name]?.trim()).find(Boolean);
}

/**
 * Overwrites the values of variables where the kernel shows them. A process keeps the environment
 * that it was started with in its own memory, even when its variables change
 * (https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html). Call this when no variable
 * points there any more. On failure, the keys stay as readable as before.
 */
function wipe(names: readonly string[]): void {
  if (process.platform !== 'linux') return;
  let memory: number | undefined;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // Fields after the name of the program, the first of which is number 3; env_start is number 50.
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[50 - 3]);
    const environment = readFileSync('/proc/self/environ');
    if (!Number.isSafeInteger(start) || start === 0) return;
    memory = openSync('/proc/self/mem', 'r+');
    let at = 0;
    for (const entry of environment.toString('latin1').split('\0')) {
      const equals = entry.indexOf('=');
      const length = entry.length - equals - 1;
      if (names.includes(entry.slice(0, equals)) && length > 0) {
        writeSync(memory, Buffer.alloc(length), 0, length, start + at + equals + 1);
      }
      at += entry.length + 1;
    }
  } catch {
    // Some kernels and containers do not let a process write there.
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
}

/** Removes keys from a text. */
export type Redact = (text: string) => string;

/** The text that replaces a key. */
const keyMark = '[key]';

/**
 * The fewest characters of a key. A shorter value is no secret, such as the placeholder key of a
 * self-hosted server.
 */
const leastKeyLength = 8;

/**
 * Returns a function that removes keys from texts. It finds them plain, escaped in JSON or a URL,
 * in hexadecimal, and in base64, also within a longer encoded text.
 *
 * @param keys those shorter than `leastKeyLength` are ignored
 */
export function redactor(keys: readonly string[]): Redact {
  const forms = formsOf(keys);
  if (forms.length === 0) return (text) => text;
  const any = new RegExp(forms.map(escaped).join('|'), 'g');
  return (text) => text.replace(any, keyMark);
}

/** All forms in which the keys may be written, the longest first. */
export function formsOf(keys: readonly string[]): string[] {
  const usable = keys.filter((key) => key.length >= leastKeyLength);
  const forms = new Set(
    usable.flatMap((key) => {
      const hex = Buffer.from(key).toString('hex');
      return [
        key,
        JSON.stringify(key).slice(1, -1),
        encodeURIComponent(key),
        ...base64Forms(key),
        hex,
        hex.toUpperCase(),
      ];
    }),
  );
  return [...forms].sort((one, other) => other.length - one.length);
}

/**
 * The base64 characters that depend on the key alone, for each of its three possible offsets in the
 * encoded bytes.
 */
function base64Forms(key: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    const form = bytes.toString('base64').slice(first, end);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Redacts a text that arrives in pieces, also where a key is split between two pieces. */
interface RedactedStream {
  /** @returns the redacted text that is complete by now; may be empty */
  write(piece: string): string;
  /** @returns the rest, redacted */
  end(): string;
}

/**
 * @param longest characters of the longest form of a key. The stream holds back up to so many of an
 *   unfinished line.
 */
export function redactedStream(redact: Redact, longest: number): RedactedStream {
  let held = '';
  return {
    write(piece) {
      held += piece;
      // No form of a key contains a line end.
      const whole = held.lastIndexOf('\n') + 1;
      const rest = held.slice(whole);
      const told = redact(held.slice(0, whole));
      // The redacted part of the rest stays redacted. The last characters may be the start of a
      // key.
      const safe = redact(rest);
      const keep = Math.min(safe.length, Math.max(0, longest - 1));
      held = safe.slice(safe.length - keep);
      return told + safe.slice(0, safe.length - keep);
    },
    end() {
      const rest = redact(held);
      held = '';
      return rest;
    },
  };
}
