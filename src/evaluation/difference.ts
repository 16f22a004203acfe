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
  const by = (holds: (each: TestTransition) => boolean): string | undefined =>
    tests.find(holds)?.test;
  const rules: readonly (readonly [string | undefined, string])[] = harness.resolved
    ? [
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
      ]
    : [
        [
          by(
            (each) =>
              each.transition === 'F→P' &&
              (harness.tests_base?.FAIL_TO_PASS ?? []).some((test) =>
                [each.test, functionOf(each.test)].includes(test),
              ),
          ),
          'a test that is F→P without the candidate does not count there',
        ],
        [
          harness.tests_pred?.FAIL_TO_FAIL.find((test) => !strict.anyToFail.includes(test)),
          'it counts a test that fails on both sides against the candidate, also one that failed before it',
        ],
        [
          by(
            (each) =>
              each.transition === 'P→F' &&
              !strict.passToFail.includes(each.test) &&
              harness.tests_pred?.PASS_TO_FAIL.includes(each.test) === true,
          ),
          'it has no base run that shows that a test breaks without the candidate too',
        ],
        [
          harness.tests_pred?.PASS_TO_FAIL.find((test) => !strict.passToFail.includes(test)),
          'it counts a test that is skipped, missing or an error on R∘X* as broken',
        ],
        [
          harness.tests_base?.FAIL_TO_PASS.find(
            (test) => harness.tests_pred?.FAIL_TO_PASS.includes(test) !== true,
          ),
          'it asks that every F→P of the base tests stays one',
        ],
      ];
  const found = rules.find(([test]) => test !== undefined);
  return found === undefined
    ? `harness grading: ${verb}; it reads statuses from the log only, where they differ from the recorded outcomes`
    : `harness grading: ${verb}; ${found[1]} (${found[0]})`;
}
