import { deflateRawSync } from 'node:zlib';

/** A file for {@link zipOf}: its bytes, and as they are packed where that is not by deflating. */
export interface Zipped {
  readonly path: string;
  readonly content: Buffer;
  readonly packed?: { readonly method: number; readonly bytes: Buffer };
}

/** A zip as programs write it: headers, packed bytes, and the table of contents at the end. Checksums are 0. */
export function zipOf(files: readonly Zipped[]): Buffer {
  const parts: Buffer[] = [];
  const table: Buffer[] = [];
  let at = 0;
  for (const { path, content, packed } of files) {
    const { method, bytes } = packed ?? { method: 8, bytes: deflateRawSync(content) };
    const name = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, bytes]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    const entry = [Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, name];
    table.push(Buffer.concat(entry));
    parts.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(table);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}
