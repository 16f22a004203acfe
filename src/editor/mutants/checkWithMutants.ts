import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import type { OpenInstance } from '../instance/openInstance';
import { commandIds } from '../shell/names';
import { withNotification } from '../shell/withNotification';
import { currentVerdict } from '../verdict/currentVerdict';
import { mutantSentences } from './mutantTexts';

/**
 * Runs the candidate of the workspace on mutants of X*, and tells how many it kills. Asks before it
 * reveals the golden patch, which the mutants are made of. Runs the candidate first if the last
 * verdict is not about the current workspace.
 *
 * @throws HumanError when there is no candidate, it cannot run, or no mutants can be made
 */
export async function checkWithMutants(open: OpenInstance, reporter: Reporter): Promise<void> {
  const title = vscode.l10n.t('Check Candidate with Mutants');
  if (!(await open.reveal(title))) return;
  const evaluated = await currentVerdict(open, reporter, {
    title: vscode.l10n.t('Running the candidate before its mutants'),
    complete: false,
  });
  if (evaluated === undefined) return;
  const found = await withNotification(
    vscode.l10n.t('Running the candidate on mutants of the golden patch'),
    reporter,
    (shown, signal) => open.runs.onMutants(evaluated, { reporter: shown, signal }),
  );
  if (found === undefined) return;
  if ('failure' in found) {
    throw new HumanError(
      vscode.l10n.t('No mutants can be made: {0}', found.failure),
      vscode.l10n.t('Run "SWT-Bench: Validate" on the instance'),
    );
  }
  const told = mutantSentences(vscode.l10n, found, evaluated.result.strict.failToPass).join(' ');
  const show = vscode.l10n.t('Show Mutants…');
  // Not awaited: the command ends when the mutants have run.
  void vscode.window.showInformationMessage(told, show).then((chosen) => {
    if (chosen === show) void vscode.commands.executeCommand(commandIds.showMutants);
  });
}
