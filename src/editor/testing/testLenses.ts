import * as vscode from 'vscode';
import type { InstanceSource, LatestVerdict } from '../instance/instanceRoles';
import { settingKeys } from '../shell/names';
import type { CandidateTests } from './candidateTests';
import { lensLooks, lostTestsLens, type LensLook } from './inlineLook';
import type { TestsUnderWay } from './testsUnderWay';

/**
 * The lenses *✓ F→P · Reproduce · R · R∘X\* · Debug* above each test of the candidate, unless a
 * setting disables them.
 */
export class TestLenses implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: readonly vscode.Disposable[];
  /** The lenses as a text. Typing within a test changes none of them. */
  private shown = '';

  constructor(
    private readonly open: InstanceSource & LatestVerdict,
    private readonly tests: CandidateTests,
    private readonly underWay: TestsUnderWay,
  ) {
    const selector = {
      scheme: open.folder.uri.scheme,
      pattern: new vscode.RelativePattern(open.folder, '**/*.py'),
    };
    const refresh = (): void => this.refresh();
    this.subscriptions = [
      this.changed,
      tests.onDidChange(refresh),
      open.onDidChange(refresh),
      underWay.onDidChange(refresh),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (affectsLenses(event)) this.changed.fire();
      }),
      vscode.languages.registerCodeLensProvider(selector, {
        onDidChangeCodeLenses: this.changed.event,
        provideCodeLenses: ({ uri }) => this.lensesOf(uri),
      }),
    ];
  }

  private refresh(): void {
    const shown = JSON.stringify(
      this.tests.list().map(({ path, tests }) => [this.lostIn(path), this.looksOf(tests)]),
    );
    if (shown === this.shown) return;
    this.shown = shown;
    this.changed.fire();
  }

  private looksOf(tests: Parameters<typeof lensLooks>[0]): LensLook[] {
    return lensLooks(tests, {
      casesOf: (test) => this.open.casesOf(test),
      underWay: (test) => this.underWay.of(test),
    });
  }

  private lostIn(path: string): Omit<LensLook, 'test'> | undefined {
    return lostTestsLens(path, this.open.last?.result.findings ?? []);
  }

  private lensesOf(uri: vscode.Uri): vscode.CodeLens[] {
    if (!lensesAreOn(uri)) return [];
    const file = this.tests.list().find((each) => each.uri.toString() === uri.toString());
    if (file === undefined) return [];
    const lost = this.lostIn(file.path);
    return [...(lost === undefined ? [] : [lost]), ...this.looksOf(file.tests)].map(
      ({ line, title, tooltip, command, ...of }) =>
        new vscode.CodeLens(new vscode.Range(line - 1, 0, line - 1, 0), {
          title,
          tooltip,
          command,
          arguments: 'test' in of ? [of.test] : [],
        }),
    );
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/** VS Code's own setting, which hides the lenses of every extension. */
const editorCodeLens = 'editor.codeLens';

/** Whether a file shows lenses. */
export const lensesAreOn = (scope: vscode.Uri): boolean => {
  const set = vscode.workspace.getConfiguration(undefined, scope);
  return set.get(settingKeys.codeLens) !== false && set.get(editorCodeLens) !== false;
};

export const affectsLenses = (event: vscode.ConfigurationChangeEvent): boolean =>
  event.affectsConfiguration(settingKeys.codeLens) || event.affectsConfiguration(editorCodeLens);
