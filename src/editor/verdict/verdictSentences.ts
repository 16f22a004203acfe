import * as l10n from '@vscode/l10n';
import { harnessGrade, findingsToShow, notesToShow } from '../../evaluation/candidateResult';
import { type TestTransition } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import type { Finding } from '../../domain/finding';
import type { VerdictReason, Verdict } from '../../domain/verdict';
import { coverageInWords } from '../../evaluation/compareCoverage';
import { markdownProse } from '../../domain/text';
import { mutantSentences } from '../coverage/mutantTexts';
import type { Evaluated } from './evaluated';

/** A verdict with what the window adds to it. */
export interface ShownVerdict {
  readonly evaluated: Evaluated;
  /** Whether the verdict is about the workspace as it is, saved. */
  readonly current: boolean;
  readonly environment: string | undefined;
  /** Whether tests run in containers, whose image is their environment. */
  readonly inContainers: boolean;
  readonly revealed: boolean;
  readonly wasRevealed: boolean;
  /** Language of the window, as a tag of BCP 47, which formats times of day. */
  readonly language: string;
}

/**
 * Whether tests could not run, and nothing has run with the environment that is chosen now. After a
 * reload of the window this holds too, since packages may have been installed meanwhile.
 */
export const mayRunNow = ({ current, evaluated, environment }: ShownVerdict): boolean =>
  current && evaluated.result.strict.reason === 'could not run' && environment === undefined;

/**
 * Explains a verdict, one sentence an entry, the most important first. The order is: success or what is
 * missing, both gradings, W, transitions, ΔC beside that of the golden tests, mutants killed, and what ran when.
 */
export function verdictSentences(verdict: ShownVerdict): string[] {
  const { evaluated, current, environment, revealed, wasRevealed, language } = verdict;
  const { result } = evaluated;
  return [
    ...(current ? [] : [l10n.t('Out of date: edited after this run. Run the tests again.')]),
    ...(mayRunNow(verdict)
      ? [l10n.t('Not run with the selected environment yet. Run the tests again.')]
      : []),
    ...outcome(evaluated),
    ...findings(evaluated),
    harness(evaluated),
    ...wellFormedness(result.strict),
    transitions(evaluated),
    l10n.t(
      'ΔC {0}; golden tests {1}.',
      coverageInWords(result.changeCoverage),
      coverageInWords(result.goldenCoverage),
    ),
    ...(revealed && evaluated.mutants !== undefined
      ? mutantSentences(evaluated.mutants, result.strict.failToPass)
      : []),
    ...time(evaluated, language),
    ...notesToShow(result, revealed),
    ...(environment === undefined ? [] : [environment]),
    ...(wasRevealed
      ? [l10n.t('The fix, golden tests and hints of this instance were revealed.')]
      : []),
  ];
}

/** The same as the Markdown of a hover. Names of tests and files are escaped. */
export const verdictMarkdown = (verdict: ShownVerdict): string =>
  [...verdictSentences(verdict), l10n.t('Click for the next steps.')]
    .map(markdownProse)
    .join('\n\n');

/**
 * A verdict in few words: the number of F→P tests, or the reason why the candidate is no success. A
 * candidate that breaks tests says how many, and does not hide its F→P. A test of its own that fails
 * on both sides is no broken test.
 */
export function verdictInWords({
  strict: { success, reason, failToPass, failToFail, anyToFail },
  ownTests,
}: {
  readonly strict: Verdict;
  readonly ownTests: readonly string[];
}): string {
  const reproducing = `${failToPass.length} F→P`;
  if (success) return reproducing;
  const onBothSides = new Set(failToFail.filter((test) => ownTests.includes(functionOf(test))));
  const own = anyToFail.filter((test) => onBothSides.has(test)).length;
  const ownInWords = `${own} of its own tests ${own === 1 ? 'fails' : 'fail'} on both sides`;
  const more = failToPass.length === 0 ? [] : [reproducing];
  if (reason === 'fails on both sides' && own > 0 && more.length > 0) {
    return [ownInWords, ...more].join(' · ');
  }
  if (reason !== 'breaks a test' || anyToFail.length === 0) return reason;
  const broken = anyToFail.length - own;
  const breaks = broken <= 1 ? reason : `breaks ${broken} tests`;
  return [breaks, ...(own === 0 ? [] : [ownInWords]), ...more].join(' · ');
}

/** A time of day in the language of the window. */
export const timeOfDay = (date: Date, language: string): string =>
  date.toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' });

/** The findings of a verdict in a few words: one by its kind, several by their number. */
export const findingsInWords = ([first, ...more]: readonly Finding[]): string =>
  first === undefined || more.length > 0
    ? l10n.t('⚠ {0} findings', more.length + 1)
    : `⚠ ${first.kind}`;

/** Maximum number of sentences of evidence for each finding in a hover. The verdict document has all of them. */
const mostEvidence = 3;

