import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { sha256OfFile } from '../../files/digest';
import { HumanError, messageOf, throwIfAborted, systemCode } from '../../domain/work';
import {
  hostOfAddress,
  NetworkTrouble,
  refusal,
  request,
  retryingRequest,
  troubleOf,
  type HttpResponse,
  type NetworkOptions,
} from '../network';
import { webPage } from '../records';

/** A file to download. */
interface Download {
  readonly url: string;
  /** Target path. Until the file is complete, its content is in `<path>.part`. */
  readonly path: string;
  /** For messages, such as `dataset owner/name`. */
  readonly what: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Expected size in bytes and SHA-256, from a listing. */
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
  /** ETag of the present file. Nothing is downloaded if the server still has the same version. */
  readonly unlessTag?: string | undefined;
}

export interface Downloaded {
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly tag: string | undefined;
}

const partSchema = z.object({ url: z.string(), validator: z.string() });

/**
 * Downloads a file. It resumes an interrupted download if the server still has the same content
 * (RFC 9110, sections 13.1.5 and 14.2). It checks length and SHA-256 before it moves the file to
 * its path.
 *
 * @returns `unchanged` only when `unlessTag` is given
 * @throws HumanError if the download fails, after which the received part stays for the next try;
 *   Cancelled
 */
export async function download(
  wanted: Download,
  options: NetworkOptions,
): Promise<Downloaded | 'unchanged'> {
  const part = `${wanted.path}.part`;
  await mkdir(dirname(wanted.path), { recursive: true }).catch((error: unknown) => {
    throw unwritableStorage(dirname(wanted.path), error);
  });
  let progress: Progress = { received: 0, total: wanted.size };
  const sizeOf = async (): Promise<number> => (await stat(part).catch(() => ({ size: 0 }))).size;
  try {
    const response = await retryingRequest(
      async () => {
        const before = await sizeOf();
        try {
          return await attempt(wanted, part, options, (now) => (progress = now));
        } catch (error) {
          if (error instanceof NetworkTrouble && (await sizeOf()) > before) error.progressed = true;
          throw error;
        }
      },
      options,
      wanted.what,
    );
    if (response === 'unchanged') return response;
    const done = await checked(wanted, part, response.tag);
    await rename(part, wanted.path);
    await rm(`${part}.json`, { force: true });
    return done;
  } catch (error) {
    throwIfAborted(options.signal);
    if (error instanceof HumanError) {
      if ((await sizeOf()) === 0) await discard(part);
      throw error;
    }
    if (error instanceof NetworkTrouble) throw interrupted(wanted, error, progress);
    // Do not leave useless data on a full disk.
    await discard(part).catch(() => undefined);
    throw unwritableStorage(wanted.path, error);
  }
}

async function discard(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(`${part}.json`, { force: true });
}

interface Progress {
  received: number;
  total: number | undefined;
}

function interrupted(
  { what, url }: Download,
  trouble: NetworkTrouble,
  { received, total }: Progress,
): HumanError {
  if (received === 0) {
    return new HumanError(
      `The ${what} cannot be downloaded from ${hostOfAddress(url)} (${trouble.message})`,
      'Check the network and try again, or download the file yourself and specify its path',
    );
  }
  const of = total === undefined ? '' : ` of ${megabytes(total)}`;
  return new HumanError(
    `The download of the ${what} was interrupted after ${megabytes(received)}${of} (${trouble.message})`,
    'Try again: the download resumes where it stopped',
  );
}

