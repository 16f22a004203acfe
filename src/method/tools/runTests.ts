import { z } from 'zod';
import { isFailure, standing, type TestResult } from '../../domain/outcome';
import { HumanError } from '../../domain/humanError';
import { unrelatedFailure } from '../../evaluation/hints/unrelatedFailure';
import { linesOf, shortLine } from './places';
import { fields, type Tool } from './tool';

interface Input {
  readonly tests?: readonly string[] | undefined;
  readonly without_candidate?: boolean | undefined;
  readonly whole_files?: boolean | undefined;
}

const mostFailures = 10;
const mostNames = 60;

export const runTests: Tool<Input> = {
  name: 'run_tests',
  title: 'Run tests',
  description:
    'Runs tests on the repository as it is, which has the fault of the issue, with the current candidate. By default those that the candidate adds or changes. A test that reproduces the issue fails here because of the fault, by an assertion or an error that the issue tells of, and would pass once the fault is mended. A failure by an import, a name or a fixture that is not there reproduces nothing.',
  input: fields({
    tests: z
      .array(z.string().min(1).max(1000))
      .min(1)
      .max(50)
      .optional()
      .describe('Test files, or tests as tests/test_a.py::Class::test_x, to run instead'),
    whole_files: z
      .boolean()
      .optional()
      .describe('Run all tests of the files that the candidate touches, not only its own'),
    without_candidate: z
      .boolean()
      .optional()
      .describe('Run the named tests of the repository without the candidate'),
  }),
  effect: 'runs code',
  confirmation: 'Runs tests, and with them code that the model has written, on R.',
  async run(view, { tests, whole_files: whole, without_candidate: without = false }, work) {
    const patch = without ? '' : await work.candidate.read();
    if (patch.trim() === '' && tests === undefined) {
      throw new HumanError(
        without ? 'No tests are named' : 'There is no candidate yet',
        without
          ? 'Name files or tests in `tests`'
          : 'Write one with apply_candidate, or name tests of the repository in `tests`',
      );
    }
    const { signal, reporter, timeoutSeconds } = work;
    const result = await view.runOnR(patch, {
      ...(tests !== undefined && { tests }),
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
    const all = [...result.tests, ...result.others];
    const failures = [...result.tests.filter(isFailure), ...result.others.filter(isFailure)];
    const rest = all.filter((each) => !isFailure(each));
    return [
      `On the repository as it is, ${patch.trim() === '' ? 'without a candidate' : 'with the candidate'}: ${summary(all)}.`,
      ...(result.problem === undefined ? [] : [`Not everything is known: ${result.problem}.`]),
      ...failures.slice(0, mostFailures).map(describeFailure),
      ...(failures.length > mostFailures
        ? [`More failures: ${names(failures.slice(mostFailures))}`]
        : []),
      ...(rest.length > 0 ? [`Others: ${names(rest, true)}`] : []),
      ...(isMute(all) && result.log !== ''
        ? [`The end of what the runner printed:\n${lastLines(result.log)}`]
        : []),
    ].join('\n\n');
  },
};

/** Whether no outcome says what happened, as when the runner itself could not start. */
const isMute = (results: readonly TestResult[]): boolean =>
  results.every(
    ({ phase, exception, details }) =>
      phase === 'collect' && exception === undefined && details === undefined,
  );

function summary(results: readonly TestResult[]): string {
  if (results.length === 0) return 'no test has left an outcome';
  const counts = new Map<string, number>();
  for (const { outcome } of results) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, number]) => `${number} ${outcome}`).join(', ');
}

function describeFailure(result: TestResult): string {
  const { test, outcome, phase, exception, message, details, frames } = result;
  const where = frames?.at(-1);
  const unrelated = unrelatedFailure(result);
  const text = (details ?? message ?? '').trim();
  return [
    `${outcome === 'error' ? 'ERROR' : 'FAILED'} ${test}${phase === undefined || phase === 'call' ? '' : ` (${phase === 'collect' ? 'while it was collected' : `in its ${phase}`})`}`,
    ...(exception === undefined
      ? []
      : [`Exception: ${exception}: ${shortLine((message ?? '').split('\n')[0] ?? '', 500)}`]),
    ...(where === undefined ? [] : [`Raised at ${where.path}:${where.line} in ${where.function}`]),
    ...(unrelated === undefined
      ? []
      : [
          `This looks like a fault of the test itself, not of the issue: ${unrelated.reason}${unrelated.missing === undefined ? '' : ` (${unrelated.missing})`}`,
        ]),
    ...(text === '' ? [] : [lastLines(text, 40)]),
  ].join('\n');
}

const names = (results: readonly TestResult[], withOutcome = false): string => {
  const shown = results
    .slice(0, mostNames)
    .map(({ test, outcome }) =>
      withOutcome && standing(outcome) !== 'passes' ? `${test} (${outcome})` : test,
    );
  const more = results.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

function lastLines(text: string, most = 60): string {
  const lines = linesOf(text.trimEnd());
  const shown = lines.slice(-most).map((line) => shortLine(line));
  return [...(lines.length > most ? [`[${lines.length - most} lines before]`] : []), ...shown].join(
    '\n',
  );
}
