import type * as vscode from 'vscode';
import { syntaxErrorOf } from '../../domain/outcome';
import type { Verdict } from '../../domain/verdict';
import { isFresh, type KnownCases } from '../verdict/evaluated';
import type { ListedTest } from './candidateTests';
import { hasLenses } from './lensLooks';
import { toneOfCase, type Tone } from './transitionLook';
import { causeText, inlineText, markText, staleText, tellingCase } from './transitionTexts';
import { underWayText, type TestUnderWay } from './underWay/testUnderWay';

/** The text after the definition of a test. */
export interface InlineLook {
  readonly text: string;
  readonly tone: Tone;
}

/** What is known of a test where it is written. */
interface KnownOfTest {
  readonly known: KnownCases;
  /** The verdict that the cases belong to. */
  readonly strict: Verdict | undefined;
  readonly underWay: TestUnderWay | undefined;
  readonly lensesAreShown: boolean;
  /** Characters of the line that the text follows. */
  readonly column: number;
}

/**
 * Columns that an editor shows beside a side bar in a window of usual width. In a narrower one the
 * edge hides the end of the text, which says least.
 */
const defaultColumns = 120;

/** Characters that the text may have, so that neither the minimap nor the edge hides its end. */
const roomAfter = (column: number): number =>
  Math.min(100, Math.max(40, defaultColumns - marginBefore - column));

/** The margin before the text, in characters. */
const marginBefore = 4;

/**
 * What a test did, or that it runs. Where its lens says so first, only the cause is left to say. A
 * test of R is silent unless the candidate changes its result.
 */
export function inlineLook(
  l10n: typeof vscode.l10n,
  test: Pick<ListedTest, 'id' | 'status' | 'text' | 'basis'>,
  { known, strict, underWay, lensesAreShown, column }: KnownOfTest,
): InlineLook | undefined {
  const hasLens = lensesAreShown && hasLenses(test);
  if (underWay !== undefined) {
    return hasLens ? undefined : { text: underWayText(l10n, underWay), tone: 'stale' };
  }
  const { cases } = known;
  const telling = tellingCase(cases);
  const mark = markText(cases);
  if (telling === undefined || mark === undefined) return undefined;
  const tone = toneOfCase(telling, test.status, strict);
  const fault = syntaxErrorOf(telling.base) ?? syntaxErrorOf(telling.fixed);
  const isSilent = telling.transition === 'P→P' || tone === 'neutral' || fault !== undefined;
  if (test.status === 'kept' && isSilent) return undefined;
  // The lens and the hover have the cause, which may be none any more.
  if (!isFresh(known, test)) return { text: staleText(l10n, mark), tone: 'stale' };
  if (fault !== undefined) {
    return { text: `✗ ${l10n.t('did not run: syntax error at line {0}', fault.line)}`, tone };
  }
  const saying = hasLens ? causeText : inlineText;
  return { text: saying(l10n, cases, known.about, roomAfter(column)) ?? mark, tone };
}
