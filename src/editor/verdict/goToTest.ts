import * as vscode from 'vscode';
import { fileOf, functionOf } from '../../domain/testId';
import { HumanError } from '../../domain/work';
import { findTests } from '../../python/tests';
import type { InstanceSource } from '../instance/instanceRoles';
import { uriInside } from '../testing/testMessages';

/**
 * Opens a test of the workspace at its definition. An id that stands for a file or a class opens the
 * file.
 *
 * @throws HumanError when the file is gone
 */
export async function goToTest(open: InstanceSource, test: string): Promise<void> {
  const path = fileOf(test);
  const uri = uriInside(open.folder, path);
  const document =
    uri === undefined
      ? undefined
      : await vscode.workspace.openTextDocument(uri).then(
          (found) => found,
          () => undefined,
        );
  if (document === undefined) {
    throw new HumanError(
      vscode.l10n.t('{0} cannot be opened', path),
      vscode.l10n.t('Run "SWT-Bench: Reproduce on R and R∘X*" again: the file is gone since'),
    );
  }
  const name = functionOf(test);
  const found = findTests(await open.python(), document.getText(), { path });
  const line = (found.find(({ id }) => id === name)?.defLine ?? 1) - 1;
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(line, 0, line, 0),
  });
}
