import type { HarnessReport } from '../domain/harness';
import { functionOf } from '../domain/outcome';
import type { TestTransition } from '../domain/transition';
import type { Verdict } from '../domain/verdict';

/**
 * Why strict and harness grading disagree on success, naming the rule and a test that shows it;
 * undefined when they agree.
 */
export function explainDifference(
  strict: Verdict,
  harness: HarnessReport,
  tests: readonly TestTransition[],
): string | undefined {
  if (strict.success === harness.resolved) return undefined;
  const verb = harness.resolved ? 'resolved' : 'not resolved';
  const rules = harness.resolved
    ? rulesOfSuccess(strict, tests)
    : rulesOfFailure(strict, harness, tests);
  const found = rules.find(([test]) => test !== undefined);
  return found === undefined
    ? `harness grading: ${verb}; it reads statuses from the log only, where they differ from the recorded outcomes`
    : `harness grading: ${verb}; ${found[1]} (${found[0]})`;
}

/** Rules of the harness, each with a test that it concerns; undefined where it concerns none. */
type HarnessRules = readonly (readonly [test: string | undefined, rule: string])[];

/** Rules by which only the harness counts a success. */
function rulesOfSuccess(strict: Verdict, tests: readonly TestTransition[]): HarnessRules {
  const by = (holds: (each: TestTransition) => boolean): string | undefined =>
    tests.find(holds)?.test;
  return [
    [
      by((each) => each.base.outcome === 'skipped' && each.fixed.outcome === 'passed'),
      'skipped on R and passed on R∘X* counts as a reproduction there',
    ],
    [
      by((each) => each.base.outcome === 'missing' && each.fixed.outcome === 'passed'),
      'missing on R and passed on R∘X* counts as a reproduction there',
    ],
    [
      by((each) => each.fixed.outcome === 'error'),
      'an error on R∘X* does not count as a failure there',
    ],
    [
      by((each) => strict.anyToFail.includes(each.test)),
      'it reads only the log, where this failure does not show under its own name',
    ],
  ];
}

/** Rules by which only strict grading counts a success. */
function rulesOfFailure(
  strict: Verdict,
  { tests_base: base, tests_pred: pred }: HarnessReport,
  tests: readonly TestTransition[],
): HarnessRules {
  const reproducesAlone = ({ test, transition }: TestTransition): boolean =>
    transition === 'F→P' &&
    (base?.FAIL_TO_PASS ?? []).some((each) => [test, functionOf(test)].includes(each));
  const breaksAlone = ({ test, transition }: TestTransition): boolean =>
    transition === 'P→F' &&
    !strict.passToFail.includes(test) &&
    pred?.PASS_TO_FAIL.includes(test) === true;
  return [
    [
      tests.find(reproducesAlone)?.test,
      'a test that is F→P without the candidate does not count there',
    ],
    [
      pred?.FAIL_TO_FAIL.find((test) => !strict.anyToFail.includes(test)),
      'it counts a test that fails on both sides against the candidate, also one that failed before it',
    ],
    [
      tests.find(breaksAlone)?.test,
      'it has no base run that shows that a test breaks without the candidate too',
    ],
    [
      pred?.PASS_TO_FAIL.find((test) => !strict.passToFail.includes(test)),
      'it counts a test that is skipped, missing or an error on R∘X* as broken',
    ],
    [
      base?.FAIL_TO_PASS.find((test) => pred?.FAIL_TO_PASS.includes(test) !== true),
      'it asks that every F→P of the base tests stays one',
    ],
  ];
}
