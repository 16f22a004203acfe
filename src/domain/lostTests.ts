import { functionOf, listedTests, type Outcome, type TestResult } from './outcome';

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
  const absent = new Map<string, string[]>();
  for (const { test, outcome } of before) {
    if (!hasResult(outcome)) continue;
    const later = laterId(test);
    const found = after.get(later) ?? after.get(functionOf(later)) ?? 'missing';
    if (found === 'missing')
      absent.set(functionOf(test), [...(absent.get(functionOf(test)) ?? []), test]);
    else if (!hasResult(found)) disabled.push(test);
  }
  const known = new Set(before.map(({ test }) => laterId(test)));
  const removed = [...absent].flatMap(([name, cases]) => {
    const later = laterId(name);
    const all = before.filter(({ test }) => functionOf(test) === name).length;
    const inPlace = now.filter(
      ({ test, outcome }) => functionOf(test) === later && hasResult(outcome) && !known.has(test),
    );
    if (inPlace.length === 0 && cases.length === all) return [name];
    // A case whose number in its id changed is the same one; any other new case stands for a lost one.
    const left = [...cases];
    for (const { test } of inPlace) {
      const same = left.findIndex((each) => withoutDigits(laterId(each)) === withoutDigits(test));
      left.splice(Math.max(same, 0), 1);
    }
    return left;
  });
  return { removed, disabled };
}

const withoutDigits = (text: string): string => text.replace(/\d+/g, '');

/** Whether a test came to a result of its own. An expected failure that passes has none. */
const hasResult = (outcome: Outcome): boolean =>
  outcome === 'passed' || outcome === 'failed' || outcome === 'error';

/** Each test once, in the first list that names it or its function. */
export function together(
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

/** The lost tests in a few words each, with their names; empty where there is none. */
export const lostInWords = ({ removed, emptied, disabled }: LostTests): string[] =>
  [
    ['removed or not collected', removed] as const,
    ['skipped or expected to fail', disabled] as const,
    ['left without code', emptied] as const,
  ].flatMap(([how, tests]) => (tests.length === 0 ? [] : [`${how}: ${listedTests(tests)}`]));
