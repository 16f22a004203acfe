import { type Outcome, type TestResult } from '../domain/outcome';
import { fileOf, functionOf } from '../domain/testId';
import { listed } from '../domain/text';

/** Tests of R that a candidate removes or disables, as ids of R, with parameters for single cases. */
export interface LostTests {
  /** Not there, not collected, or left out of the cases of a parametrised test. */
  readonly removed: readonly string[];
  /** Without code. */
  readonly emptied: readonly string[];
  /** Skipped or expected to fail. */
  readonly disabled: readonly string[];
}

/**
 * Compares what tests of R do without and with a candidate on one side.
 *
 * @param before outcomes of the files of R that the candidate touches
 * @param now outcomes of the same files with the candidate, in a whole run
 * @param moved later id by earlier id, of tests that the candidate only renames or moves
 */
export function lostInRun(
  before: readonly TestResult[],
  now: readonly TestResult[],
  moved: ReadonlyMap<string, string>,
): Pick<LostTests, 'removed' | 'disabled'> {
  const after = new Map(now.map((result) => [result.test, result.outcome]));
  // Where a file cannot be imported or collected, no test of it is there: the outcomes say so.
  if (now.some(({ phase, outcome }) => phase === 'collect' && outcome === 'error')) {
    return { removed: [], disabled: [] };
  }
  const laterId = (test: string): string => {
    const later = moved.get(functionOf(test));
    return later === undefined ? test : later + test.slice(functionOf(test).length);
  };
  const disabled: string[] = [];
  const absent: string[] = [];
  for (const { test, outcome } of before) {
    if (!hasResult(outcome)) continue;
    const later = laterId(test);
    const found = after.get(later) ?? after.get(functionOf(later)) ?? 'missing';
    if (found === 'missing') absent.push(test);
    else if (!hasResult(found)) disabled.push(test);
  }
  const known = new Set(before.map(({ test }) => laterId(test)));
  const fresh = byFunction(
    now.flatMap(({ test, outcome }) => (hasResult(outcome) && !known.has(test) ? [test] : [])),
  );
  const all = byFunction(before.map(({ test }) => test));
  const removed = [...byFunction(absent)].flatMap(([name, cases]) => {
    const inPlace = fresh.get(laterId(name)) ?? [];
    if (inPlace.length === 0 && cases.length === all.get(name)?.length) return [name];
    // A case whose number in its id changed is the same one; any other new case replaces a lost one.
    for (const test of inPlace) {
      const same = cases.findIndex((each) => withoutDigits(laterId(each)) === withoutDigits(test));
      cases.splice(Math.max(same, 0), 1);
    }
    return cases;
  });
  return { removed, disabled };
}

function byFunction(tests: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const test of tests) {
    const cases = found.get(functionOf(test));
    if (cases === undefined) found.set(functionOf(test), [test]);
    else cases.push(test);
  }
  return found;
}

const withoutDigits = (text: string): string => text.replace(/\d+/g, '');

/** Whether a test came to a result of its own. An expected failure that passes has none. */
const hasResult = (outcome: Outcome): boolean =>
  outcome === 'passed' || outcome === 'failed' || outcome === 'error';

/** Each test once, in the first list that names it or its function. */
export function eachOnce(
  lost: Pick<LostTests, 'removed' | 'emptied'>,
  inRuns: readonly Pick<LostTests, 'removed' | 'disabled'>[],
): LostTests {
  const known = new Set<string>();
  const fresh = (tests: readonly string[]): string[] =>
    tests.filter((test) => {
      if (known.has(test) || known.has(functionOf(test))) return false;
      known.add(test);
      return true;
    });
  return {
    removed: fresh([...lost.removed, ...inRuns.flatMap(({ removed }) => removed)]),
    disabled: fresh(inRuns.flatMap(({ disabled }) => disabled)),
    emptied: fresh(lost.emptied),
  };
}

/** Maximum number of tests that a sentence names. */
const mostNamed = 5;

/** A sentence for each file and way of losing tests, with their names; empty where none is lost. */
export const lostInWords = ({ removed, emptied, disabled }: LostTests): string[] =>
  [
    ['removed from', removed] as const,
    ['skipped or expected to fail in', disabled] as const,
    ['emptied in', emptied] as const,
  ].flatMap(([how, tests]) =>
    [...new Set(tests.map(fileOf))].map((path) => {
      const names = tests.filter((test) => fileOf(test) === path);
      return `${how} ${path}: ${listed(
        names.map((test) => test.slice(path.length + 2)),
        mostNamed,
      )}`;
    }),
  );

/** Whether the sentences of {@link lostInWords} name tests of a file. */
export const namesTestsOf = (sentences: readonly string[], path: string): boolean =>
  sentences.some((sentence) => sentence.includes(` ${path}: `));
