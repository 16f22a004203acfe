import * as l10n from '@vscode/l10n';
import { type TestTransition } from '../../domain/outcome';
import { classesIn, fileOf, testId } from '../../domain/testId';
import type { Verdict } from '../../domain/verdict';
import type { ListedTest } from './candidateTests';
import { toneOfCase } from './transitionLook';
import { tellingCase, transitionInWords, transitionLabel } from './transitionTexts';

/** Tests and classes beside each other, in the order of their file. */
export type TestNodes = readonly (ListedTest | TestClass)[];

/** A class of tests, with the tests and classes in it. */
interface TestClass {
  /** The id of its scope, which no test has: `tests/test_a.py::A::`. */
  readonly id: string;
  readonly name: string;
  /** Its lines in the file, from 1; undefined where only its tests could be read. */
  readonly lines: { readonly defLine: number; readonly endLine: number } | undefined;
  readonly sortText: string;
  readonly children: TestNodes;
}

/** Whether a row is of a class, not of a test. */
export const isTestClass = (node: ListedTest | TestClass): node is TestClass => 'children' in node;

/** The tests of a file as its tree, with classes in each other and in the order of the file. */
export function testTree(tests: readonly ListedTest[]): TestNodes {
  const roots: (ListedTest | TestClass)[] = [];
  const childrenOf = new Map<string, (ListedTest | TestClass)[]>();
  for (const test of [...tests].sort((one, other) => one.defLine - other.defLine)) {
    const names = classesIn(test.className);
    let siblings = roots;
    for (const [at, name] of names.entries()) {
      const id = testId(fileOf(test.id), ...names.slice(0, at + 1), '');
      let children = childrenOf.get(id);
      if (children === undefined) {
        children = [];
        childrenOf.set(id, children);
        const lines = test.classLines?.[at];
        siblings.push({ id, name, lines, sortText: sortTextOf(lines ?? test), children });
      }
      siblings = children;
    }
    siblings.push(test);
  }
  return roots;
}

/**
 * The label of a test's row: its result, how it differs from R, and its name. All is in the label,
 * since a screen reader reads the description of a `TestItem` in its place, and before the name,
 * where it is visible even in a narrow view.
 */
export function testItemLabel(
  { name, status }: Pick<ListedTest, 'name' | 'status'>,
  cases: readonly TestTransition[],
): string {
  const result = transitionLabel(cases);
  const named = [...differenceOf(status), name].join(' · ');
  return result === undefined ? named : `${result}  ${named}`;
}

/**
 * What a screen reader says of a test's row: its name, its result in words, and how it differs from
 * R. It is the description of the row for people who have turned the editor's screen reader mode on.
 */
export function testItemSpoken(
  { name, status }: Pick<ListedTest, 'name' | 'status'>,
  cases: readonly TestTransition[],
): string {
  const telling = tellingCase(cases);
  const result = telling === undefined ? [] : [transitionInWords(telling.transition)];
  return [name, ...result, ...differenceOf(status)].join('. ');
}

function differenceOf(status: ListedTest['status']): string[] {
  if (status === 'kept') return [];
  return [status === 'added' ? l10n.t('new') : l10n.t('changed')];
}

/** Sorts tests and classes in the order of their file. */
export const sortTextOf = ({ defLine }: Pick<ListedTest, 'defLine'>): string =>
  String(defLine).padStart(6, '0');

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
