import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../files/digest';
import { writeWholeFile } from '../../files/wholeFile';

/** Bytes of the header: the number of vectors, their length, and the digest of what follows. */
const headerLength = 4 + 4 + 32;

/** Vectors of one length, and a text that belongs to them. */
interface NotedVectors {
  readonly vectors: readonly Float32Array[];
  readonly note: string;
}

/** Vectors of texts in a folder, a file for each list of texts. */
export interface CachedVectors {
  /** What is kept under a key; undefined for nothing, also where a file is damaged. */
  get(key: string): Promise<NotedVectors | undefined>;
  /**
   * Keeps vectors with their note. A reader never sees a part of them.
   *
   * @throws what the system says, such as ENOSPC
   */
  put(key: string, noted: NotedVectors): Promise<void>;
}

/** @param folder is made when something is kept; keys are digests, so they are safe names */
export function cachedVectors(folder: string): CachedVectors {
  const pathOf = (key: string): string => join(folder, key.slice(0, 2), `${key}.vectors`);
  return {
    get: async (key) => {
      const file = await readFile(pathOf(key)).catch(() => undefined);
      return file === undefined ? undefined : unpacked(file);
    },
    put: (key, noted) => writeWholeFile(pathOf(key), packed(noted)),
  };
}

function packed({ vectors, note }: NotedVectors): Buffer {
  const length = vectors[0]?.length ?? 0;
  const body = Buffer.alloc(4 * length * vectors.length);
  for (const [row, vector] of vectors.entries()) {
    for (const [column, value] of vector.entries()) {
      body.writeFloatLE(value, 4 * (row * length + column));
    }
  }
  const kept = Buffer.concat([body, Buffer.from(note)]);
  const header = Buffer.alloc(headerLength);
  header.writeUInt32LE(vectors.length, 0);
  header.writeUInt32LE(length, 4);
  header.write(sha256(kept), 8, 'hex');
  return Buffer.concat([header, kept]);
}

/** Files of earlier versions have no note. */
function unpacked(file: Buffer): NotedVectors | undefined {
  if (file.length < headerLength) return undefined;
  const count = file.readUInt32LE(0);
  const length = file.readUInt32LE(4);
  const kept = file.subarray(headerLength);
  const bytes = 4 * count * length;
  const isWhole = kept.length >= bytes && sha256(kept) === file.toString('hex', 8, headerLength);
  if (!isWhole) return undefined;
  const vectors = Array.from({ length: count }, (_, row) =>
    Float32Array.from({ length }, (__, column) => kept.readFloatLE(4 * (row * length + column))),
  );
  return { vectors, note: kept.toString('utf8', bytes) };
}
