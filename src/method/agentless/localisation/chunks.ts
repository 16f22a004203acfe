import type { CountTokens } from '../../prompt/tokens';

/**
 * Cuts a text into chunks of whole lines. A line that is too long is cut into pieces.
 *
 * @param size most tokens of a chunk, as the sum of its lines
 * @param overlap tokens at the end of a chunk that the next one repeats, at most; whole lines
 */
export function chunksOf(
  text: string,
  { size, overlap }: { readonly size: number; readonly overlap: number },
  count: CountTokens,
): string[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const pieces = lines.flatMap((line) => piecesOf(line, size, count));
  const chunks: string[] = [];
  let own: { readonly text: string; readonly tokens: number }[] = [];
  let tokens = 0;
  let fresh = 0;
  for (const piece of pieces) {
    if (fresh > 0 && tokens + piece.tokens > size) {
      chunks.push(own.map((each) => each.text).join(''));
      own = tailOf(own, Math.min(overlap, size - piece.tokens));
      tokens = own.reduce((sum, each) => sum + each.tokens, 0);
      fresh = 0;
    }
    own.push(piece);
    tokens += piece.tokens;
    fresh += 1;
  }
  if (fresh > 0) chunks.push(own.map((each) => each.text).join(''));
  return chunks.filter((chunk) => chunk.trim() !== '');
}

interface Piece {
  readonly text: string;
  readonly tokens: number;
}

/** The last pieces with so many tokens together, at most. */
function tailOf(pieces: readonly Piece[], most: number): Piece[] {
  const tail: Piece[] = [];
  let left = most;
  for (const piece of [...pieces].reverse()) {
    left -= piece.tokens;
    if (left < 0) break;
    tail.unshift(piece);
  }
  return tail;
}

/** A line, or its halves until each is small enough. */
function piecesOf(line: string, size: number, count: CountTokens): Piece[] {
  const tokens = count(line);
  if (tokens <= size || line.length < 2) return [{ text: line, tokens }];
  let middle = line.length >> 1;
  // Both halves of a surrogate pair stay together.
  if (/[\uD800-\uDBFF]/.test(line[middle - 1] ?? '')) middle -= 1;
  if (middle === 0) return [{ text: line, tokens }];
  return [line.slice(0, middle), line.slice(middle)].flatMap((half) => piecesOf(half, size, count));
}