/** Nothing of an empty candidate, which has no patch that could apply. */
function wellFormedness({ wellFormed, reason }: Verdict): string[] {
  if (reason === 'no candidate') return [];
  return wellFormed
    ? [l10n.t('Patch applies cleanly (W).')]
    : [l10n.t('Patch does not apply to R (not W).')];
}

function findings({ result }: Evaluated): string[] {
  return findingsToShow(result).flatMap(({ says, evidence }) => {
    const more = evidence.length - mostEvidence;
    return [
      l10n.t('⚠ Finding: {0}', says),
      ...evidence.slice(0, mostEvidence),
      ...(more > 0 ? [l10n.t('And {0} more. Click to show the verdict.', more)] : []),
    ];
  });
}

function outcome({ result }: Evaluated): string[] {
  const { strict } = result;
  if (strict.success) return [l10n.t('✓ {0}.', strict.explanation)];
  const missing = whatIsMissing(strict.reason);
  return [
    l10n.t('✗ Not a reproduction: {0}.', strict.explanation),
    ...(missing === undefined ? [] : [l10n.t('Still needed: {0}.', missing)]),
  ];
}

/** What a candidate lacks when it fails for a reason; undefined when there is nothing to add. */
function whatIsMissing(reason: VerdictReason): string | undefined {
  switch (reason) {
    case 'success':
      return undefined;
    case 'no candidate':
    case 'no test found':
      return l10n.t('an added or changed test in a test file');
    case 'syntax error':
      return l10n.t('a test file with valid Python syntax');
    case 'does not apply':
      return l10n.t('a candidate that applies to R and to R∘X*');
    case 'could not run':
      return l10n.t(
        'an environment that can run the tests (see the log, or create one for this instance)',
      );
    case 'timed out':
    case 'too many processes':
    case 'too much output':
    case 'out of memory':
    case 'disk full':
      return l10n.t('a run that finishes');
    case 'unsound':
      return l10n.t('a run with consistent records (the verdict lists the contradictions)');
    case 'breaks a test':
      return l10n.t('no test that fails because of these changes with the fix');
    case 'unrelated failure':
      return l10n.t('a failure on R caused by the issue, not by the test itself');
    case 'fails on both sides':
      return l10n.t('a test that passes with the fix (assert only what the issue says)');
    case 'passes on R':
      return l10n.t('a test that fails on R because of the issue');
    case 'no test ran':
      return l10n.t('a test that runs on both sides without being skipped');
  }
}

/** Both gradings with the reason when they differ, else that they agree. */
function harness({ result }: Evaluated): string {
  if (result.affected !== undefined) {
    return l10n.t('Harness grading: unknown until all tests have run.');
  }
  const grade = harnessGrade(result);
  if (grade === 'not available') return l10n.t('Harness grading: not available.');
  if (result.difference !== undefined) {
    const strict = result.strict.success
      ? l10n.t('reproduces the issue')
      : l10n.t('not a reproduction');
    return l10n.t('The gradings differ. Strict: {0}; {1}.', strict, result.difference);
  }
  return grade === 'resolved'
    ? l10n.t('Harness grading agrees: resolved.')
    : l10n.t('Harness grading agrees: not resolved.');
}

function transitions({ result }: Evaluated): string {
  const own = new Set(result.ownTests);
  const mine = result.tests.filter((each: TestTransition) => own.has(functionOf(each.test)));
  const counts = new Map<string, number>([['F→P', 0]]);
  for (const { transition } of mine) counts.set(transition, (counts.get(transition) ?? 0) + 1);
  const listed = [...counts].map(([transition, count]) => `${count} ${transition}`).join(', ');
  return l10n.t('Your tests: {0}.', listed);
}

function time(
  { result, evaluatedAt, milliseconds, reusedFrom, restored, asBefore }: Evaluated,
  language: string,
): string[] {
  const clock = (date: Date): string => timeOfDay(date, language);
  const seconds = (milliseconds / 1000).toFixed(1);
  const same = asBefore === true ? [l10n.t('Same as the previous run: nothing changed.')] : [];
  const took =
    restored === 'before the reload'
      ? l10n.t('Ran for {0} s at {1}, before the window reloaded.', seconds, clock(evaluatedAt))
      : restored === 'in another window'
        ? l10n.t('Ran for {0} s at {1}, in another window.', seconds, clock(evaluatedAt))
        : l10n.t('Ran for {0} s at {1}.', seconds, clock(evaluatedAt));
  if (result.affected === undefined) return [took, ...same];
  const { ran, kept } = result.affected;
  return [
    took,
    ...same,
    reusedFrom === undefined
      ? l10n.t('Tests run now: {0}. Reused from the previous run: {1}.', ran, kept)
      : l10n.t(
          'Tests run now: {0}. Reused from the run at {1}: {2}.',
          ran,
          clock(reusedFrom),
          kept,
        ),
  ];
}
