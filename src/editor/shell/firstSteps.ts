import * as vscode from 'vscode';
import type { CandidateTests } from '../testing/candidateTests';
import { contextKeys, walkthrough } from './names';
import type { LatestVerdict } from '../instance/instanceRoles';

/** The part of a walkthrough's manifest that this file reads. */
interface Walkthrough {
  readonly steps: readonly { readonly id: string; readonly completionEvents: readonly string[] }[];
}

/**
 * Sets context keys for the author's progress, which complete the steps of the walkthrough. VS Code
 * completes a step when its key becomes true while walkthroughs are loaded. The first one shown
 * loads them all; earlier progress is marked when this one is shown.
 */
export class FirstSteps {
  private readonly told = new Map<string, boolean>();

  constructor(private readonly extension: vscode.Extension<unknown>) {}

  async tell(key: string, value = true): Promise<void> {
    if ((this.told.get(key) ?? false) === value) return;
    this.told.set(key, value);
    await vscode.commands.executeCommand('setContext', key, value);
  }

  /** Follows the candidate of an instance. */
  follow(open: LatestVerdict, tests: CandidateTests): vscode.Disposable {
    const tell = (): void => {
      const files = tests.list();
      const isWritten = files.some((file) => file.tests.some((test) => test.status !== 'kept'));
      void this.tell(contextKeys.candidateWritten, isWritten);
      void this.tell(contextKeys.candidateReproduces, open.last?.result.strict.success === true);
    };
    tell();
    return vscode.Disposable.from(open.onDidChange(tell), tests.onDidChange(tell));
  }

  /** Opens the walkthrough, with the steps done so far completed. */
  async show(): Promise<void> {
    const { contributes } = this.extension.packageJSON as {
      contributes: { walkthroughs: readonly Walkthrough[] };
    };
    for (const step of contributes.walkthroughs.flatMap((each) => each.steps)) {
      const keys = step.completionEvents.map((event) => event.replace(/^onContext:/, ''));
      if (!keys.some((key) => this.told.get(key) === true)) continue;
      // A VS Code without this command only leaves the step to be done again.
      await vscode.commands
        .executeCommand('welcome.markStepComplete', `${walkthrough}#${step.id}`)
        .then(undefined, () => undefined);
    }
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', walkthrough, false);
  }
}
