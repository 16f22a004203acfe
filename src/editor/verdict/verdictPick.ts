import * as l10n from '@vscode/l10n';
import { fileOf, namesInWords } from '../../domain/testId';
import type { FirstResult } from '../../evaluation/firstResult';
import { commandIds, internalCommandIds } from '../shell/names';
import { mayRunNow, verdictInWords, verdictSentences, type ShownVerdict } from './verdictSentences';

/** The verdict as a list to choose from: the next steps, then the verdict in sentences. */
export interface VerdictPick {
  readonly title: string;
  readonly placeHolder: string;
  readonly entries: readonly VerdictEntry[];
}

/** A heading, or an entry that can be chosen. A label may contain the id of an icon: `$(note)`. */
export type VerdictEntry = { readonly heading: string } | VerdictChoice;

interface VerdictChoice {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  /** What choosing it does: runs a command by its id, goes to a test, or opens the whole verdict. */
  readonly does: { readonly command: string } | { readonly goTo: string } | 'open the document';
}

/** What can be done while tests run: wait, or run a command by its id. */
interface RunPick {
  readonly title: string;
  readonly placeHolder: string;
  readonly entries: readonly RunChoice[];
}

interface RunChoice {
  readonly label: string;
  readonly detail: string;
  readonly does: { readonly command: string } | 'wait';
}

/** The list while tests run, with what the candidate's own tests did, once that is known. */
export function runPick(first: FirstResult | undefined): RunPick {
  const { strict } = first ?? {};
  return {
    title:
      first === undefined || strict === undefined
        ? l10n.t('Tests are running on R and R∘X*')
        : l10n.t('So far: {0}', verdictInWords({ ...first, strict })),
    placeHolder:
      strict === undefined
        ? l10n.t('No test has finished yet')
        : first?.whole === true
          ? l10n.t('All tests have finished. Grading…')
          : l10n.t('Running the other tests in these files'),
    entries: [
      {
        label: `$(watch) ${l10n.t('Wait')}`,
        detail: l10n.t('The verdict appears when all tests have finished.'),
        does: 'wait',
      },
      {
        label: `$(debug-stop) ${l10n.t('Cancel Test Run')}`,
        detail: l10n.t('Discards its results so far. The previous verdict stays.'),
        does: { command: internalCommandIds.cancelRuns },
      },
      {
        label: `$(output) ${l10n.t('Show Log')}`,
        detail: l10n.t('Shows what the engine is doing.'),
        does: { command: commandIds.showLog },
      },
    ],
  };
}

/** The list for a verdict. */
export function verdictPick(verdict: ShownVerdict): VerdictPick {
  const { result } = verdict.evaluated;
  const next = [{ heading: l10n.t('Next') }, ...steps(verdict)];
  const failing = culprits(verdict);
  // To run an unchanged test again shows nothing new, so its failure is the next thing to read.
  const failureFirst = verdict.current && result.strict.anyToFail.length <= mostOnTop;
  return {
    title: verdict.current
      ? l10n.t('Verdict: {0}', verdictInWords(result))
      : l10n.t('Verdict: {0} (out of date)', verdictInWords(result)),
    placeHolder: withoutFiles(result.strict.explanation),
    entries: [
      ...(failureFirst ? [...failing, ...next] : [...next, ...failing]),
      { heading: l10n.t('Verdict') },
      ...verdictSentences(verdict).map((sentence): VerdictEntry => ({
        // Names of candidates and tests must not become icons.
        label: sentence.replaceAll('$(', '\\$('),
        does: 'open the document',
      })),
    ],
  };
}

/** More failing tests than this would push the next steps out of sight. */
const mostOnTop = 3;

/** A sentence with `test_x` for `tests/test_a.py::test_x`: the box cuts what is too long for it. */
const withoutFiles = (sentence: string): string => sentence.replaceAll(/[^\s,:]+\.py::(?=\w)/g, '');

/** Each test that keeps the candidate from success, with its transition; a choice goes to it. */
function culprits({ evaluated }: ShownVerdict): VerdictEntry[] {
  const { strict, tests } = evaluated.result;
  if (strict.success || strict.anyToFail.length === 0) return [];
  const transitionOf = new Map(tests.map((each) => [each.test, each.transition]));
  return [
    { heading: l10n.t('Tests that fail on R∘X*') },
    ...strict.anyToFail.map((test): VerdictEntry => ({
      // Names of tests must not become icons.
      label: namesInWords(test).replaceAll('$(', '\\$('),
      description: `✗ ${transitionOf.get(test) ?? ''}`.trim(),
      detail: fileOf(test),
      does: { goTo: test },
    })),
  ];
}

/** Possible next steps, the likeliest first. */
function steps(verdict: ShownVerdict): VerdictChoice[] {
  const { current, evaluated, revealed, inContainers } = verdict;
  const couldNotRun = evaluated.result.strict.reason === 'could not run';
  const isExportable = current && evaluated.result.strict.success;
  const hidden = revealed ? '' : l10n.t('Asks before revealing the fix. ');
  const run: VerdictChoice = {
    label: `$(run-all) ${l10n.t('Run Tests on R and R∘X*')}`,
    detail: l10n.t('Runs all tests again.'),
    does: { command: commandIds.reproduce },
  };
  const save: VerdictChoice = {
    label: `$(export) ${l10n.t('Export Reproduction…')}`,
    detail: l10n.t('Saves patch, prediction and summary.'),
    does: { command: commandIds.exportReproduction },
  };
  const environment: VerdictChoice = {
    label: `$(package) ${l10n.t('Create Environment for This Instance')}`,
    detail: l10n.t('Uses the Python version and packages of the instance’s date.'),
    does: { command: internalCommandIds.makeEnvironment },
  };
  const mending = couldNotRun && !inContainers ? [environment] : [];
  return [
    ...(mayRunNow(verdict)
      ? [run, ...mending, save]
      : [...mending, ...(isExportable ? [save, run] : [run, save])]),
    {
      label: `$(checklist) ${l10n.t('Show Change Coverage')}`,
      detail: hidden + l10n.t('Shows the state of each line that the fix changes.'),
      does: { command: commandIds.showChangeCoverage },
    },
    {
      label: `$(bug) ${l10n.t('Check Tests with Mutants…')}`,
      detail: hidden + l10n.t('Shows which seeded bugs your tests catch.'),
      does: { command: commandIds.checkWithMutants },
    },
    ...(revealed && evaluated.mutants !== undefined
      ? [
          {
            label: `$(list-unordered) ${l10n.t('Show Mutants…')}`,
            detail: l10n.t('Lists surviving mutants first, each as a diff.'),
            does: { command: internalCommandIds.showMutants },
          },
        ]
      : []),
    {
      label: `$(diff) ${l10n.t('Compare with Golden Tests…')}`,
      detail: hidden + l10n.t('Shows both as a diff, with the lines that each covers.'),
      does: { command: commandIds.compareWithGolden },
    },
    {
      label: `$(note) ${l10n.t('Show Verdict as Document')}`,
      detail: l10n.t('Lists every test on both sides.'),
      does: 'open the document',
    },
  ];
}
