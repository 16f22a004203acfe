import type * as vscode from 'vscode';
import type { AskedFilter } from '../../study/document';
import type { RunData } from '../../study/entry';

/** The sentence after the export of a page: what it shows, and where it is. */
export function exportedText(
  l10n: typeof vscode.l10n,
  exported: {
    readonly runs: readonly RunData[];
    readonly filter: AskedFilter | undefined;
    readonly path: string;
  },
): string {
  const { runs, filter, path } = exported;
  const what =
    runs.length === 1
      ? l10n.t('the page of {0}', runs[0]?.label ?? '')
      : l10n.t('the page of {0} runs', runs.length);
  return filter === undefined
    ? l10n.t('Exported {0} to {1}', what, path)
    : l10n.t('Exported {0} to {1}, with the filter {2}', what, path, filter.text);
}
