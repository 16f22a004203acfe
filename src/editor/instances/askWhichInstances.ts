import * as vscode from 'vscode';
import type { PossibleInstances } from './instancesOfCommand';

/** Asks which instances a command is about. @returns their ids; undefined when the person cancels */
export async function askWhichInstances(
  possible: readonly PossibleInstances[],
  title = vscode.l10n.t('Which Instances?'),
): Promise<readonly string[] | undefined> {
  const items = possible.map(({ are, ids }) => ({
    label: ids.length === 1 ? (ids[0] ?? '') : vscode.l10n.t('{0} instances', ids.length),
    description:
      are === 'open'
        ? vscode.l10n.t('the open instance')
        : are === 'listed'
          ? vscode.l10n.t('all that the Instances view lists')
          : vscode.l10n.t('selected in the Instances view'),
    ids,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.ids;
}
