import * as vscode from 'vscode';
import { asLabel } from '../../domain/text';
import { HumanError } from '../../domain/work';
import { contextKeys, trustCommand, viewIds } from './names';

/**
 * Opens an instance only once its workspace is trusted. Until then no git, no Python and no engine
 * runs in the workspace, and nothing that its marker names is opened or requested. Its files are
 * only text.
 */
export class WorkspaceTrust implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[] = [];
  private waiting: string | undefined;

  /**
   * Does the work once the workspace is trusted, which may be now. Until then the status bar and a
   * view say what waits.
   *
   * @param id of the instance that is to be opened
   * @param work never rejects
   */
  whenGranted(id: string, work: () => Promise<void>): Promise<void> {
    if (vscode.workspace.isTrusted) return work();
    this.waiting = asLabel(id);
    const item = waitingItem(id);
    void showWhy();
    const granted = vscode.workspace.onDidGrantWorkspaceTrust(() => {
      this.dispose();
      this.waiting = undefined;
      void tell(contextKeys.untrusted, false);
      // Views keep their layout until the instance is open: VS Code gives the room of views that go
      // to the first one.
      void work().finally(() => void tell(contextKeys.expected, false));
    });
    this.subscriptions.push(item, granted);
    return Promise.resolve();
  }

  /**
   * Why no instance is open.
   *
   * @returns an error for the user
   */
  whyNoInstance(): HumanError {
    return this.waiting === undefined
      ? new HumanError(
          vscode.l10n.t('No instance is open'),
          vscode.l10n.t('Open one from the Instances view first'),
        )
      : new HumanError(
          vscode.l10n.t(
            'The workspace of {0} is not trusted, so nothing in it runs or is opened',
            this.waiting,
          ),
          vscode.l10n.t('Trust it first'),
        );
  }

  dispose(): void {
    for (const each of this.subscriptions.splice(0)) each.dispose();
  }
}

/** The status-bar item that replaces the verdict until the workspace is trusted. */
function waitingItem(id: string): vscode.StatusBarItem {
  const item = vscode.window.createStatusBarItem(
    'swt-bench.untrusted',
    vscode.StatusBarAlignment.Left,
    10,
  );
  item.name = vscode.l10n.t('SWT-Bench trust');
  item.text = `$(shield) ${vscode.l10n.t('SWT-Bench: not trusted')}`;
  item.tooltip = vscode.l10n.t(
    '{0} opens when you trust this workspace. Until then, nothing in it runs, not even git. Click to manage trust.',
    asLabel(id),
  );
  item.command = trustCommand;
  item.show();
  return item;
}

/** Shows the view that says what waits, since VS Code's own note on trust says nothing of it. */
async function showWhy(): Promise<void> {
  await Promise.all([tell(contextKeys.untrusted, true), tell(contextKeys.expected, true)]);
  await vscode.commands.executeCommand(`${viewIds.instance}.focus`, { preserveFocus: true });
}

const tell = (key: string, is: boolean): Thenable<unknown> =>
  vscode.commands.executeCommand('setContext', key, is);

/**
 * In an untrusted workspace no text goes to a model, and no code runs.
 *
 * @throws HumanError in a workspace that is not trusted
 */
export function refuseUntrusted(): void {
  if (vscode.workspace.isTrusted) return;
  throw new HumanError(
    vscode.l10n.t('This workspace is not trusted, so models cannot work on it'),
    vscode.l10n.t('Trust it first'),
  );
}
