import { z } from 'zod';
import { listed } from '../../domain/text';
import { eachOnce, lostInRun, lostInWords } from '../../evaluation/lostTests';
import { isFailure, standing, type TestResult } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import { throwIfAborted, type Immutable } from '../../domain/work';
import { unrelatedFailure } from '../../evaluation/unrelatedFailure';
import type { ModelView } from '../modelView';
import type { ReadOnR, RunOnR, RunOnROptions } from '../view/runOnR';
import { TestsCannotRun } from '../testsOfModels';

/** What is asked of a candidate before it is submitted, in this order. */
export const submissionQuestions = [
  'applies',
  'only tests',
  'has tests',
  'collected',
  'fails on R',
  'related failure',
  'existing tests',
] as const;
type SubmissionQuestion = (typeof submissionQuestions)[number];

/** `doubt`: the user or a model should look. `unknown`: it could not be found out. */
const submissionAnswers = ['yes', 'no', 'doubt', 'unknown'] as const;
export type SubmissionAnswer = (typeof submissionAnswers)[number];

/** `look again` when there are doubts, and `incomplete` when an answer is unknown. */
const submissionConclusions = ['ready', 'look again', 'not ready', 'incomplete'] as const;
export type SubmissionConclusion = (typeof submissionConclusions)[number];

const checkedQuestion = z.strictObject({
  question: z.enum(submissionQuestions),
  answer: z.enum(submissionAnswers),
  /** One or two sentences. Names of tests and failures in it are untrusted. */
  text: z.string(),
});
export type CheckedQuestion = Readonly<z.infer<typeof checkedQuestion>>;

/** What R alone says of a candidate that is about to be submitted. */
export const submissionCheckSchema = z.strictObject({
  conclusion: z.enum(submissionConclusions),
  /** In the order of {@link submissionQuestions}; all of them. */
  questions: z.array(checkedQuestion),
});
export type SubmissionCheck = Immutable<z.infer<typeof submissionCheckSchema>>;

type SubmissionCheckOptions = Pick<
  RunOnROptions,
  'format' | 'timeoutSeconds' | 'reuse' | 'signal' | 'reporter'
>;

/** The text of a question that an earlier answer leaves without sense. */
export const notChecked = 'Not checked.';

/** Maximum number of names that a sentence lists. */
const mostNames = 10;

/**
 * Checks a candidate on R: it applies, changes only tests, its tests are collected, they fail there
 * for no reason that looks unrelated to the issue, and the other tests of its files end as before. It
 * knows nothing of R∘X*, so that a candidate which passes may still go F→F.
 *
 * @param view R, as a model may know it
 * @throws Cancelled
 */
export async function checkSubmission(
  view: ModelView,
  candidate: string,
  options: SubmissionCheckOptions,
): Promise<SubmissionCheck> {
  const { format, signal } = options;
  const read = await view.read(candidate, { ...(format !== undefined && { format }), signal });
  if (candidate.trim() === '') {
    return concluded([['applies', 'no', 'There is no candidate yet.']]);
  }
  if (!read.applies) {
    return concluded([
      ['applies', 'no', `It does not apply to R: ${read.problem ?? 'unknown reason'}.`],
    ]);
  }
  const known: Answered[] = [
    ['applies', 'yes', 'It applies to R.'],
    ['only tests', ...onlyTests(read)],
    ['has tests', ...hasTests(read)],
  ];
  if (read.files.length === 0) return concluded(known);
  let run: RunOnR;
  let before: readonly TestResult[] | undefined;
  try {
    run = await view.runOnR(candidate, { ...options, whole: true });
    before = await outcomesBefore(view, read, options);
  } catch (error) {
    throwIfAborted(signal);
    if (!(error instanceof TestsCannotRun)) throw error;
    options.reporter.log(error.message);
    return concluded([...known, ['collected', 'unknown', 'Tests cannot run here.']]);
  }
  return concluded([
    ...known,
    ['collected', ...areCollected(run)],
    ['fails on R', ...failsOnR(run)],
    ['related failure', ...isRelated(run)],
    ['existing tests', ...existingTests(run, before)],
  ]);
}

type Answer = readonly [SubmissionAnswer, string];
type Answered = readonly [SubmissionQuestion, ...Answer];

function concluded(known: readonly Answered[]): SubmissionCheck {
  const questions = submissionQuestions.map((question): CheckedQuestion => {
    const [, answer = 'unknown' as const, text = notChecked] =
      known.find(([each]) => each === question) ?? [];
    return { question, answer, text };
  });
  const has = (wanted: SubmissionAnswer): boolean =>
    questions.some(({ answer }) => answer === wanted);
  const conclusion = has('no')
    ? 'not ready'
    : has('unknown')
      ? 'incomplete'
      : has('doubt')
        ? 'look again'
        : 'ready';
  return { conclusion, questions };
}

const onlyTests = ({ otherFiles }: ReadOnR): Answer =>
  otherFiles.length === 0
    ? ['yes', 'It changes only test files.']
    : ['no', `It changes files that are not tests: ${firstNames(otherFiles)}.`];

