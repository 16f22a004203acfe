import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import type { EngineDescriptor } from '../../engine/sandbox';
import { engineNamed, settingGroups } from '../../engine/engines';
import { checkStorage } from '../../files/checkStorage';
import { distOf } from '../instance/warmSession';
import { windowConfiguration } from './configurationFile';
import { messageInEditor } from './inTermsOfSettings';
import { contextKeys, settingKeys } from './names';
import { onPythonChosen } from './pythonExtension';
import { engineSettings, storageFolder } from './settings';
import { withShellPython } from './shellPython';

/**
 * What prevents tests from running: no Python for the local engine, no container engine for docker,
 * or no storage folder for any.
 */
export interface EngineProblem {
  readonly missing: 'storage' | NonNullable<EngineDescriptor['missing']>;
  /** What was tried and what to do, as text for the user. */
  readonly text: string;
}

/**
 * Checks in advance whether the engine is available, so that views can say what is missing before a
 * run fails.
 */
export class EngineReadiness implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];
  private readonly abort = new AbortController();
  private found: EngineProblem | undefined;
  private turn = 0;

  constructor(
    private readonly scope: vscode.Uri,
    private readonly extension: string,
    private readonly reporter: Reporter,
  ) {
    const again = (): void => void this.check();
    const ofEngines = settingGroups().flatMap(({ all }) => all.map(({ id }) => id));
    const keys = [settingKeys.engine, settingKeys.storage, ...ofEngines];
    this.subscriptions = [
      this.changed,
      onPythonChosen(again),
      windowConfiguration.onDidChange(again),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (keys.some((key) => event.affectsConfiguration(key, scope))) again();
      }),
      vscode.window.onDidChangeWindowState((state) => {
        // The user may be back from installing or starting what was missing.
        if (state.focused && this.found !== undefined) again();
      }),
    ];
  }

  /** What is missing, by the last check. */
  get problem(): EngineProblem | undefined {
    return this.found;
  }

  /** Checks the engine and updates the views. Never rejects. */
  async check(): Promise<void> {
    const turn = ++this.turn;
    const problem = await this.look();
    if (turn !== this.turn || this.abort.signal.aborted) return;
    if (problem?.text === this.found?.text) return;
    if (problem !== undefined) this.reporter.log(problem.text);
    this.found = problem;
    await vscode.commands.executeCommand(
      'setContext',
      contextKeys.engineProblem,
      problem?.missing ?? '',
    );
    this.changed.fire();
  }

  private async look(): Promise<EngineProblem | undefined> {
    let missing: EngineProblem['missing'] = 'storage';
    try {
      const storage = storageFolder();
      await checkStorage(storage);
      missing = 'python';
      const settings = await withShellPython(engineSettings(this.scope));
      const descriptor = engineNamed(settings.name);
      missing = descriptor?.missing ?? missing;
      const { signal } = this.abort;
      await descriptor?.ready?.({ ...settings, storage, assets: distOf(this.extension), signal });
      return undefined;
    } catch (error) {
      return { missing, text: messageInEditor(error) };
    }
  }

  dispose(): void {
    this.abort.abort();
    for (const each of this.subscriptions) each.dispose();
  }
}
