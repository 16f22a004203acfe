import * as vscode from 'vscode';
import type { CandidateTests } from './candidateTests';
import type { InstanceSource, LatestVerdict } from '../instance/instanceRoles';
import { uriInside } from './testMessages';
import { testProblemFixes, testProblemLooks, type TestProblemLook } from './testProblemLooks';

const source = 'SWT-Bench';

/**
 * Hints on candidate tests that do not reproduce the issue, or that fail on R for an apparently
 * unrelated reason. Each says what to do, and disappears as soon as its test is edited.
 */
export class TestProblems implements vscode.Disposable {
  private readonly hints = vscode.languages.createDiagnosticCollection('swt-bench-tests');
  private readonly subscriptions: readonly vscode.Disposable[];
  /** The shown hints of each file, so that typing does not set the same ones again. */
  private readonly shown = new Map<string, string>();

  constructor(
    private readonly open: InstanceSource & LatestVerdict,
    private readonly tests: CandidateTests,
  ) {
    const draw = (): void => this.draw();
    const selector = {
      scheme: open.folder.uri.scheme,
      pattern: new vscode.RelativePattern(open.folder, '**/*.py'),
    };
    this.subscriptions = [
      this.hints,
      open.onDidChange(draw),
      tests.onDidChange(draw),
      vscode.languages.registerCodeActionsProvider(
        selector,
        { provideCodeActions: (_document, _range, { diagnostics }) => this.actions(diagnostics) },
        { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
      ),
    ];
    draw();
  }

  private draw(): void {
    const gone = new Set(this.shown.keys());
    for (const file of this.tests.list()) {
      const looks = testProblemLooks(file.tests, {
        casesOf: (test) => this.open.casesOf(test),
        isInside: (path) => uriInside(this.open.folder, path) !== undefined,
      });
      if (looks.length === 0) continue;
      const uri = file.uri.toString();
      gone.delete(uri);
      const key = JSON.stringify(looks);
      if (this.shown.get(uri) === key) continue;
      this.shown.set(uri, key);
      this.hints.set(
        file.uri,
        looks.map((look) => this.diagnosticOf(look)),
      );
    }
    for (const uri of gone) {
      this.shown.delete(uri);
      this.hints.delete(vscode.Uri.parse(uri));
    }
  }

  private diagnosticOf({ line, from, to, message, code, related }: TestProblemLook) {
    const diagnostic = new vscode.Diagnostic(
      new vscode.Range(line - 1, from, line - 1, to),
      message,
      vscode.DiagnosticSeverity.Hint,
    );
    diagnostic.source = source;
    diagnostic.code = code;
    const uri = related === undefined ? undefined : uriInside(this.open.folder, related.place.path);
    if (related !== undefined && uri !== undefined) {
      const place = new vscode.Location(uri, new vscode.Position(related.place.line - 1, 0));
      diagnostic.relatedInformation = [
        new vscode.DiagnosticRelatedInformation(place, related.message),
      ];
    }
    return diagnostic;
  }

  private actions(diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
    const mine = diagnostics.filter((each) => each.source === source);
    if (mine.length === 0) return [];
    return testProblemFixes().map(({ title, command }) => {
      const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      action.diagnostics = mine;
      action.command = { title, command, arguments: [this.testOf(mine)] };
      return action;
    });
  }

  /** Id of the test that the first diagnostic is about. */
  private testOf(diagnostics: readonly vscode.Diagnostic[]): string | undefined {
    const line = diagnostics[0]?.range.start.line;
    const editor = vscode.window.activeTextEditor?.document.uri.toString();
    return this.tests
      .list()
      .find((file) => file.uri.toString() === editor)
      ?.tests.find((test) => test.defLine - 1 === line)?.id;
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}
