import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import type { TestedMutant } from '../../mutation/mutant';
import type { LatestVerdict, Revealing } from '../instance/instanceRoles';
import { sideUri } from '../shell/documents';
import { mutantUri } from './mutantDocuments';
import { faultInWords, mutantRows, type MutantRow } from './mutantTexts';
import { shownMutants } from './shownMutants';

/**
 * Lists the mutants that the candidate was tried on, those that live first. A chosen one opens as a
 * diff with R∘X*. Asks before it reveals them.
 *
 * @throws HumanError when the last verdict has no mutants
 */
export async function showMutants(open: Revealing & LatestVerdict): Promise<void> {
  if (!(await open.reveal(vscode.l10n.t('Show Mutants')))) return;
  const mutants = shownMutants(open);
  if (mutants === undefined) {
    throw new HumanError(
      vscode.l10n.t('The candidate was not tried on mutants since it last ran'),
      vscode.l10n.t('Run "SWT-Bench: Check Candidate with Mutants"'),
    );
  }
  const chosen = await vscode.window.showQuickPick(mutantRows(vscode.l10n, mutants).map(itemOf), {
    title: vscode.l10n.t('Mutants of the Golden Patch'),
    placeHolder: vscode.l10n.t('Choose one to see it as a diff'),
    matchOnDescription: true,
  });
  if (chosen !== undefined && 'mutant' in chosen) await showDiff(chosen.mutant);
}

const itemOf = (row: MutantRow) =>
  'heading' in row ? { label: row.heading, kind: vscode.QuickPickItemKind.Separator } : row;

async function showDiff(mutant: TestedMutant): Promise<void> {
  const { path, line, column } = mutant;
  const at = new vscode.Position(line - 1, column - 1);
  await vscode.commands.executeCommand(
    'vscode.diff',
    sideUri('fixed', path),
    mutantUri(mutant),
    vscode.l10n.t('{0}:{1} {2} (R∘X* ↔ mutant)', path, line, faultInWords(vscode.l10n, mutant)),
    { selection: new vscode.Range(at, at) } satisfies vscode.TextDocumentShowOptions,
  );
}
