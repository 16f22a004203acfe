import * as vscode from 'vscode';
import type { CandidateTests, ListedFile, ListedTest } from './candidateTests';
import { inlineLook, type InlineLook } from './inlineLook';
import { affectsLenses, lensesAreOn } from './testLenses';
import { colourOfTone, tones, type Tone } from './transitionLook';
import type { TestsUnderWay } from './testsUnderWay';
import type { InstanceSource, LatestVerdict } from '../instance/instanceRoles';

/**
 * Draws the transition of every candidate test after its definition: letters and words, so that
 * nothing depends on colour. A result that is outdated by an edit says so.
 */
export class InlineResults implements vscode.Disposable {
  private readonly types: Readonly<Record<Tone, vscode.TextEditorDecorationType>>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly open: InstanceSource & LatestVerdict,
    private readonly tests: CandidateTests,
    private readonly underWay: TestsUnderWay,
  ) {
    const type = (tone: Tone): vscode.TextEditorDecorationType =>
      vscode.window.createTextEditorDecorationType({
        after: {
          margin: '0 0 0 2em',
          color: new vscode.ThemeColor(colourOfTone[tone]),
          fontStyle: tone === 'stale' ? 'italic' : 'normal',
        },
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      });
    this.types = {
      good: type('good'),
      bad: type('bad'),
      neutral: type('neutral'),
      stale: type('stale'),
    };
    const draw = (): void => this.draw();
    this.subscriptions = [
      ...Object.values(this.types),
      open.onDidChange(draw),
      tests.onDidChange(draw),
      underWay.onDidChange(draw),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (affectsLenses(event)) draw();
      }),
      vscode.window.onDidChangeVisibleTextEditors(draw),
    ];
    draw();
  }

  private draw(): void {
    const listed = this.tests.list();
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri } = editor.document;
      const file = listed.find((each) => each.uri.toString() === uri.toString());
      if (file === undefined && uri.scheme !== this.open.folder.uri.scheme) continue;
      const drawn = file === undefined ? undefined : this.textsOf(file, editor.document);
      for (const tone of tones) editor.setDecorations(this.types[tone], drawn?.[tone] ?? []);
    }
  }

  private textsOf(
    file: ListedFile,
    document: vscode.TextDocument,
  ): Readonly<Record<Tone, readonly vscode.DecorationOptions[]>> {
    const drawn: Record<Tone, vscode.DecorationOptions[]> = {
      good: [],
      bad: [],
      neutral: [],
      stale: [],
    };
    const hasLens = lensesAreOn(file.uri);
    for (const test of file.tests) {
      if (test.defLine > document.lineCount) continue;
      const { range } = document.lineAt(test.defLine - 1);
      const found = this.lookOf(test, hasLens, range.end.character);
      if (found === undefined) continue;
      drawn[found.tone].push({
        range,
        renderOptions: { after: { contentText: found.text } },
      });
    }
    return drawn;
  }

  private lookOf(
    test: ListedTest,
    lensesAreShown: boolean,
    column: number,
  ): InlineLook | undefined {
    const { soFar, last } = this.open;
    return inlineLook(test, {
      known: this.open.casesOf(test.id),
      strict: soFar === undefined ? last?.result.strict : soFar.first.strict,
      underWay: this.underWay.of(test.id),
      lensesAreShown,
      column,
    });
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}
