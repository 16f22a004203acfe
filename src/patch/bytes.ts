import { isUtf8 } from 'node:buffer';

/**
 * The text of bytes that are mostly UTF-8, such that {@link bytesOf} restores the same bytes. An
 * invalid byte (0x80 to 0xFF) becomes the lone surrogate U+DC00 plus its value, which occurs in no
 * other text. Python does the same (PEP 383, `surrogateescape`). So a patch that a Python program
 * wrote into JSON that way keeps its bytes too.
 */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const pieces: string[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length;) {
    const length = characterAt(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    pieces.push(bytes.toString('utf8', start, at), String.fromCharCode(0xdc00 + (bytes[at] ?? 0)));
    start = ++at;
  }
  pieces.push(bytes.toString('utf8', start));
  return pieces.join('');
}

/** The bytes of a text from {@link textOf}; for any other text its UTF-8. */
export function bytesOf(text: string): Buffer {
  const pieces: Buffer[] = [];
  let start = 0;
  // With `u`, the pattern does not match a surrogate that is half of a character.
  for (const { 0: odd, index } of text.matchAll(/[\udc80-\udcff]+/gu)) {
    pieces.push(Buffer.from(text.slice(start, index), 'utf8'));
    pieces.push(Buffer.from(Array.from(odd, (unit) => unit.charCodeAt(0) - 0xdc00)));
    start = index + odd.length;
  }
  if (pieces.length === 0) return Buffer.from(text, 'utf8');
  return Buffer.concat([...pieces, Buffer.from(text.slice(start), 'utf8')]);
}

/** Such a text as an editor shows it, with U+FFFD for invalid UTF-8. */
export const asShown = (text: string): string =>
  /[\udc80-\udcff]/u.test(text) ? bytesOf(text).toString('utf8') : text;

/** Length in bytes of the UTF-8 character that begins at a place; 0 if none does (RFC 3629). */
function characterAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  return length > 0 && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}
