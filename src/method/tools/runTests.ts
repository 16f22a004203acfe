import { listed } from '../../domain/text';
import { z } from 'zod';
import { isFailure, outcomes, standing, type TestResult } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import { HumanError, type Immutable } from '../../domain/work';
import { unrelatedFailure } from '../../evaluation/unrelatedFailure';
import type { RunOnR } from '../view/runOnR';
import { testsNamed } from './testsNamed';
import { linesOf, shortLine } from './places';
import { printedByTests } from './printedByTests';
import { bounded, fields, toolOf } from './tool';

const toldTest = fields({
  test: z.string(),
  outcome: z.enum(outcomes),
  of_candidate: z.boolean().describe('Whether the candidate adds or changes it'),
  phase: z.string().optional(),
  exception: z.string().optional(),
  message: z.string().optional(),
  raised_at: z.string().optional().describe('path:line in function'),
  expected: z.string().optional(),
  actual: z.string().optional(),
  fault_of_test: z
    .string()
    .optional()
    .describe('Why the failure looks like an error in the test itself'),
  details: z.string().optional().describe('The end of the failure output from the runner'),
});
type ToldTest = z.infer<typeof toldTest>;

const output = fields({
  counts: z.record(z.string(), z.int()).describe('Number of tests by outcome'),
  problem: z.string().optional().describe('Why the results are incomplete'),
  conclusion: z.string().optional().describe('Set if the candidate reproduces nothing'),
  tests: z.array(toldTest).describe('Failures first'),
  more: z.int().describe('Number of omitted tests'),
  printed: z.string().describe('Output of the tests'),
});
type Output = Immutable<z.infer<typeof output>>;

const mostFailures = 10;
const mostNames = 60;
/** Maximum number of characters of the failure of one test, and of what all tests print. */
const detailsLimit = 4000;
const printedLimit = 8000;
/** Maximum number of characters of each value of a comparison. */
const valueLimit = 1000;

export const runTests = toolOf({
  name: 'run_tests',
  title: 'Run tests',
  description:
    'Runs tests with the current candidate on the current repository, in which the issue is not resolved. By default runs the tests that the candidate adds or changes. A test that reproduces the issue fails here with an assertion or an error that matches the issue, and passes once the issue is resolved. A test that passes here, or fails because of a missing import, name or fixture, does not reproduce the issue. Returns failures, compared values and test output, each up to a limit.',
  input: fields({
    tests: z
      .array(z.string().min(1).max(1000))
      .min(1)
      .max(50)
      .optional()
      .describe(
        'Test files, or tests as tests/test_a.py::Class::test_x, to run instead. A class (tests/test_a.py::Class) selects all of its tests; a bare name (test_x, Class.test_x) is looked up in the candidate, then in the repository',
      ),
    whole_files: z
      .boolean()
      .optional()
      .describe('Run all tests in the files that the candidate changes, not only its own'),
    without_candidate: z
      .boolean()
      .optional()
      .describe('Run the given tests of the repository without the candidate'),
  }),
  output,
  effect: 'runs code',
  usesCandidate: true,
  confirmation: 'Runs tests on R, including code that the model has written.',
  async run(view, { tests, whole_files: whole, without_candidate: without = false }, work) {
    const patch = without ? '' : await work.candidate.read();
    if (patch.trim() === '' && tests === undefined) {
      throw new HumanError(
        without ? 'No tests are given' : 'There is no candidate yet',
        without
          ? 'List files or tests in `tests`'
          : 'Write one with apply_candidate, or list tests of the repository in `tests`',
      );
    }
    const { signal, reporter, timeoutSeconds } = work;
    const named =
      tests === undefined
        ? undefined
        : await testsNamed(view, await view.read(patch, { signal }), tests, signal);
    const result = await view.runOnR(patch, {
      ...(named !== undefined && { tests: named }),
      ...(whole !== undefined && { whole }),
      timeoutSeconds,
      signal,
      reporter,
    });
    if (!result.applies) {
      throw new HumanError(
        `The candidate does not apply to the repository: ${result.problem ?? ''}`,
        'Write it again with apply_candidate',
      );
    }
    const told = tell(result, { isAll: named === undefined });
    const given = patch.trim() === '' ? 'without a candidate' : 'with the candidate';
    return { text: textOf(result, told, given), data: told };
  },
});

/** @param isAll whether all tests of the candidate were to run, and not only named ones */
function tell(result: RunOnR, { isAll }: { readonly isAll: boolean }): Output {
  const own = new Set(isAll ? result.tests.map(({ test }) => test) : []);
  const functions = new Set(result.ownTests);
  const isOwn = ({ test }: TestResult): boolean => own.has(test) || functions.has(functionOf(test));
  const all = [...result.tests, ...result.others];
  const failures = all.filter(isFailure);
  const rest = all.filter((each) => !isFailure(each));
  const shown = [
    ...failures.slice(0, mostFailures).map((each) => describeFailure(each, isOwn(each))),
    ...[...failures.slice(mostFailures, mostFailures + mostNames), ...rest.slice(0, mostNames)].map(
      (each) => ({ test: each.test, outcome: each.outcome, of_candidate: isOwn(each) }),
    ),
  ];
  const ofCandidate = all.filter(isOwn);
  const reproducesNothing = ofCandidate.length > 0 && !ofCandidate.some(isFailure);
  return {
    counts: countsOf(all),
    ...(result.problem !== undefined && { problem: result.problem }),
    ...(reproducesNothing && {
      conclusion: `${isAll ? "None of the candidate's tests fail" : 'None of these tests fail'} on the repository as it is: ${isAll ? 'the candidate reproduces' : 'they reproduce'} nothing.`,
    }),
    tests: shown,
    more: all.length - shown.length,
    printed: bounded(
      linesOf(printedByTests(result.log))
        .map((line) => shortLine(line))
        .join('\n'),
      printedLimit,
    ),
  };
}