const megabytes = (bytes: number): string =>
  bytes < 1e5 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`;

/** The error for a path below the storage folder that is not writable. */
export function unwritableStorage(path: string, error: unknown): HumanError {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new HumanError(
        `No space left on the disk of ${path}`,
        'Free some space, or choose another storage folder (--storage, $SWT_BENCH_STORAGE)',
      )
    : new HumanError(
        `${path} cannot be written (${messageOf(error)})`,
        'Choose another storage folder (--storage, $SWT_BENCH_STORAGE)',
      );
}

/** Sends one request, and appends the response to the part file. */
async function attempt(
  wanted: Download,
  part: string,
  options: NetworkOptions,
  tell: (progress: Progress) => void,
): Promise<{ tag: string | undefined } | 'unchanged'> {
  const { url, unlessTag } = wanted;
  const start = await resumable(part, url);
  const response = await request(
    url,
    {
      ...wanted.headers,
      // Lengths and ranges must be those of the file, not of a compressed form.
      'accept-encoding': 'identity',
      ...(start === undefined
        ? unlessTag === undefined
          ? {}
          : { 'if-none-match': unlessTag }
        : { range: `bytes=${start.offset}-`, 'if-range': start.validator }),
    },
    options.signal,
  );
  try {
    return await receive(response, wanted, part, start, options, tell);
  } finally {
    response.discard();
  }
}

/** Checks a response, and writes its content into the part file. */
async function receive(
  response: HttpResponse,
  wanted: Download,
  part: string,
  start: ResumePoint | undefined,
  options: NetworkOptions,
  tell: (progress: Progress) => void,
): Promise<{ tag: string | undefined } | 'unchanged'> {
  const { status, headers } = response;
  if (status === 304 && wanted.unlessTag !== undefined) return 'unchanged';
  if (status === 416) {
    // The part is at least as long as the file, so nothing shows whether it has the same content.
    await rm(part, { force: true });
    throw new NetworkTrouble('the server has fewer bytes than were downloaded before');
  }
  if (status !== 200 && status !== 206) throw refusal(response, wanted.what);
  if (/^text\/html\b/i.test(headers.get('content-type') ?? '')) throw webPage(wanted.what);
  let content: ContentHeaders;
  try {
    content = contentHeaders(response, wanted, start);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await writePart(response.body, content, wanted, part, options, tell);
  return { tag: content.tag };
}

/** What the headers of a response say about its content. */
interface ContentHeaders {
  /** Place of the first byte in the file. */
  readonly offset: number;
  /** Bytes of the whole file. */
  readonly total: number | undefined;
  readonly tag: string | undefined;
  /** Value of `If-Range` with which the download can be resumed. */
  readonly validator: string | undefined;
}

/**
 * @throws NetworkTrouble if the content does not continue the part; HumanError if the file has
 *   another size than in its listing
 */
function contentHeaders(
  { status, headers }: HttpResponse,
  wanted: Download,
  start: ResumePoint | undefined,
): ContentHeaders {
  const offset = status === 206 ? (start?.offset ?? 0) : 0;
  const length = Number(headers.get('content-length') ?? NaN);
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '');
  if (status === 206 && Number(range?.[1]) !== offset) {
    throw new NetworkTrouble('the server sent a different part than requested');
  }
  const tag = headers.get('etag') ?? undefined;
  const strong = tag?.startsWith('W/') === true ? undefined : tag;
  const validator = strong ?? headers.get('last-modified') ?? undefined;
  if (status === 206 && validator !== undefined && validator !== start?.validator) {
    // The server ignores If-Range: this is the rest of another version of the file.
    throw new NetworkTrouble('the server sent part of a different file');
  }
  // A range may end before the file does, and its length is then that of the range alone.
  const whole = status === 206 ? Number(range?.[2]) : NaN;
  const announced = Number.isNaN(length) ? wanted.size : offset + length;
  const total = Number.isNaN(whole) ? announced : whole;
  if (wanted.size !== undefined && total !== wanted.size) {
    throw new HumanError(
      `${hostOfAddress(wanted.url)} offers ${total} bytes of the ${wanted.what}, but lists ${wanted.size}`,
      'Try again later: the file may be changing, or a proxy may cut it off',
    );
  }
  return { offset, total, tag, validator };
}

/** Writes the body into the part file, and beside it what is needed to resume the download. */
async function writePart(
  body: HttpResponse['body'],
  { offset, total, validator }: ContentHeaders,
  { url, what }: Download,
  part: string,
  options: NetworkOptions,
  tell: (progress: Progress) => void,
): Promise<void> {
  const file = await open(part, offset === 0 ? 'w' : 'r+');
  let received = offset;
  try {
    if (offset === 0) {
      await (validator === undefined
        ? rm(`${part}.json`, { force: true })
        : writeFile(`${part}.json`, JSON.stringify({ url, validator })));
    }
    let told = 0;
    for await (const chunk of body) {
      if (received === 0 && isMarkup(chunk)) {
        await rm(part, { force: true });
        throw webPage(what);
      }
      await file.write(chunk, 0, chunk.length, received);
      received += chunk.length;
      tell({ received, total });
      if (received - told > 500_000) {
        told = received;
        const of = total === undefined ? '' : ` of ${megabytes(total)}`;
        options.reporter.progress(`downloading ${what}: ${megabytes(received)}${of}`);
      }
    }
    if (total !== undefined && received !== total) {
      throw new NetworkTrouble(`received ${received} of ${total} bytes`);
    }
    await file.truncate(received);
    await file.sync();
  } catch (error) {
    throw troubleOf(error) ?? error;
  } finally {
    await file.close();
  }
}

/** The state of an earlier try that can be resumed. */
interface ResumePoint {
  /** Bytes in the part file. */
  readonly offset: number;
  readonly validator: string;
}

async function resumable(part: string, url: string): Promise<ResumePoint | undefined> {
  try {
    const { size } = await stat(part);
    const about = partSchema.parse(JSON.parse(await readFile(`${part}.json`, 'utf8')));
    return size > 0 && about.url === url ? { offset: size, validator: about.validator } : undefined;
  } catch {
    return undefined;
  }
}

const isMarkup = (chunk: Uint8Array): boolean =>
  /^\uFEFF?\s*<(!doctype|html|head|\?xml)/i.test(
    Buffer.from(chunk.subarray(0, 200)).toString('utf8'),
  );

async function checked(
  wanted: Download,
  part: string,
  tag: string | undefined,
): Promise<Downloaded> {
  const { size } = await stat(part);
  const sha256 = await sha256OfFile(part);
  if (wanted.sha256 !== undefined && sha256 !== wanted.sha256) {
    await discard(part);
    throw new HumanError(
      `The downloaded ${wanted.what} has a different SHA-256 than ${hostOfAddress(wanted.url)} lists`,
      'Try again: the file changed or was damaged during the download',
    );
  }
  return { size, sha256, tag };
}
