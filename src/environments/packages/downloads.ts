import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sha256OfFile } from '../../files/digest';

/** A fetched file does not have the digest that its index publishes. */
export class WrongDigest extends Error {
  override readonly name = 'WrongDigest';
}

/** More bytes were fetched than allowed. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

const downloadsFolder = (storage: string): string => join(storage, 'images', 'downloads');

/**
 * Files of package indexes on this machine, by their SHA-256. No container ever sees the folder.
 * Each file is compared with its digest every time before it is used.
 */
export class Downloads {
  private readonly folder: string;

  /**
   * @param storage the storage folder
   * @param say gets a message for each discarded file
   */
  constructor(
    storage: string,
    private readonly say: (line: string) => void,
  ) {
    this.folder = downloadsFolder(storage);
  }

  /**
   * The file with this digest; undefined when there is none. A file whose content has another
   * digest is removed.
   */
  async find(sha256: string): Promise<string | undefined> {
    const path = join(this.folder, sha256);
    let found: string;
    try {
      found = await sha256OfFile(path);
    } catch {
      return undefined;
    }
    if (found === sha256) {
      // Files that were used last are removed last.
      await utimes(path, new Date(), new Date()).catch(() => undefined);
      return path;
    }
    this.say(
      `a cached package in ${this.folder} does not match its digest (${sha256.slice(0, 12)}…); downloading it again`,
    );
    await rm(path, { force: true });
    return undefined;
  }

  /**
   * Keeps the bytes of a source as a file under its digest.
   *
   * @param sha256 as the index publishes it; undefined where it publishes none
   * @param limit bytes
   * @returns its path and digest
   * @throws WrongDigest, TooMuch, and what the source throws; then nothing is kept
   */
  async keep(
    source: Readable,
    sha256: string | undefined,
    limit: number,
  ): Promise<{ path: string; sha256: string; bytes: number }> {
    await mkdir(this.folder, { recursive: true });
    const beside = join(this.folder, `.${randomUUID()}`);
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      await pipeline(
        source,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            bytes += chunk.length;
            if (bytes > limit) throw new TooMuch('it is larger than allowed');
            hash.update(chunk);
            yield chunk;
          }
        },
        createWriteStream(beside),
      );
      const digest = hash.digest('hex');
      if (sha256 !== undefined && digest !== sha256) {
        throw new WrongDigest(`it has the digest ${digest}, but the index lists ${sha256}`);
      }
      const path = join(this.folder, digest);
      await rename(beside, path);
      return { path, sha256: digest, bytes };
    } finally {
      await rm(beside, { force: true });
    }
  }
}

/** Folders of files that can be obtained again: packages, and compiled files. */
const keptFolders = (storage: string): string[] => [
  downloadsFolder(storage),
  join(storage, 'images', 'compiled'),
];

/** Bytes that builds keep here, and the time of their last use; undefined when there is nothing. */
export async function downloadsUse(
  storage: string,
): Promise<{ readonly bytes: number; readonly lastUsed: string } | undefined> {
  let bytes = 0;
  let last = 0;
  let count = 0;
  for (const folder of keptFolders(storage)) {
    for (const name of await readdir(folder).catch(() => [])) {
      const info = await stat(join(folder, name)).catch(() => undefined);
      bytes += info?.size ?? 0;
      last = Math.max(last, info?.mtimeMs ?? 0);
      count += 1;
    }
  }
  return count === 0 ? undefined : { bytes, lastUsed: new Date(last).toISOString() };
}

/** Removes all kept files. A build that is under way fetches and compiles again. */
export async function removeDownloads(storage: string): Promise<void> {
  for (const folder of keptFolders(storage)) await rm(folder, { recursive: true, force: true });
}
