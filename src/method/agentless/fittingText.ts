import type { CountTokens } from '../tokens';

/** As much of some texts as fits. */
export interface FittingText {
  readonly texts: readonly string[];
  /** Whether something is left out. */
  readonly isCut: boolean;
}

/**
 * The first of some texts that fit into a budget together. Where not even the first does, its first
 * lines.
 *
 * @param budget tokens
 */
export function fittingText(
  texts: readonly string[],
  budget: number,
  count: CountTokens,
): FittingText {
  const kept: string[] = [];
  let left = budget;
  for (const text of texts) {
    left -= count(text);
    if (left < 0) break;
    kept.push(text);
  }
  const [first = ''] = texts;
  if (kept.length > 0 || first === '') return { texts: kept, isCut: kept.length < texts.length };
  const lines: string[] = [];
  let free = budget;
  for (const line of first.split('\n')) {
    free -= count(`${line}\n`);
    if (free < 0) break;
    lines.push(line);
  }
  return { texts: lines.length === 0 ? [] : [lines.join('\n')], isCut: true };
}
