import * as vscode from 'vscode';
import { sides, type Side } from '../domain/outcome';
import type { TestTransition, Transition } from '../domain/transition';
import type { CandidateTests, ListedTest } from './candidateTests';
import { inlineText, outcomeInWords, tellingCase } from './display';
import type { OpenInstance } from './openInstance';

type Tone = 'good' | 'bad' | 'neutral' | 'stale';

/** Colours that themes define for test results, so that they fit light, dark and high contrast. */
const colours: Readonly<Record<Tone, string>> = {
  good: 'testing.iconPassed',
  bad: 'testing.iconFailed',
  neutral: 'editorCodeLens.foreground',
  stale: 'editorCodeLens.foreground',
};

/**
 * Draws the transition of every candidate test after its definition: symbol, letters and words, so
 * that nothing depends on colour. Texts that are no longer about the code beside them say so.
 */
export class InlineResults implements vscode.Disposable {
  private readonly types: Readonly<Record<Tone, vscode.TextEditorDecorationType>>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly open: OpenInstance,
    private readonly tests: CandidateTests,
  ) {
    const type = (tone: Tone): vscode.TextEditorDecorationType =>
      vscode.window.createTextEditorDecorationType({
        after: {
          margin: '0 0 0 2em',
          color: new vscode.ThemeColor(colours[tone]),
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
      vscode.window.onDidChangeVisibleTextEditors(draw),
    ];
  }

  private draw(): void {
    if (this.open.last === undefined && this.open.soFar === undefined) return;
    const listed = this.tests.list();
    for (const editor of vscode.window.visibleTextEditors) {
      const file = listed.find((each) => each.uri.toString() === editor.document.uri.toString());
      if (file === undefined) {
        if (editor.document.uri.scheme === this.open.folder.uri.scheme) {
          for (const type of Object.values(this.types)) editor.setDecorations(type, []);
        }
        continue;
      }
      const drawn: Record<Tone, vscode.DecorationOptions[]> = {
        good: [],
        bad: [],
        neutral: [],
        stale: [],
      };
      for (const test of file.tests) {
        const { cases, text: ranAs } = this.open.casesOf(test.id);
        const telling = tellingCase(cases);
        const text = inlineText(cases);
        if (text === undefined || telling === undefined) continue;
        if (test.status === 'kept' && telling.transition === 'P→P') continue;
        const stale = ranAs !== test.text;
        const tone = stale ? 'stale' : toneOf(telling.transition);
        const line = test.defLine - 1;
        if (line >= editor.document.lineCount) continue;
        drawn[tone].push({
          range: editor.document.lineAt(line).range,
          renderOptions: {
            after: { contentText: stale ? `${text}  · edited since, run again` : text },
          },
          hoverMessage: hover(test, cases),
        });
      }
      for (const tone of Object.keys(drawn) as Tone[]) {
        editor.setDecorations(this.types[tone], drawn[tone]);
      }
    }
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

function toneOf(transition: Transition): Tone {
  if (transition === 'F→P') return 'good';
  return transition.includes('F') ? 'bad' : 'neutral';
}

/** Both outcomes with the failure. Texts of tests go into code blocks, where markup has no meaning. */
function hover(test: ListedTest, cases: readonly TestTransition[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  for (const each of cases.slice(0, 8)) {
    if (cases.length > 1) markdown.appendCodeblock(each.test.slice(test.id.length), 'text');
    for (const side of sides) appendOutcome(markdown, side, each);
  }
  if (cases.length > 8) markdown.appendText(`and ${cases.length - 8} more cases`);
  return markdown;
}

function appendOutcome(markdown: vscode.MarkdownString, side: Side, each: TestTransition): void {
  const result = each[side];
  markdown.appendText(`${outcomeInWords(side, result)}\n\n`);
  const failure = result.details ?? result.message;
  if (failure !== undefined && (result.outcome === 'failed' || result.outcome === 'error')) {
    markdown.appendCodeblock(failure.slice(0, 2000), 'text');
  }
}
