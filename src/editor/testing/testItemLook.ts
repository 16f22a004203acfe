import type * as vscode from 'vscode';
import { fileOf } from '../../domain/outcome';
import type { TestTransition } from '../../domain/transition';
import type { Verdict } from '../../domain/verdict';
import type { ListedTest } from './candidateTests';
import { toneOfCase } from './transitionLook';
import { transitionLabel } from './transitionTexts';

/** The texts of a row of the Testing view. */
export interface TestItemLook {
  readonly label: string;
  readonly description: string;
}

/** The row of a test: its result, its name, how it differs from R, its classes and its file. */
export function testItemLook(
  l10n: typeof vscode.l10n,
  { id, name, status, className }: Pick<ListedTest, 'id' | 'name' | 'status' | 'className'>,
  cases: readonly TestTransition[],
): TestItemLook {
  const result = transitionLabel(cases);
  return {
    // Before the name, where it is visible even in a narrow view.
    label: result === undefined ? name : `${result}  ${name}`,
    description: [
      status === 'kept' ? undefined : status === 'added' ? l10n.t('new') : l10n.t('changed'),
      className?.replaceAll('::', ' › '),
      // A test that R has too stands below the row of its file.
      status === 'kept' ? undefined : fileOf(id),
    ]
      .filter((part) => part !== undefined)
      .join(' · '),
  };
}

/** The row of a touched file, with the tests that R has too below it. */
export const unchangedTestsLook = (l10n: typeof vscode.l10n, path: string): TestItemLook => ({
  label: path,
  description: l10n.t('unchanged tests'),
});

/** Sorts tests by file, in the order of the file, before the rows of files. */
export const sortTextOfTest = (path: string, { defLine }: Pick<ListedTest, 'defLine'>): string =>
  `0 ${path} ${String(defLine).padStart(6, '0')}`;

/** Sorts the rows of files after all tests. */
export const sortTextOfUnchangedTests = (path: string): string => `1 ${path}`;

/** A row of one case below its test. */
export interface CaseItemLook {
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
 * The state of a row after a run on both sides, as `toneOfCase`. A neutral test is skipped: VS Code
 * counts it as neither passed nor failed.
 *
 * @param status of the listed test; undefined when it is not listed any more
 * @param strict the verdict on the candidate; undefined before it is known
 */
export function testItemState(
  status: ListedTest['status'] | undefined,
  each: Pick<TestTransition, 'test' | 'transition'>,
  strict?: Pick<Verdict, 'failToPass' | 'anyToFail'>,
): 'passed' | 'failed' | 'skipped' {
  return stateOfTone[toneOfCase(each, status, strict)];
}

const stateOfTone = { good: 'passed', bad: 'failed', neutral: 'skipped' } as const;