function hasTests({ files, ownTests, syntaxErrors, problem }: ReadOnR): Answer {
  const [error] = syntaxErrors;
  if (error !== undefined) {
    return ['no', `${error.path} has a syntax error in line ${error.line}.`];
  }
  if (ownTests.length > 0) return ['yes', `It adds or changes ${firstNames(ownTests)}.`];
  // Tests that a loop creates have no function of their own.
  if (files.length > 0 && problem === undefined) return ['yes', `It changes ${firstNames(files)}.`];
  return ['no', `It adds or changes no test${problem === undefined ? '' : `: ${problem}`}.`];
}

function areCollected({ ownTests, tests, problem }: RunOnR): Answer {
  const found = tests.filter(({ outcome }) => outcome !== 'missing');
  const ran = new Set(found.map(({ test }) => functionOf(test)));
  const absent = ownTests.filter((test) => !ran.has(test));
  if (problem !== undefined) return ['no', `The run on R is incomplete: ${problem}.`];
  if (absent.length > 0) return ['no', `The runner does not collect ${firstNames(absent)}.`];
  if (found.length === 0) return ['no', 'The runner collects no test of it.'];
  const idle = found.filter(({ outcome }) => standing(outcome) === 'neither').map(named);
  return idle.length > 0
    ? ['doubt', `These tests neither pass nor fail on R: ${firstNames(idle)}.`]
    : ['yes', `The runner collects and runs its tests: ${found.length}.`];
}

function failsOnR({ tests }: RunOnR): Answer {
  const failing = tests.filter(isFailure);
  const others = tests.filter((each) => !isFailure(each)).map(named);
  if (failing.length === 0) {
    return ['no', 'None of its tests fail on R, so it does not reproduce the issue.'];
  }
  const rest =
    others.length > 0
      ? ` These do not, so they do not reproduce the issue: ${firstNames(others)}.`
      : '';
  const count =
    tests.length === 1
      ? 'Its test fails on R.'
      : `${others.length === 0 ? 'All' : failing.length} of its ${tests.length} tests fail on R.`;
  return ['yes', `${count}${rest}`];
}

function isRelated({ tests }: RunOnR): Answer {
  const failing = tests.filter(isFailure);
  if (failing.length === 0) return ['unknown', notChecked];
  const broken = failing.flatMap((result) => {
    const found = unrelatedFailure(result);
    if (found === undefined) return [];
    const missing = found.missing === undefined ? '' : ` (${found.missing})`;
    return [`${result.test}: ${found.reason}${missing}`];
  });
  return broken.length === 0
    ? ['yes', 'No failure looks like an error in the test itself.']
    : ['doubt', `These failures look like errors in the tests themselves: ${firstNames(broken)}.`];
}

function existingTests(
  { tests, others, ownTests, removedTests, emptiedTests, movedTests }: RunOnR,
  before: readonly TestResult[] | undefined,
): Answer {
  const lost = eachOnce(
    { removed: removedTests, emptied: emptiedTests },
    before === undefined ? [] : [lostInRun(before, [...tests, ...others], movedTests)],
  );
  const inWords = lostInWords(lost).join('; ');
  if (inWords !== '') return ['no', `Existing tests are ${inWords}.`];
  if (before === undefined) return ['unknown', 'The existing tests could not run without it.'];
  const own = new Set(ownTests);
  const now = new Map([...tests, ...others].map((each) => [each.test, each]));
  const passing = before.filter(({ outcome }) => standing(outcome) === 'passes');
  const spoiled = passing.filter(({ test }) => {
    const after = now.get(test);
    return after !== undefined && isFailure(after);
  });
  const untouched = spoiled.filter(({ test }) => !own.has(functionOf(test)));
  if (untouched.length > 0) {
    return [
      'no',
      `These existing tests pass without it but not with it: ${listedTests(untouched)}.`,
    ];
  }
  return spoiled.length > 0
    ? [
        'doubt',
        `It changes existing tests that pass without it but not with it: ${listedTests(spoiled)}.`,
      ]
    : [
        'yes',
        `The other tests in its files have the same outcomes as before; ${passing.length} of them pass.`,
      ];
}

/** Outcomes of the files that R has, without the candidate; undefined when they are not whole. */
async function outcomesBefore(
  view: ModelView,
  { files }: ReadOnR,
  options: SubmissionCheckOptions,
): Promise<readonly TestResult[] | undefined> {
  const ofR: string[] = [];
  for (const path of files) {
    const isOfR = path.endsWith('.py') && (await view.tree.read(path)) !== undefined;
    if (isOfR) ofR.push(path);
  }
  if (ofR.length === 0) return [];
  const { timeoutSeconds, reuse, signal, reporter } = options;
  const run = await view.runOnR('', {
    ...{ timeoutSeconds, signal, reporter, tests: ofR },
    ...(reuse !== undefined && { reuse }),
  });
  return run.problem === undefined ? run.tests : undefined;
}

const listedTests = (results: readonly TestResult[]): string =>
  firstNames(results.map(({ test }) => test));

const firstNames = (names: readonly string[]): string => listed(names, mostNames);

const named = ({ test, outcome }: TestResult): string => `${test} (${outcome})`;
