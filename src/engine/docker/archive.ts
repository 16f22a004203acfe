import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { extract, pack } from 'tar-stream';

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

/**
 * Packs files into an uncompressed tar.
 *
 * @param owner number of the user and of the group that own the files
 */
export async function tarOf(entries: Iterable<ArchiveEntry>, owner = 0): Promise<Buffer> {
  const archive = pack();
  const pieces: Buffer[] = [];
  archive.on('data', (chunk: unknown) => pieces.push(chunk as Buffer));
  const done = new Promise<void>((resolve, reject) => {
    archive.once('end', resolve).once('error', reject);
  });
  for (const { path, content, mode, time } of entries) {
    const mtime = new Date((time ?? contentTime(content)) * 1000);
    archive.entry({ name: path, mode: mode ?? 0o644, mtime, uid: owner, gid: owner }, content);
  }
  archive.finalize();
  await done;
  return Buffer.concat(pieces);
}

/** The regular files of a tar by name. Names that contain a folder are left out. */
export async function filesOfTar(tar: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = extract();
  archive.on('entry', (header, stream, next) => {
    const pieces: Buffer[] = [];
    stream.on('data', (chunk: unknown) => pieces.push(chunk as Buffer));
    stream.on('end', () => {
      if (header.type === 'file' && /^[\w-][\w.-]*$/.test(header.name)) {
        files.set(header.name, Buffer.concat(pieces));
      }
      next();
    });
  });
  const done = new Promise<void>((resolve, reject) => {
    archive.once('finish', resolve).once('error', reject);
  });
  Readable.from([tar]).pipe(archive);
  await done;
  return files;
}
