import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { bytesOf, textOf } from '../bytes';

/** A part that `git diff --binary` wrote, as its lines. */
export interface BinaryPatch {
  /** The full ids of the blobs before and after, from the `index` line; git needs them. */
  readonly oldId: string;
  readonly newId: string;
  /** The lines below `GIT binary patch`, which hold a block forward and maybe one backward. */
  readonly lines: readonly string[];
}

/** No file that a patch carries is larger, and zlib's data may claim any size. */
const largestContent = 64 * 1024 * 1024;

/**
 * The content after a binary patch, as in `textOf`; or why git would refuse the patch.
 *
 * @param before the text before; undefined for a file that is added
 */
export function applyBinary(
  { oldId, newId, lines }: BinaryPatch,
  before: string | undefined,
): { readonly text: string } | { readonly why: string } {
  const old = before === undefined ? undefined : bytesOf(before);
  const isNew = /^0+$/.test(oldId);
  if (isNew ? old !== undefined && old.length > 0 : old === undefined || blobId(old) !== oldId) {
    return { why: 'the file differs from the one the binary patch was created from' };
  }
  if (/^0+$/.test(newId)) return { text: '' };
  const content = contentOf(lines, old ?? Buffer.alloc(0));
  if (content === undefined) return { why: 'its binary data is damaged' };
  if (blobId(content) !== newId) return { why: 'its binary data does not match its digest' };
  return { text: textOf(content) };
}

/** The lines of the block forward, which is all that git needs, without the blank one after it. */
export function forwardBlock(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => /^\r?$/.test(line));
  return lines.slice(0, end < 0 ? undefined : end);
}

const blobId = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

function contentOf(lines: readonly string[], old: Buffer): Buffer | undefined {
  const [, method, size] = /^(literal|delta) (\d{1,9})\r?$/.exec(lines[0] ?? '') ?? [];
  const packed = fromBase85(forwardBlock(lines).slice(1));
  if (packed === undefined || Number(size) > largestContent) return undefined;
  try {
    const data = inflateSync(packed, { maxOutputLength: Math.max(1, Number(size)) });
    if (data.length !== Number(size)) return undefined;
    return method === 'literal' ? data : applyDelta(old, data);
  } catch {
    return undefined;
  }
}

const digits =
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

/** The bytes of lines of base 85, each after a letter for its number of bytes. */
function fromBase85(lines: readonly string[]): Buffer | undefined {
  const parts: Buffer[] = [];
  for (const raw of lines) {
    const line = raw.replace(/\r$/, '');
    const letter = line.charCodeAt(0);
    const length = letter >= 97 ? letter - 97 + 27 : letter - 65 + 1;
    if (!/^[A-Za-z]/.test(line) || line.length - 1 !== Math.ceil(length / 4) * 5) return undefined;
    const bytes = Buffer.alloc(Math.ceil(length / 4) * 4);
    for (let at = 1; at < line.length; at += 5) {
      let value = 0;
      for (const char of line.slice(at, at + 5)) {
        const digit = digits.indexOf(char);
        if (digit < 0) return undefined;
        value = value * 85 + digit;
      }
      if (value > 0xffffffff) return undefined;
      bytes.writeUInt32BE(value, ((at - 1) / 5) * 4);
    }
    parts.push(bytes.subarray(0, length));
  }
  return Buffer.concat(parts);
}

/** Applies a delta as in git's packs: sizes, then copies from the old file and new bytes. */
function applyDelta(old: Buffer, delta: Buffer): Buffer | undefined {
  let at = 0;
  const size = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = delta[at++] ?? 0;
      value += (byte & 0x7f) * shift;
      if ((byte & 0x80) === 0) return value;
    }
  };
  const number = (byte: number, bits: readonly number[]): number =>
    bits.reduce(
      (sum, bit, nth) => sum + ((byte & bit) === 0 ? 0 : (delta[at++] ?? 0) * 256 ** nth),
      0,
    );
  if (size() !== old.length) return undefined;
  const total = size();
  const parts: Buffer[] = [];
  let written = 0;
  while (at < delta.length && written <= largestContent) {
    const byte = delta[at++] ?? 0;
    let part: Buffer;
    if ((byte & 0x80) === 0) {
      part = delta.subarray(at, at + byte);
      at += byte;
    } else {
      const offset = number(byte, [1, 2, 4, 8]);
      const length = number(byte, [16, 32, 64]) || 0x10000;
      part = old.subarray(offset, offset + length);
    }
    parts.push(part);
    written += part.length;
  }
  return written === total ? Buffer.concat(parts) : undefined;
}
