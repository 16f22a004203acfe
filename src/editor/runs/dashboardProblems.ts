import type * as vscode from 'vscode';
import type { RunData } from '../../study/entry';

/**
 * What a dashboard says beside its runs. That of all runs says what could not be read. That of chosen
 * runs names those that are no longer listed, as after a reload of the window.
 *
 * @param labels of the chosen runs; none for all
 */
export function dashboardProblems(
  l10n: typeof vscode.l10n,
  library: { readonly problems: readonly string[]; run(label: string): RunData | undefined },
  labels: readonly string[],
): readonly string[] {
  if (labels.length === 0) return library.problems;
  return labels
    .filter((label) => library.run(label) === undefined)
    .map((label) =>
      l10n.t(
        'The run {0} is no longer in the list. "SWT-Bench: Add Run Folder…" lists its folder again',
        label,
      ),
    );
}
