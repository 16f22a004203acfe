import { createHash } from 'node:crypto';
import { Header, Parser, ReadEntry, WriteEntryTar } from 'tar';

/** A file to send into a container. */
export interface ArchiveEntry {
  readonly path: string;
  readonly content: Buffer;
  /** Permissions; 0o644 by default. */
  readonly mode?: number;
  /** Seconds since 1970; {@link contentTime} by default. */
  readonly time?: number;
}

/**
 * The earliest modification time in a container, in seconds since 1970. Zip files, and so wheels,
 * cannot hold times before 1980.
 */
export const earliestTime = 400_000_000;

/**
 * A modification time derived from the content, in seconds. Python takes a compiled file as current
 * when time (in whole seconds) and size agree. Without this, a file written twice within a second
 * could run as it was first compiled.
 */
export const contentTime = (content: Buffer): number =>
  earliestTime + (createHash('sha256').update(content).digest().readUInt32LE(0) % 1_100_000_000);

/** What a tar says about one file, folder or link. */
interface EntryHeader {
  readonly path: string;
  readonly type: 'File' | 'Directory' | 'SymbolicLink';
  readonly mode: number;
  /** Seconds since 1970. */
  readonly time: number;
  /** Number of the user and of the group that own the entry. */
  readonly owner: number;
  readonly linkpath?: string;
}

/** One entry of an uncompressed tar: header and content, padded to whole blocks of 512 bytes. */
export function tarEntry(about: EntryHeader, content: Buffer = Buffer.alloc(0)): Promise<Buffer> {
  const { time, owner, ...rest } = about;
  const size = content.length;
  const mtime = new Date(time * 1000);
  const entry = new ReadEntry(new Header({ ...rest, mtime, size, uid: owner, gid: owner }));
  const written = new WriteEntryTar(entry, { preservePaths: true });
  if (size > 0) entry.write(content);
  entry.end();
  return written.concat();
}

/** What ends a tar: two blocks of zeros. */
export const tarEnd: Buffer = Buffer.alloc(1024);

/**
 * Packs files into an uncompressed tar.
 *
 * @param owner number of the user and of the group that own the files
 */
export async function tarOf(entries: Iterable<ArchiveEntry>, owner = 0): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (const { path, content, mode, time } of entries) {
    const header = { path, type: 'File', mode: mode ?? 0o644, owner } as const;
    pieces.push(await tarEntry({ ...header, time: time ?? contentTime(content) }, content));
  }
  return Buffer.concat([...pieces, tarEnd]);
}

/**
 * The regular files of a tar.
 *
 * @throws what the parser says of a tar that is damaged or cut off
 */
export async function filesInTar(tar: Buffer): Promise<ArchiveEntry[]> {
  // The strict parser takes a tar without an entry for damaged. Its end may be padded: Python pads to
  // 10,240 bytes.
  if (tar.length >= tarEnd.length && tar.every((byte) => byte === 0)) return [];
  const reading: Promise<ArchiveEntry>[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      if (entry.type === 'File' || entry.type === 'OldFile') {
        reading.push(entry.concat().then((content) => ({ path: entry.path, content })));
      } else entry.resume();
    },
  });
  const done = new Promise<void>((resolve, reject) => {
    parser.once('end', resolve).once('error', reject);
  });
  parser.end(tar);
  await done;
  return Promise.all(reading);
}

/** The regular files of a tar by name. Names that contain a folder are left out. */
export async function filesOfTar(tar: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const files = await filesInTar(tar);
  return new Map(
    files
      .filter(({ path }) => /^[\w-][\w.-]*$/.test(path))
      .map(({ path, content }) => [path, content]),
  );
}
