import type { Finding, FindingKind } from '../../domain/finding';
import { markdownLine } from '../../domain/text';

/** Length of a quoted line in UTF-16 units. */
const longestLine = 200;
/** Sentences of one finding; a last one gives the number of further ones. */
const mostSentences = 20;

/** A text of the candidate on one line, cut where it is too long. */
export function quotedCode(text: string): string {
  const plain = markdownLine(text).trim();
  return plain.length > longestLine ? `${plain.slice(0, longestLine - 1)}…` : plain;
}

/** A finding with its evidence; undefined where there is none. */
export function finding(kind: FindingKind, sentences: readonly string[]): Finding | undefined {
  // Paths are untrusted texts as well.
  const all = [...new Set(sentences.map(markdownLine))];
  if (all.length === 0) return undefined;
  const shown = all.slice(0, mostSentences);
  const more = all.length - shown.length;
  return { kind, evidence: more === 0 ? shown : [...shown, `and ${more} more of this kind`] };
}
