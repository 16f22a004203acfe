import { isTestId, nameOf, functionOf } from '../../domain/testId';
import { listed } from '../../domain/text';
import { harnessFaults, type HarnessReport } from '../../domain/harness';
import { type Outcome, type TestTransition } from '../../domain/outcome';
import type { Verdict } from '../../domain/verdict';

/**
 * Why strict and harness grading disagree on success: each rule that makes the difference, with the
 * tests that show it. Undefined when they agree.
 *
 * @param changedNames names by the ids on R∘X*, of tests whose ids change between runs
 */
export function explainDifference(
  strict: Verdict,
  harness: HarnessReport,
  tests: readonly TestTransition[],
  changedNames: ReadonlyMap<string, string> = new Map(),
): string | undefined {
  if (strict.success === harness.resolved) return undefined;
  const verb = harness.resolved ? 'resolved' : 'not resolved';
  const rules = harness.resolved
    ? rulesOfSuccess(strict, tests)
    : rulesOfFailure(strict, harness, tests, changedNames);
  const found = rules.filter(([concerned]) => concerned.length > 0);
  const words =
    found.length === 0
      ? 'it reads test results from the log, which differ from the recorded outcomes'
      : found
          .map(([concerned, rule]) => `${rule} (${listed([...new Set(concerned)], most)})`)
          .join('; ');
  return `harness grading: ${verb}; ${words}`;
}

/** Names of tests that one rule lists. */
const most = 3;

/** Rules of the harness, each with the tests that it concerns. */
type HarnessRules = readonly (readonly [tests: readonly string[], rule: string])[];

/** Rules by which only the harness counts a success. */
function rulesOfSuccess(strict: Verdict, tests: readonly TestTransition[]): HarnessRules {
  const by = (holds: (each: TestTransition) => boolean): string[] =>
    tests.filter(holds).map(({ test }) => test);
  const became = (from: Outcome, to: Outcome) =>
    by((each) => each.base.outcome === from && each.fixed.outcome === to);
  // Where strict grading has F→P of its own, another rule keeps it from a success.
  const lacksOwn = strict.failToPass.length === 0;
  const erred = by(
    (each) => each.fixed.outcome === 'error' && strict.anyToFail.includes(each.test),
  );
  const named = strict.anyToFail.filter((test) => !erred.includes(test));
  return [
    ...(lacksOwn
      ? ([
          [
            became('skipped', 'passed'),
            'it counts a test skipped on R and passed on R∘X* as a reproduction',
          ],
          [
            became('missing', 'passed'),
            'it counts a test missing on R and passed on R∘X* as a reproduction',
          ],
          [
            became('xfailed', 'passed'),
            'it counts an expected failure on R (xfail) that passes on R∘X* as a reproduction',
          ],
          [
            became('xpassed', 'passed'),
            'it does not count an unexpected pass on R (XPASS) as passed, so passing on R∘X* is a reproduction',
          ],
        ] as const)
      : []),
    [erred, 'it does not count an error on R∘X* as a failure'],
    [named, "it reads only the log, which does not show this failure under the test's own name"],
  ];
}

/** Rules by which only strict grading counts a success. */
function rulesOfFailure(
  strict: Verdict,
  harness: HarnessReport,
  tests: readonly TestTransition[],
  changedNames: ReadonlyMap<string, string>,
): HarnessRules {
  const { added, lost, broken, failing } = harnessFaults(harness);
  const changing = new Set([...changedNames].flat());
  const known = testsByLogName(tests);
  const of = (name: string): readonly TestTransition[] =>
    known.get(name) ?? known.get(functionOf(bareName(name))) ?? [];
  const renamed = [...broken, ...failing].filter((name) => changing.has(name));
  const against = [...broken, ...failing].filter((name) => !changing.has(name));
  const unknown = against.filter((name) => of(name).length === 0);
  const merged = against.filter((name) => (known.get(name)?.length ?? 0) > 1);
  const rest = (names: readonly string[]) =>
    names.filter((name) => ![...unknown, ...merged, ...renamed].includes(name));
  const one = (name: string): TestTransition | undefined => of(name)[0];
  const brokenAlone = rest(broken).filter((name) => one(name)?.transition === 'P→F');
  return [
    ...(added.length > 0 ? [] : rulesOfNone(strict, harness, tests)),
    [renamed, 'it treats a test whose name changes between runs as two different tests'],
    [
      unknown,
      'it mistakes a line of the log for a test result, such as output of a nested test run',
    ],
    [
      merged,
      'it cuts test names at the first space, so several cases share a name and the last one counts',
    ],
    [
      rest(failing),
      'it counts every test that fails on both sides against the candidate, even one that already failed without it',
    ],
    [brokenAlone, 'it does not check whether a test also breaks without the candidate'],
    [
      rest(broken).filter((name) => !brokenAlone.includes(name)),
      'it counts a test as broken if it is skipped, missing, expected to fail or an error on R∘X*',
    ],
    [lost, 'it requires every base test that goes F→P to still do so'],
  ];
}

/** Why the harness sees none of the F→P of strict grading. */
function rulesOfNone(
  { failToPass }: Verdict,
  { tests_base: base, tests_pred: pred }: HarnessReport,
  tests: readonly TestTransition[],
): HarnessRules {
  const outcomeOf = new Map(tests.map((each) => [each.test, each.fixed.outcome]));
  const inList = (names: readonly string[] | undefined, test: string): boolean =>
    logNames(test).some((name) => names?.includes(name) === true);
  const alone = failToPass.filter((test) => inList(base?.FAIL_TO_PASS, test));
  const others = failToPass.filter((test) => !alone.includes(test));
  const xpassed = others.filter((test) => outcomeOf.get(test) === 'xpassed');
  const both = others.filter((test) => inList(pred?.PASS_TO_PASS, test));
  return [
    [alone, 'it does not count a test that goes F→P without the candidate'],
    [xpassed, 'it does not count an unexpected pass (XPASS) as passed'],
    [both, 'the log shows the test as PASSED on R although it failed'],
    [
      others.filter((test) => !xpassed.includes(test) && !both.includes(test)),
      'the log does not show this F→P test under its own name',
    ],
  ];
}

/** The names that a log may give a test: pytest's is cut off at the first blank by the harness. */
const logNames = (test: string): string[] => [
  ...new Set([test, test.split(' ')[0] ?? test, functionOf(test)]),
];

/** The function in a name of Django's (`test_x (a.b.C)`) or SymPy's runner; others stay as they are. */
const bareName = (name: string): string =>
  isTestId(name) ? name : (name.split(' ')[0]?.split(':').at(-1) ?? name);

/** The recorded tests by the names that the log may have for them. */
function testsByLogName(tests: readonly TestTransition[]): Map<string, TestTransition[]> {
  const found = new Map<string, TestTransition[]>();
  const whole = new Set(tests.map(({ test }) => test));
  const cases = new Map<string, TestTransition>();
  for (const each of tests) {
    // A name of one test stands for that test alone.
    const names = logNames(each.test).filter((name) => name === each.test || !whole.has(name));
    for (const name of names) {
      // The name of a function is no name that several cases share in a log.
      if (name.includes('[') || name === each.test)
        found.set(name, [...(found.get(name) ?? []), each]);
      else if (!cases.has(name)) cases.set(name, each);
    }
    const bare = nameOf(functionOf(each.test));
    if (!cases.has(bare)) cases.set(bare, each);
  }
  for (const [name, each] of cases) if (!found.has(name)) found.set(name, [each]);
  return found;
}
