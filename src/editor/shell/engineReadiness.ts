import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { connect } from '../../engine/docker/connection/connect';
import { containerEngine, runsInContainers } from '../../engine/engine';
import { fittingPython } from '../../engine/local/fittingEngine';
import { findPython } from '../../engine/local/python';
import { checkStorage } from '../../files/checkStorage';
import { distOf } from '../instance/warmSession';
import { dockerSettingKeys } from './settingNames/dockerSettingKeys';
import { messageInEditor } from './settingNames/inTermsOfSettings';
import { contextKeys, settingKeys } from './names';
import { onPythonChosen } from './pythonExtension';
import { engineSettings, storageFolder } from './settings';
import { withShellPython } from './shellPython';

/**
 * What prevents tests from running: no Python for the local engine, no container engine for docker,
 * or no storage folder for any.
 */
export interface EngineProblem {
  readonly missing: 'python' | 'storage' | typeof containerEngine;
  /** What was tried and what to do, as text for a person. */
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
    const keys = [
      ...[settingKeys.engine, settingKeys.python, settingKeys.storage],
      dockerSettingKeys.host,
    ];
    this.subscriptions = [
      this.changed,
      onPythonChosen(again),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (keys.some((key) => event.affectsConfiguration(key, scope))) again();
      }),
      vscode.window.onDidChangeWindowState((state) => {
        // The person may be back from installing or starting what was missing.
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
      await checkStorage(storageFolder());
      missing = 'python';
      const { name, python, docker } = await withShellPython(engineSettings(this.scope));
      // A cluster is asked only when tests run: it may want somebody to log in.
      if (name === 'kubernetes') return undefined;
      if (runsInContainers(name)) {
        missing = containerEngine;
        const { signal } = this.abort;
        await (await connect({ host: docker.host, signal })).close();
      } else if (python !== fittingPython) {
        await findPython(python, join(distOf(this.extension), 'tracer'));
      }
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
