import { inflateRawSync } from 'node:zlib';

/** A file in a zip. */
interface ZipEntry {
  readonly path: string;
  /**
   * Its bytes.
   *
   * @throws Error when they are damaged, too many, or packed in a way that is not known
   */
  readonly content: () => Promise<Buffer>;
}

/** Bytes of one file; no string is longer. */
const mostBytes = 512 * 1024 * 1024 - 64;

/**
 * The files of a zip, by its table of contents. They are stored, deflated, or packed with Zstandard.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3
 *
 * @throws Error when the bytes are no zip, or are cut off
 */
export function zipEntries(zip: Buffer): ZipEntry[] {
  const last = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (last < 0) throw new Error('it is not a zip file, or it is truncated');
  const entries: ZipEntry[] = [];
  let at = zip.readUInt32LE(last + 16);
  for (let left = zip.readUInt16LE(last + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error('its table of contents is damaged');
    const method = zip.readUInt16LE(at + 10);
    const packed = zip.readUInt32LE(at + 20);
    const size = zip.readUInt32LE(at + 24);
    const name = zip.readUInt16LE(at + 28);
    const start = zip.readUInt32LE(at + 42);
    const path = zip.toString('utf8', at + 46, at + 46 + name);
    const content = async (): Promise<Buffer> => {
      if (size > mostBytes) throw new Error(`${path} has more than 512 MB`);
      const from = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
      const read = await unpacked(zip.subarray(from, from + packed), method, size);
      if (read.length !== size) throw new Error(`${path} is damaged`);
      return read;
    };
    entries.push({ path, content });
    at += 46 + name + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}

async function unpacked(data: Buffer, method: number, size: number): Promise<Buffer> {
  if (method === 0) return Buffer.from(data);
  if (method === 8) return inflateRawSync(data, { maxOutputLength: Math.max(size, 1) });
  if (method !== 93) throw new Error(`it uses the unsupported compression method ${method}`);
  const { compressors } = await import('hyparquet-compressors');
  return Buffer.from(compressors.ZSTD?.(data, size) ?? []);
}
