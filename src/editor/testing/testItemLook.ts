import * as l10n from '@vscode/l10n';
import { type TestTransition } from '../../domain/outcome';
import { classesIn, fileOf } from '../../domain/testId';
import type { Verdict } from '../../domain/verdict';
import type { ListedTest } from './candidateTests';
import { toneOfCase } from './transitionLook';
import { tellingCase, transitionInWords, transitionLabel } from './transitionTexts';

/**
 * The label of a test's row: its result, its name, how it differs from R, its classes and its file.
 * All is in the label, since a screen reader reads the description of a `TestItem` in its place.
 */
export function testItemLabel(
  { id, name, status, className }: Pick<ListedTest, 'id' | 'name' | 'status' | 'className'>,
  cases: readonly TestTransition[],
): string {
  const result = transitionLabel(cases);
  return [
    // Before the name, where it is visible even in a narrow view.
    result === undefined ? name : `${result}  ${name}`,
    status === 'kept' ? undefined : status === 'added' ? l10n.t('new') : l10n.t('changed'),
    className === undefined ? undefined : classesIn(className).join(' › '),
    // A test that R has too stands below the row of its file.
    status === 'kept' ? undefined : fileOf(id),
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}

/**
 * What a screen reader says of a test's row: its name, its result in words, then as the label. It is
 * the description of the row for people who have turned the editor's screen reader mode on.
 */
export function testItemSpoken(
  test: Pick<ListedTest, 'id' | 'name' | 'status' | 'className'>,
  cases: readonly TestTransition[],
): string {
  const telling = tellingCase(cases);
  const [name = '', ...more] = testItemLabel(test, []).split(' · ');
  const result = telling === undefined ? undefined : transitionInWords(telling.transition);
  return [name, result, ...more].filter((part) => part !== undefined).join('. ');
}

/** The label of a touched file's row, with the tests that R has too below it. */
export const unchangedTestsLabel = (path: string): string =>
  `${path} · ${l10n.t('unchanged tests')}`;

/** Sorts tests by file, in the order of the file, before the rows of files. */
export const sortTextOfTest = (path: string, { defLine }: Pick<ListedTest, 'defLine'>): string =>
  `0 ${path} ${String(defLine).padStart(6, '0')}`;

/** Sorts the rows of files after all tests. */
export const sortTextOfUnchangedTests = (path: string): string => `1 ${path}`;

/** A row of one case below its test. */
interface CaseItemLook {
  readonly id: string;
  readonly label: string;
  readonly sortText: string;
}

/** The rows of a parametrised test's cases, in the order they ran; none for any other test. */
export function caseItemLooks(
  test: string,
  cases: readonly Pick<TestTransition, 'test' | 'transition'>[],
): CaseItemLook[] {
  return cases
    .filter((each) => each.test !== test)
    .map((each, index) => ({
      id: each.test,
      label: `${each.transition}  ${each.test.slice(test.length)}`,
      sortText: String(index).padStart(6, '0'),
    }));
}

/**
 * The state of a row after a run on both sides, as `toneOfCase`. A neutral test that passes on both
 * sides is passed, any other one is skipped: VS Code counts it as neither passed nor failed.
 *
 * @param status of the listed test; undefined when it is not listed any more
 * @param strict the verdict on the candidate; undefined before it is known
 */
export function testItemState(
  status: ListedTest['status'] | undefined,
  each: Pick<TestTransition, 'test' | 'transition'>,
  strict?: Pick<Verdict, 'failToPass' | 'anyToFail'>,
): 'passed' | 'failed' | 'skipped' {
  const tone = toneOfCase(each, status, strict);
  return tone === 'neutral' && each.transition === 'P→P' ? 'passed' : stateOfTone[tone];
}

const stateOfTone = { good: 'passed', bad: 'failed', neutral: 'skipped' } as const;
