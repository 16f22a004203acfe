import { homedir } from 'node:os';
import { resolve } from 'node:path';
import * as vscode from 'vscode';
import type { Configuration } from '../../configuration/configuration';
import { findConfigurationFile } from '../../configuration/configurationFile';
import { HumanError, messageOf } from '../../domain/work';
import { expandHome } from '../../files/expandHome';
import { settingKeys } from './names';

/** @throws HumanError naming file, line and key of a fault */
type Read = (path: string) => Promise<Configuration>;

/**
 * The configuration file of this window, as the command line reads it: that of the setting, else the
 * nearest `swt.yaml` above the workspace. A setting that a person has set counts before it.
 */
class WindowConfiguration {
  private read: Configuration | undefined;
  private fault: HumanError | undefined;
  private last: Promise<void> = Promise.resolve();
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when other values count than before. */
  readonly onDidChange = this.changed.event;

  /** Resolves once the file is read. Never rejects. */
  get loaded(): Promise<void> {
    return this.last;
  }

  /**
   * Reads the file, and again whenever it may be another one.
   *
   * @param read reads a file, since most windows have none and need not load what reads it
   * @param tell gets a fault of the file once
   */
  follow(read: Read, tell: (fault: HumanError) => void): vscode.Disposable {
    const again = (): void => void (this.last = this.last.then(() => this.load(read, tell)));
    again();
    return vscode.Disposable.from(
      vscode.workspace.onDidGrantWorkspaceTrust(again),
      vscode.workspace.onDidChangeWorkspaceFolders(again),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (/\.ya?ml$/.test(uri.path)) again();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(settingKeys.configurationFile)) again();
      }),
      // Another program may have changed it.
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) again();
      }),
    );
  }

  private async load(read: Read, tell: (fault: HumanError) => void): Promise<void> {
    const state = (): string => JSON.stringify([this.read?.values, this.fault?.message]);
    const [before, told] = [state(), this.fault?.message];
    try {
      const path = await pathOfFile();
      this.read = path === undefined ? undefined : await read(path);
      this.fault = undefined;
    } catch (error) {
      this.read = undefined;
      this.fault = error instanceof HumanError ? error : new HumanError(messageOf(error));
      if (this.fault.message !== told) tell(this.fault);
    }
    if (state() !== before) this.changed.fire();
  }

  /** @throws HumanError naming file, line and key of a fault */
  check(): void {
    if (this.fault !== undefined) throw this.fault;
  }

  /** The values of the file; none where there is no file, or a faulty one. */
  get values(): Configuration['values'] {
    return this.read?.values ?? {};
  }

  /** What the file says of a key; undefined where it says nothing, or a variable counts before it. */
  at(...path: readonly string[]): unknown {
    const found = this.read?.at(...path);
    return found?.source === 'file' ? found.value : undefined;
  }

  /** The value of a setting: what a person has set, else what the file says, else the default. */
  setting(key: string, path: readonly string[], scope?: vscode.Uri): unknown {
    const settings = vscode.workspace.getConfiguration(undefined, scope);
    const { globalValue, workspaceValue, workspaceFolderValue } = settings.inspect(key) ?? {};
    const isSet = [globalValue, workspaceValue, workspaceFolderValue].some(
      (value) => value !== undefined,
    );
    return isSet ? settings.get(key) : (this.at(...path) ?? settings.get(key));
  }
}

const place = Symbol.for('swt-bench.windowConfiguration');

/** The configuration file of this window. The bundles of the extension have one in common. */
export const windowConfiguration = ((
  globalThis as unknown as Record<symbol, WindowConfiguration | undefined>
)[place] ??= new WindowConfiguration());

/** @throws HumanError when the nearest file belongs to another user */
async function pathOfFile(): Promise<string | undefined> {
  // It decides where requests with keys go.
  if (!vscode.workspace.isTrusted) return undefined;
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.configurationFile);
  const path = typeof set === 'string' ? expandHome(set.trim()) : '';
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
  if (path !== '') return resolve(folder?.uri.fsPath ?? homedir(), path);
  return folder && findConfigurationFile(folder.uri.fsPath);
}
