import * as l10n from '@vscode/l10n';
import type { RunData, RunEntry } from '../../study/entry';
import type { AskedFilter } from '../../study/document';
import { notEvaluatedReasons } from '../../domain/verdict';
import { inTermsOfSettings } from '../shell/inTermsOfSettings';

/**
 * What a dashboard says beside its runs. That of all runs says what could not be read. That of chosen
 * runs names those that are no longer listed, as after a reload of the window.
 *
 * @param labels of the chosen runs; none for all
 */
export function dashboardProblems(
  library: { readonly problems: readonly string[]; run(label: string): RunData | undefined },
  labels: readonly string[],
): readonly string[] {
  if (labels.length === 0) return library.problems;
  return labels
    .filter((label) => library.run(label) === undefined)
    .map((label) =>
      l10n.t(
        'The run {0} is no longer in the list. To restore it, run "SWT-Bench: Add Results…"',
        label,
      ),
    );
}

/** The sentence after the export of a page: what it shows, and where it is. */
export function exportedText(exported: {
  readonly runs: readonly RunData[];
  readonly filter: AskedFilter | undefined;
  readonly path: string;
}): string {
  const { runs, filter, path } = exported;
  const what =
    runs.length === 1
      ? l10n.t('the page of {0}', runs[0]?.label ?? '')
      : l10n.t('the page of {0} runs', runs.length);
  return filter === undefined
    ? l10n.t('Exported {0} to {1}', what, path)
    : l10n.t('Exported {0} to {1}, with the filter {2}', what, path, filter.text);
}

/**
 * An entry for the dashboard in the editor: without the fields that only the extension uses, and
 * with settings in place of options. A saved report has the words of the command line.
 */
export function entryForPage({ report: _report, ...entry }: RunEntry): RunEntry {
  // Only what could not be evaluated has advice; other explanations may quote a test.
  return notEvaluatedReasons.some((each) => each === entry.reason)
    ? { ...entry, explanation: inTermsOfSettings(entry.explanation) }
    : entry;
}

/** Says which instances are revealed. */
interface RevealedInstances {
  has(id: string): boolean;
}

/** The entry without code of X* in its surviving mutants, unless its instance is revealed. */
export function withoutHidden(entry: RunEntry, revealed: RevealedInstances): RunEntry {
  if (entry.survivors === undefined || revealed.has(entry.instance)) return entry;
  const { survivors: _survivors, ...rest } = entry;
  return rest;
}

/** Runs whose entries have code of X* only for revealed instances. */
export const withoutHiddenSurvivors = (
  runs: readonly RunData[],
  revealed: RevealedInstances,
): readonly RunData[] =>
  runs.map((run) => ({
    ...run,
    entries: run.entries.map((entry) => withoutHidden(entry, revealed)),
  }));
