import type { CompletionItem } from 'vscode-languageserver';
import type { BlockParts } from '../../patch/customFormat';
import type { CheckContext } from './check';
import { rangeIn, type CustomDiff } from '../customDiffs';

/** The place of a completion. */
export interface Completing {
  readonly diff: CustomDiff;
  readonly block: BlockParts;
  readonly path: string | undefined;
  readonly action: 'rewrite' | 'insert' | undefined;
  /** 1-based line of the custom diff. */
  readonly line: number;
  /** The line up to the cursor, and all of it. */
  readonly before: string;
  readonly whole: string;
  readonly surroundings: CheckContext;
}

/** The edit that replaces the content of a field. */
export function overField(
  { diff, line, whole }: Pick<Completing, 'diff' | 'line' | 'whole'>,
  text: string,
): NonNullable<CompletionItem['textEdit']> {
  const from = whole.length - whole.trimStart().length;
  return {
    range: rangeIn(diff, line, from, Math.max(from, whole.trimEnd().length)),
    newText: text,
  };
}
