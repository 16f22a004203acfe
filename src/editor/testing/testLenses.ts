import * as vscode from 'vscode';
import type { InstanceSource } from '../instance/instanceRoles';
import { settingKeys } from '../shell/names';
import type { CandidateTests } from './candidateTests';
import { lensLooks, placesOfLenses } from './lensLooks';

/**
 * The lenses *Reproduce · R · R∘X\* · Debug* above each test of the candidate, unless the setting
 * disables them.
 */
export class TestLenses implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: readonly vscode.Disposable[];
  /** Positions of the lenses. Typing within a test does not move them. */
  private placed = '';

  constructor(
    open: InstanceSource,
    private readonly tests: CandidateTests,
  ) {
    const selector = {
      scheme: open.folder.uri.scheme,
      pattern: new vscode.RelativePattern(open.folder, '**/*.py'),
    };
    this.subscriptions = [
      this.changed,
      tests.onDidChange(() => this.place()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(settingKeys.codeLens)) this.changed.fire();
      }),
      vscode.languages.registerCodeLensProvider(selector, {
        onDidChangeCodeLenses: this.changed.event,
        provideCodeLenses: ({ uri }) => this.lensesOf(uri),
      }),
    ];
  }

  private place(): void {
    const places = placesOfLenses(this.tests.list());
    if (places === this.placed) return;
    this.placed = places;
    this.changed.fire();
  }

  private lensesOf(uri: vscode.Uri): vscode.CodeLens[] {
    if (!isOn(uri)) return [];
    const file = this.tests.list().find((each) => each.uri.toString() === uri.toString());
    return lensLooks(vscode.l10n, file?.tests ?? []).map(
      ({ line, title, tooltip, command, test }) =>
        new vscode.CodeLens(new vscode.Range(line - 1, 0, line - 1, 0), {
          title,
          tooltip,
          command,
          arguments: [test],
        }),
    );
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

const isOn = (scope: vscode.Uri): boolean =>
  vscode.workspace.getConfiguration(undefined, scope).get(settingKeys.codeLens) !== false;
