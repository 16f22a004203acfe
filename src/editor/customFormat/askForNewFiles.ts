import * as vscode from 'vscode';
import type { DoubtfulPath } from './doubtfulPaths';

/** Asks before files are made whose paths may be slips. @returns whether to make them */
export async function askForNewFiles(doubtful: readonly DoubtfulPath[]): Promise<boolean> {
  const [first] = doubtful;
  if (first === undefined) return true;
  const paths = doubtful.map(({ path }) => path).join(', ');
  const make =
    doubtful.length === 1
      ? vscode.l10n.t('Make {0}', first.path)
      : vscode.l10n.t('Make {0} files', doubtful.length);
  const near = [...new Set(doubtful.flatMap((each) => each.near))].join(', ');
  const chosen = await vscode.window.showQuickPick(
    [
      {
        label: vscode.l10n.t('Change nothing'),
        detail:
          near === ''
            ? vscode.l10n.t('Correct the path in the custom diff.')
            : vscode.l10n.t('Correct the path in the custom diff. It may mean {0}.', near),
      },
      {
        label: make,
        ...(doubtful.some(({ inNewFolder }) => inNewFolder)
          ? { detail: vscode.l10n.t('Its folder is made, too.') }
          : {}),
      },
    ],
    {
      title:
        doubtful.length === 1
          ? vscode.l10n.t('{0} does not exist', paths)
          : vscode.l10n.t('These files do not exist: {0}', paths),
      ignoreFocusOut: true,
    },
  );
  return chosen?.label === make;
}
