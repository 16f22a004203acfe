import * as l10n from '@vscode/l10n';
import {
  isFailure,
  sides,
  type StackFrame,
  type TestResult,
  type TestTransition,
} from '../../domain/outcome';
import { failureFrameInCode, failureFrameInTest, hintOn, tellingCase, adviceOn } from './testHints';
import type { HoverPart } from '../shell/draw';
import { isFresh, type KnownCases } from '../verdict/evaluated';
import type { ListedTest } from './candidateTests';
import { transitionLook } from './transitionLook';
import { outcomeInWords, transitionInWords, transitionLabel } from './transitionTexts';

/** Most cases of a parametrised test in a hover. */
const shownCases = 6;
/** Most characters of one failure. */
const shownMessage = 1500;

/** A part of the hover of a test; places are links to files of the workspace. */
export type TestHoverPart = HoverPart | { readonly places: readonly StackFrame[] };

/** What the hover of a test shows. */
export interface HoveredTest {
  readonly test: Pick<ListedTest, 'id' | 'status' | 'text' | 'basis'>;
  readonly known: KnownCases;
  /** Redacts what must not be shown of a case. */
  readonly shown: (each: TestTransition) => TestTransition;
  /** Whether a path from tested code is in the workspace. */
  readonly isInside: (path: string) => boolean;
}

/**
 * The hover of a test: outcomes, durations, the failure and its place in the code of R. Undefined
 * when the test did not run. Texts of tests appear as code, and all links lead into the workspace.
 */
export function testHoverParts(about: HoveredTest): TestHoverPart[] | undefined {
  const { test, known } = about;
  const { cases } = known;
  const isStale = !isFresh(known, test);
  const telling = tellingCase(cases);
  const label = transitionLabel(cases);
  if (telling === undefined || label === undefined) return undefined;
  const { transition } = telling;
  const ordered = [telling, ...cases.filter((each) => each !== telling)];
  const hint = test.status === 'kept' || isStale ? undefined : hintOn(cases, known.about);
  const stale = l10n.t('Out of date: edited after this run.');
  const parts: TestHoverPart[] = [];
  if (isStale) parts.push({ plain: stale }, { between: 'paragraphs' });
  parts.push({
    plain: `${transitionLook[transition].symbol} ${label}  ${transitionInWords(transition)}`,
  });
  for (const each of ordered.slice(0, shownCases)) {
    if (cases.length > 1) {
      parts.push({ code: `${each.transition}  ${each.test.slice(test.id.length)}` });
    }
    parts.push(...caseParts(about.shown(each), about.isInside));
  }
  if (ordered.length > shownCases) {
    const more = l10n.t('and {0} more cases', ordered.length - shownCases);
    parts.push({ between: 'paragraphs' }, { plain: more });
  }
  if (hint !== undefined) parts.push({ between: 'sections' }, { plain: adviceOn(hint) });
  return parts;
}

function caseParts(each: TestTransition, isInside: HoveredTest['isInside']): TestHoverPart[] {
  return sides.flatMap((side): TestHoverPart[] => {
    const result = each[side];
    const failure = isFailure(result) ? failureText(result) : undefined;
    return [
      { between: 'paragraphs' },
      { plain: outcomeInWords(side, result) },
      ...(failure === undefined ? [] : [{ code: failure }]),
      // The workspace has the code under test as in R.
      ...(side === 'base' && isFailure(result) ? placeParts(result, isInside) : []),
    ];
  });
}

function failureText({ exception, message, details }: TestResult): string | undefined {
  const text = message === undefined || message.trim() === '' ? (exception ?? details) : message;
  if (text === undefined) return undefined;
  const isNamed = exception === undefined || text.startsWith(exception);
  const whole = isNamed ? text : `${exception}: ${text}`;
  return whole.length > shownMessage ? `${whole.slice(0, shownMessage)}…` : whole;
}

function placeParts(result: TestResult, isInside: HoveredTest['isInside']): TestHoverPart[] {
  const places = [failureFrameInCode(result), failureFrameInTest(result)]
    .filter((frame) => frame !== undefined)
    .filter(({ path }) => isInside(path));
  if (places.length === 0) return [];
  return [{ between: 'paragraphs' }, { plain: l10n.t('Failed at') }, { places }];
}