function textOf(result: RunOnR, told: Output, given: string): string {
  const { conclusion, problem, tests, printed } = told;
  const all = [...result.tests, ...result.others];
  const failures = all.filter(isFailure);
  const details = tests.filter(isFailure).slice(0, mostFailures);
  const ofCandidate = new Set(tests.flatMap((each) => (each.of_candidate ? [each.test] : [])));
  const rest = all.filter((each) => !isFailure(each));
  return [
    `On the current repository, ${given}: ${summary(told.counts)}.`,
    ...(problem === undefined ? [] : [`The results are incomplete: ${problem}.`]),
    ...(conclusion === undefined ? [] : [conclusion]),
    ...details.map(failureText),
    ...(failures.length > mostFailures
      ? [`More failures: ${names(failures.slice(mostFailures))}`]
      : []),
    ...(rest.length > 0 ? [`Others: ${names(rest, ofCandidate)}`] : []),
    ...(printed === '' ? [] : [`Output of the tests:\n${printed}`]),
    ...(isMute(all) && result.log !== ''
      ? [`End of the runner's output:\n${lastLines(result.log)}`]
      : []),
  ].join('\n\n');
}

/** Whether no outcome says what happened, as when the runner itself could not start. */
const isMute = (results: readonly TestResult[]): boolean =>
  results.every(
    ({ phase, exception, details }) =>
      phase === 'collect' && exception === undefined && details === undefined,
  );

function countsOf(results: readonly TestResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function summary(counts: Output['counts']): string {
  const told = Object.entries(counts).map(([outcome, number]) => `${number} ${outcome}`);
  return told.length === 0 ? 'no test produced an outcome' : told.join(', ');
}

function describeFailure(result: TestResult, isOwn: boolean): ToldTest {
  const { test, outcome, phase, exception, message, details, frames, comparison } = result;
  const where = frames?.at(-1);
  const unrelated = unrelatedFailure(result);
  const text = (details ?? message ?? '').trim();
  return {
    test,
    outcome,
    of_candidate: isOwn,
    ...(phase !== undefined && { phase }),
    ...(exception !== undefined && {
      exception,
      message: shortLine((message ?? '').split('\n')[0] ?? '', 500),
    }),
    ...(where !== undefined && { raised_at: `${where.path}:${where.line} in ${where.function}` }),
    ...(comparison !== undefined && {
      expected: bounded(comparison.expected, valueLimit),
      actual: bounded(comparison.actual, valueLimit),
    }),
    ...(unrelated !== undefined && {
      fault_of_test: `${unrelated.reason}${unrelated.missing === undefined ? '' : ` (${unrelated.missing})`}`,
    }),
    ...(text !== '' && { details: bounded(lastLines(text, 40), detailsLimit) }),
  };
}

function failureText(told: ToldTest): string {
  const { test, outcome, phase, exception, expected, actual, details = '' } = told;
  const when = phase === 'collect' ? 'during collection' : `in its ${phase}`;
  // The runner shows most values itself.
  const isHidden =
    expected !== undefined &&
    actual !== undefined &&
    !(details.includes(expected) && details.includes(actual));
  return [
    `${outcome === 'error' ? 'ERROR' : 'FAILED'} ${test}${phase === undefined || phase === 'call' ? '' : ` (${when})`}`,
    ...(exception === undefined ? [] : [`Exception: ${exception}: ${told.message ?? ''}`]),
    ...(told.raised_at === undefined ? [] : [`Raised at ${told.raised_at}`]),
    ...(told.fault_of_test === undefined
      ? []
      : [`This looks like an error in the test itself, not the issue: ${told.fault_of_test}`]),
    ...(details === '' ? [] : [details]),
    ...(isHidden ? [`Compared values, expected:\n${expected}\nactual:\n${actual}`] : []),
  ].join('\n');
}

/** @param ofCandidate tests that the candidate adds or changes; undefined to name no outcomes */
const names = (results: readonly TestResult[], ofCandidate?: ReadonlySet<string>): string => {
  const all = results.map(({ test, outcome }) => {
    if (ofCandidate === undefined) return test;
    if (ofCandidate.has(test)) return `${test} (${outcome} here: does not reproduce the issue)`;
    return standing(outcome) === 'passes' ? test : `${test} (${outcome})`;
  });
  return listed(all, mostNames);
};

function lastLines(text: string, most = 60): string {
  const lines = linesOf(text.trimEnd());
  const shown = lines.slice(-most).map((line) => shortLine(line));
  return [...(lines.length > most ? [`[${lines.length - most} lines before]`] : []), ...shown].join(
    '\n',
  );
}
