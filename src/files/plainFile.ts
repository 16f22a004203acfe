import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';

/** A file that is larger than this is not one that a program wrote for the user; no string is longer. */
const mostBytes = 512 * 1024 * 1024 - 64;

/** The standard input and other open files of a process, as `<(…)` of a shell names them. */
const openFiles = /^\/(?:dev\/(?:null|stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/;

/** How a file of a stranger is read. */
export interface PlainFileOptions {
  /**
   * Whether the user named this very file. Then links are followed, and an open pipe such as
   * `/dev/stdin` is read. What a program finds in a folder is a file there, or is not read.
   */
  readonly named?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a file of a stranger, which is a plain one. A pipe or a device may never end, and a link in
 * a folder shows what another person may not read.
 *
 * @throws what the system says, such as ENOENT or ELOOP; an Error for a pipe or a device
 */
export async function openPlain(
  path: string,
  { named = false }: PlainFileOptions = {},
): Promise<FileHandle> {
  if (named && openFiles.test(path)) return open(path, 'r');
  if (named && !isPlain(await stat(path))) throw notPlain(path);
  // Without `O_NONBLOCK` a pipe that nobody writes to is never opened.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, named ? flags : flags | (constants.O_NOFOLLOW ?? 0));
  try {
    if (!isPlain(await file.stat())) throw notPlain(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A folder passes: what reads it says best that it is one. */
const isPlain = (about: { isFile(): boolean; isDirectory(): boolean }): boolean =>
  about.isFile() || about.isDirectory();

/** A file that the system would read, and this program does not. */
class UnfitFile extends Error {
  override readonly name = 'UnfitFile';

  /** @param code stands where messages have the code of a system error */
  constructor(
    path: string,
    readonly code: 'not a plain file' | 'larger than 512 MB',
  ) {
    super(`${path} is ${code}`);
  }
}

const notPlain = (path: string): Error => new UnfitFile(path, 'not a plain file');

/**
 * The content of a file of a stranger, of bounded size.
 *
 * @throws as {@link openPlain}; an Error for a large file
 */
export async function readPlainFile(path: string, options: PlainFileOptions = {}): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of plainParts(path, { ...options, most: mostBytes })) parts.push(part);
  return Buffer.concat(parts);
}

/** The text of such a file. */
export const readPlainText = async (
  path: string,
  options: PlainFileOptions = {},
): Promise<string> => (await readPlainFile(path, options)).toString('utf8');

/**
 * The lines of such a file with their numbers from 1, one at a time, so that the file is never in
 * memory as a whole. Only `\n` ends a line, since JSON may contain the other line ends of Unicode.
 * Blank lines are left out.
 *
 * @throws as {@link openPlain}; an Error for a large line; an AbortError
 */
export async function* plainLines(
  path: string,
  options: PlainFileOptions = {},
): AsyncGenerator<{ readonly number: number; readonly line: string }, void> {
  const decoder = new StringDecoder('utf8');
  // Parts of the current line, joined only at its end: a line may have many megabytes.
  let parts: string[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of plainParts(path, options)) {
    const pieces = decoder.write(chunk).split('\n');
    for (const [index, piece] of pieces.entries()) {
      parts.push(piece);
      length += piece.length;
      if (length > mostBytes)
        throw new UnfitFile(`line ${number} of ${path}`, 'larger than 512 MB');
      if (index === pieces.length - 1) continue;
      const line = parts.join('');
      parts = [];
      length = 0;
      if (line.trim() !== '') yield { number, line };
      number += 1;
    }
  }
  const line = parts.join('') + decoder.end();
  if (line.trim() !== '') yield { number, line };
}

async function* plainParts(
  path: string,
  { most, signal, ...options }: PlainFileOptions & { readonly most?: number },
): AsyncGenerator<Buffer, void> {
  const file = await openPlain(path, options);
  const { size } = await file.stat();
  const tooLarge = (): Error => new UnfitFile(path, 'larger than 512 MB');
  if (most !== undefined && size > most) {
    await file.close();
    throw tooLarge();
  }
  let bytes = 0;
  const stream = file.createReadStream({ highWaterMark: 1 << 20, ...(signal && { signal }) });
  for await (const part of stream as AsyncIterable<Buffer>) {
    bytes += part.length;
    // The file may grow, and a pipe has no size.
    if (most !== undefined && bytes > most) throw tooLarge();
    yield part;
  }
}
