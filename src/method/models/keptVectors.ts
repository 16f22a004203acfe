import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../files/sha256';
import { writeWholeFile } from '../../files/wholeFile';

/** Bytes of the header: the number of vectors, their length, and the digest of what follows. */
const headerLength = 4 + 4 + 32;

/** Vectors of texts in a folder, a file for each list of texts. */
export interface KeptVectors {
  /** The vectors that are kept under a key; undefined for none, also where a file is damaged. */
  get(key: string): Promise<Float32Array[] | undefined>;
  /**
   * Keeps vectors of one length. A reader never sees half of them.
   *
   * @throws what the system says, such as ENOSPC
   */
  put(key: string, vectors: readonly Float32Array[]): Promise<void>;
}

/** @param folder is made when something is kept; keys are digests, so they are safe names */
export function keptVectors(folder: string): KeptVectors {
  const pathOf = (key: string): string => join(folder, key.slice(0, 2), `${key}.vectors`);
  return {
    get: async (key) => {
      const file = await readFile(pathOf(key)).catch(() => undefined);
      return file === undefined ? undefined : unpacked(file);
    },
    put: (key, vectors) => writeWholeFile(pathOf(key), packed(vectors)),
  };
}

function packed(vectors: readonly Float32Array[]): Buffer {
  const length = vectors[0]?.length ?? 0;
  const body = Buffer.alloc(4 * length * vectors.length);
  for (const [row, vector] of vectors.entries()) {
    for (const [column, value] of vector.entries()) {
      body.writeFloatLE(value, 4 * (row * length + column));
    }
  }
  const header = Buffer.alloc(headerLength);
  header.writeUInt32LE(vectors.length, 0);
  header.writeUInt32LE(length, 4);
  header.write(sha256(body), 8, 'hex');
  return Buffer.concat([header, body]);
}

function unpacked(file: Buffer): Float32Array[] | undefined {
  if (file.length < headerLength) return undefined;
  const count = file.readUInt32LE(0);
  const length = file.readUInt32LE(4);
  const body = file.subarray(headerLength);
  const isWhole =
    body.length === 4 * count * length && sha256(body) === file.toString('hex', 8, headerLength);
  if (!isWhole) return undefined;
  return Array.from({ length: count }, (_, row) =>
    Float32Array.from({ length }, (__, column) => body.readFloatLE(4 * (row * length + column))),
  );
}
