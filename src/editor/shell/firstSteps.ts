import * as vscode from 'vscode';
import type { CandidateTests } from '../testing/candidateTests';
import { contextKeys, walkthrough } from './names';
import type { LatestVerdict } from '../instance/instanceRoles';

/** What the manifest says of a walkthrough, as far as it is used here. */
interface Walkthrough {
  readonly steps: readonly { readonly id: string; readonly completionEvents: readonly string[] }[];
}

/**
 * Says by context keys how far the author is: the steps of the walkthrough are completed by them.
 * VS Code ticks a step off when its key becomes true while walkthroughs are loaded, which they are
 * with the first that is shown; what was done before that is ticked off when ours is shown.
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

  /** Opens the walkthrough. */
  async show(): Promise<void> {
    const { contributes } = this.extension.packageJSON as {
      contributes: { walkthroughs: readonly Walkthrough[] };
    };
    for (const step of contributes.walkthroughs.flatMap((each) => each.steps)) {
      const keys = step.completionEvents.map((event) => event.replace(/^onContext:/, ''));
      if (!keys.some((key) => this.told.get(key) === true)) continue;
      // It is no harm where this VS Code cannot: the step is there to be done again.
      await vscode.commands
        .executeCommand('welcome.markStepComplete', `${walkthrough}#${step.id}`)
        .then(undefined, () => undefined);
    }
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', walkthrough, false);
  }
}
