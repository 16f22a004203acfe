import { isFailure, type TestResult } from '../../domain/outcome';
import { fileOf, functionOf } from '../../domain/testId';
import { findTests } from '../../python/tests';
import { unknownText } from '../estimate/unknownText';
import type { ModelView } from '../modelView';
import type { ShownFailure } from '../prompt/prompts';
import type { Steps } from './steps';
import { keyOf, type PatchStep, type RunStep } from '../trace';

/** Characters of a failure that a prompt shows: its end is more informative than its beginning. */
const failureLength = 4000;
/** Number of failures that a prompt shows. */
const mostShownFailures = 5;
/** Tokens of the failures that a prompt shows, at three characters each. */
const mostFailureTokens = Math.ceil((mostShownFailures * failureLength) / 3);

/** Runs a candidate's own tests on R. */
export async function runOnR(steps: Steps, { patch, key: of }: PatchStep): Promise<RunStep> {
  const { engine, timeoutSeconds, signal, reporter, live } = steps.parts;
  const key = keyOf('run', await steps.tree(), patch, engine, timeoutSeconds);
  return steps.recall(
    'run',
    key,
    async ({ view: open }) => {
      const view = await open();
      const options = { timeoutSeconds, signal, reporter };
      steps.progress('running a candidate on R');
      const run = await view.runOnR(patch, { ...options, format: 'unified' });
      const failing = run.tests.filter(isFailure).map(({ test }) => test);
      const known = await knownToR(view, failing);
      const before =
        known.length === 0 ? [] : (await view.runOnR('', { ...options, tests: known })).tests;
      return {
        ...(run.problem !== undefined && { problem: run.problem }),
        tests: run.tests.map(storedResult),
        failingBefore: before.filter(isFailure).map(({ test }) => test),
        seconds: run.seconds,
      };
    },
    {
      isGood: ({ problem }) => problem === undefined,
      within: live?.inSandbox,
      supposed: supposedRun(of),
    },
  );
}

/** What a walk takes for a run: tests that fail, by a fault of their own, so that methods continue. */
const supposedRun = (of: string) => ({
  tests: [
    {
      ...({
        test: 'unknown',
        outcome: 'error',
        phase: 'collect',
        exception: 'SyntaxError',
      } as const),
      details: unknownText(`failures${of.slice(0, 12)}`, mostFailureTokens),
    },
  ],
  failingBefore: [],
  seconds: 0,
});

/** A test of a run as in the trace. */
function storedResult({ details, phase, frames, ...result }: TestResult): TestResult {
  return {
    ...result,
    ...(details !== undefined && { details: details.slice(-failureLength) }),
    ...(isFailure(result) && phase !== undefined && { phase }),
    ...(isFailure(result) && frames !== undefined && { frames }),
  };
}

/** Whether a test fails on R with the candidate that does not fail without it. */
export function failsOnR({ tests, failingBefore }: RunStep): boolean {
  return tests.some((each) => isFailure(each) && !failingBefore.includes(each.test));
}

/** The given tests that R has under the same id. */
async function knownToR(view: ModelView, tests: readonly string[]): Promise<string[]> {
  const functions = [...new Set(tests.map(functionOf))];
  const known: string[] = [];
  for (const path of new Set(functions.map(fileOf))) {
    const source = path.endsWith('.py') ? await view.tree.read(path) : undefined;
    if (source === undefined) continue;
    const ids = new Set(findTests(view.python, source, { path }).map((test) => test.id));
    known.push(...functions.filter((test) => ids.has(test)));
  }
  return known;
}

/**
 * Failing tests as prompts show them, the first few. Their texts are neutral and bounded, since they
 * come from a run step.
 */
export const shownFailures = (tests: readonly TestResult[]): ShownFailure[] =>
  tests
    .filter(isFailure)
    .slice(0, mostShownFailures)
    .map(({ test, exception, message, details }) => ({
      test,
      text: details ?? [exception, message].filter((each) => each !== undefined).join(': '),
    }));
