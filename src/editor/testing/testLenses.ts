import * as vscode from 'vscode';
import type { CandidateTests, ListedTest } from './candidateTests';
import { inlineCommandIds, settingKeys } from '../shell/names';
import type { OpenInstance } from '../instance/openInstance';

/** *Reproduce · R · R∘X\* · Debug* above each test of the candidate, unless the setting says no. */
export class TestLenses implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: readonly vscode.Disposable[];
  /** Where the lenses stand; typing within a test does not move them. */
  private placed = '';

  constructor(
    open: OpenInstance,
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
    const places = this.tests
      .list()
      .flatMap((file) => own(file.tests).map((test) => `${test.defLine} ${test.id}`))
      .join('\n');
    if (places === this.placed) return;
    this.placed = places;
    this.changed.fire();
  }

  private lensesOf(uri: vscode.Uri): vscode.CodeLens[] {
    if (!isOn(uri)) return [];
    const file = this.tests.list().find((each) => each.uri.toString() === uri.toString());
    return own(file?.tests ?? []).flatMap((test) => {
      const range = new vscode.Range(test.range.startLine - 1, 0, test.range.startLine - 1, 0);
      const lens = (title: string, tooltip: string, command: string): vscode.CodeLens =>
        new vscode.CodeLens(range, { title, tooltip, command, arguments: [test.id] });
      return [
        lens(
          vscode.l10n.t('Reproduce'),
          vscode.l10n.t('Run this test on R and on R∘X*'),
          inlineCommandIds.reproduce,
        ),
        lens('R', vscode.l10n.t('Run this test on R'), inlineCommandIds.runOnR),
        lens('R∘X*', vscode.l10n.t('Run this test on R∘X*'), inlineCommandIds.runOnFixed),
        lens(
          vscode.l10n.t('Debug'),
          vscode.l10n.t('Debug this test on R'),
          inlineCommandIds.debugOnR,
        ),
      ];
    });
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

const own = (tests: readonly ListedTest[]): readonly ListedTest[] =>
  tests.filter((test) => test.status !== 'kept');

const isOn = (scope: vscode.Uri): boolean =>
  vscode.workspace.getConfiguration(undefined, scope).get(settingKeys.codeLens) !== false;
