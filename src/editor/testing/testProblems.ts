import * as vscode from 'vscode';
import { failureFrameInCode } from '../../evaluation/hints/failureFrames';
import { hintOn, tellingCase } from '../../evaluation/hints/testHints';
import type { CandidateTests, ListedFile, ListedTest } from './candidateTests';
import { isFresh } from '../verdict/evaluated';
import { inlineCommandIds } from '../shell/names';
import type { InstanceSource, LatestVerdict } from '../instance/instanceRoles';
import { hintInWords } from './hintInWords';
import { uriInside } from './testMessages';

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
      const found = this.hintsIn(file);
      if (found.length === 0) continue;
      const uri = file.uri.toString();
      gone.delete(uri);
      const key = JSON.stringify(found);
      if (this.shown.get(uri) === key) continue;
      this.shown.set(uri, key);
      this.hints.set(file.uri, found);
    }
    for (const uri of gone) {
      this.shown.delete(uri);
      this.hints.delete(vscode.Uri.parse(uri));
    }
  }

  private hintsIn(file: ListedFile): vscode.Diagnostic[] {
    return file.tests.flatMap((test) => {
      if (test.status === 'kept') return [];
      const known = this.open.casesOf(test.id);
      const { cases } = known;
      const hint = isFresh(known, test) ? hintOn(cases) : undefined;
      if (hint === undefined) return [];
      const diagnostic = new vscode.Diagnostic(
        rangeOfName(test),
        hintInWords(vscode.l10n, hint),
        vscode.DiagnosticSeverity.Hint,
      );
      diagnostic.source = source;
      diagnostic.code = hint.kind;
      const telling = tellingCase(cases);
      const frame = telling === undefined ? undefined : failureFrameInCode(telling.base);
      const uri = frame === undefined ? undefined : uriInside(this.open.folder, frame.path);
      if (frame !== undefined && uri !== undefined) {
        const place = new vscode.Location(uri, new vscode.Position(frame.line - 1, 0));
        diagnostic.relatedInformation = [
          new vscode.DiagnosticRelatedInformation(place, vscode.l10n.t('failed here on R')),
        ];
      }
      return [diagnostic];
    });
  }

  private actions(diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
    const mine = diagnostics.filter((each) => each.source === source);
    if (mine.length === 0) return [];
    const action = (title: string, command: string): vscode.CodeAction => {
      const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      made.diagnostics = mine;
      made.command = { title, command, arguments: [this.testOf(mine)] };
      return made;
    };
    return [
      action(vscode.l10n.t('Show Outputs of Both Sides'), inlineCommandIds.showOutputs),
      action(vscode.l10n.t('Debug Test on R'), inlineCommandIds.debugOnR),
    ];
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

function rangeOfName({ defLine, column, name, text }: ListedTest): vscode.Range {
  const definition = /^\s*(?:async\s+)?def\s+/m.exec(text)?.[0].trimStart().length ?? 0;
  const start = column + definition;
  return new vscode.Range(defLine - 1, start, defLine - 1, start + name.length);
}
