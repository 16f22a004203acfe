import { listed } from '../../domain/text';
import { isFailure, standing } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import { failuresInPrompt } from '../prompt/prompts';
import { candidateFault, type Examined } from '../refining/candidateFault';
import { faultInPrompt } from '../refining/faultInPrompt';
import { shownFailures } from '../steps/candidateRun';

/** Maximum number of names of tests that a sentence lists. */
const mostNames = 20;

/**
 * Why the tests of a candidate do not show today's behaviour: lines for the model, undefined when
 * they pass on R.
 */
export function whyNotPassing(candidate: Examined): readonly string[] | undefined {
  const { run } = candidate;
  const fault = candidateFault(candidate);
  if (fault !== undefined) return faultInPrompt(fault);
  if (run === undefined) return ['The tests did not run.', ''];
  if (run.problem !== undefined) return brokenOff(run.problem);
  const failing = run.tests.filter(isFailure);
  if (failing.length > 0) {
    return [
      'On the current repository, these tests fail:',
      '',
      ...failuresInPrompt(shownFailures(failing)),
    ];
  }
  return run.tests.some(({ outcome }) => standing(outcome) === 'passes')
    ? undefined
    : ['None of the tests ran: all of them were skipped.', ''];
}

/**
 * Why tests that were inverted do not fail as they should: lines for the model, undefined when
 * each of the functions has a test that fails on R, and none fails by a fault of its own.
 */
export function whyNotFailing(candidate: Examined): readonly string[] | undefined {
  const { run } = candidate;
  const fault = candidateFault(candidate);
  if (fault !== undefined) return faultInPrompt(fault);
  if (run === undefined) return ['The tests did not run.', ''];
  if (run.problem !== undefined) return brokenOff(run.problem);
  const functions = new Set(run.tests.map(({ test }) => functionOf(test)));
  const failing = run.tests.filter(
    (each) => isFailure(each) && !run.failingBefore.includes(each.test),
  );
  for (const { test } of failing) functions.delete(functionOf(test));
  const names = [...functions];
  return names.length === 0
    ? undefined
    : [`On the current repository, these tests do not fail: ${listed(names, mostNames)}.`, ''];
}

const brokenOff = (problem: string): readonly string[] => [
  `The test run on the current repository did not finish: ${problem}.`,
  '',
];
