import { randomUUID } from 'node:crypto';
import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../../files/digest';
import { writeWholeFile } from '../../../files/wholeFile';
import { identityDigest } from '../imageRecords';

/** The compiled file of one source. */
export interface CompiledFile {
  /** Path of the source, relative to the tree. */
  readonly source: string;
  /** Object id of the source's content. */
  readonly id: string;
  /** Path of the compiled file, relative to the tree. */
  readonly path: string;
  readonly content: Buffer;
}

/** First line of a pack: by source and object id, the compiled file's path and its place after that line. */
const packIndex = z.record(
  z.string(),
  z.object({
    path: z.string(),
    start: z.number().int().nonnegative(),
    length: z.number().int().nonnegative(),
    sha256: z.string(),
  }),
);
type PackIndex = z.infer<typeof packIndex>;

/** Bytes of the longest first line that is read. */
const indexLimit = 64 << 20;

/**
 * Compiled files of one repository at one version, kept on this machine by path and content of
 * their sources. No container can write to them. Each build adds one file, a pack, with what it
 * compiled. A reader takes only what it needs out of the packs.
 */
export class CompiledFiles {
  private readonly folder: string;
  private readonly prefix: string;

  /**
   * @param identity everything that compiled files depend on, other than their sources
   * @param say writes a line into the log
   */
  constructor(
    storage: string,
    identity: readonly string[],
    private readonly say: (line: string) => void,
  ) {
    this.folder = join(storage, 'images', 'compiled');
    this.prefix = `${identityDigest(...identity)}-`;
  }

  /**
   * The kept compiled files of some sources, by path of the source. A pack with other bytes than
   * were written is removed.
   *
   * @param sources object ids by path
   */
  async find(sources: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, CompiledFile>> {
    const found = new Map<string, CompiledFile>();
    if (sources.size === 0) return found;
    const packs = await readdir(this.folder).catch(() => []);
    for (const name of packs.filter((each) => each.startsWith(this.prefix))) {
      const pack = join(this.folder, name);
      try {
        for (const file of await takeFrom(pack, sources, found)) found.set(file.source, file);
      } catch {
        this.say(`the compiled files in ${pack} do not match their digest and are discarded`);
        await rm(pack, { force: true });
      }
    }
    return found;
  }

  /** Never fails: without the kept files, everything is compiled again. */
  async keep(files: readonly CompiledFile[]): Promise<void> {
    if (files.length === 0) return;
    const index: PackIndex = {};
    let start = 0;
    for (const { source, id, path, content } of files) {
      index[nameOf(source, id)] = { path, start, length: content.length, sha256: sha256(content) };
      start += content.length;
    }
    const pack = join(this.folder, `${this.prefix}${randomUUID()}`);
    const pieces = files.map(({ content }) => content);
    const whole = Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...pieces]);
    await writeWholeFile(pack, whole).catch(() => undefined);
  }
}

const nameOf = (source: string, id: string): string => `${id}/${source}`;

/** @throws Error when the pack is damaged */
async function takeFrom(
  pack: string,
  sources: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, CompiledFile>,
): Promise<CompiledFile[]> {
  const file = await open(pack);
  try {
    const { index, begin } = await indexOf(file);
    const taken: CompiledFile[] = [];
    for (const [source, id] of sources) {
      const name = nameOf(source, id);
      const place = Object.hasOwn(index, name) ? index[name] : undefined;
      if (place === undefined || known.has(source)) continue;
      const content = Buffer.alloc(place.length);
      const { bytesRead } = await file.read(content, 0, place.length, begin + place.start);
      if (bytesRead !== place.length || sha256(content) !== place.sha256)
        throw new Error('damaged');
      taken.push({ source, id, path: place.path, content });
    }
    return taken;
  } finally {
    await file.close();
  }
}

/** The index of a pack, and the offset of the first compiled file. */
async function indexOf(file: FileHandle): Promise<{ index: PackIndex; begin: number }> {
  const pieces: Buffer[] = [];
  for (let read = 0; read < indexLimit;) {
    const piece = Buffer.alloc(1 << 18);
    const { bytesRead } = await file.read(piece, 0, piece.length, read);
    const end = piece.subarray(0, bytesRead).indexOf(0x0a);
    pieces.push(piece.subarray(0, end < 0 ? bytesRead : end));
    if (end >= 0) {
      const text = Buffer.concat(pieces).toString('utf8');
      return { index: packIndex.parse(JSON.parse(text)), begin: read + end + 1 };
    }
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  throw new Error('damaged');
}
