import * as vscode from 'vscode';
import { reproductionNote } from '../../results/reproduction/reproductionNote';
import { describe } from './exportReproduction';
import { scheme, verdictAuthority } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';

/**
 * Shows the note of an export as a read-only document. The document follows the verdict, and shows
 * of the golden patch only what is revealed at that time.
 */
export async function showVerdictDocument(open: InstanceSource & LatestVerdict): Promise<void> {
  if (open.last === undefined) return;
  const uri = vscode.Uri.from({
    scheme,
    authority: verdictAuthority,
    path: `/${vscode.l10n.t('Verdict on {0}', open.marker.id)}.md`,
  });
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: false });
}

/** Content of that document. */
export async function verdictText(
  open: Revealing & LatestVerdict & InstanceSource,
): Promise<string> {
  const { last } = open;
  return last === undefined
    ? `${vscode.l10n.t('There is no verdict yet. Run "SWT-Bench: Reproduce on R and R∘X*".')}\n`
    : reproductionNote(await describe(open, last));
}
