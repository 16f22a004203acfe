import * as vscode from 'vscode';
import { lineStates, type CoveredLine, type LineState } from '../domain/changeCoverage';
import { sideName } from '../domain/outcome';
import { stateSymbol } from './display';
import { sideOfUri } from './documents';
import type { OpenInstance } from './openInstance';

/** File names in media/gutter/, one for light and one for dark themes each. */
const icons: Readonly<Record<LineState, string>> = {
  'newly covered': 'newly-covered',
  'already covered': 'already-covered',
  missed: 'missed',
  'not executable': 'not-executable',
};

/** Theme colours contributed in package.json. */
const rulerColours: Readonly<Record<LineState, string>> = {
  'newly covered': 'swtBench.newlyCovered',
  'already covered': 'swtBench.alreadyCovered',
  missed: 'swtBench.missed',
  'not executable': 'swtBench.notExecutable',
};

/**
 * The four states of the changed lines, in the gutters of both sides of the golden diff: removed lines
 * on R, added lines on R∘X*.
 */
export class ChangeCoverageGutters implements vscode.Disposable {
  private readonly types: ReadonlyMap<LineState, vscode.TextEditorDecorationType>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly open: OpenInstance,
    extensionUri: vscode.Uri,
  ) {
    const icon = (state: LineState, theme: 'light' | 'dark'): vscode.Uri =>
      vscode.Uri.joinPath(extensionUri, 'media', 'gutter', `${icons[state]}-${theme}.svg`);
    this.types = new Map(
      lineStates.map((state) => [
        state,
        vscode.window.createTextEditorDecorationType({
          light: { gutterIconPath: icon(state, 'light') },
          dark: { gutterIconPath: icon(state, 'dark') },
          gutterIconSize: 'contain',
          ...(state === 'not executable'
            ? {}
            : {
                overviewRulerColor: new vscode.ThemeColor(rulerColours[state]),
                overviewRulerLane: vscode.OverviewRulerLane.Left,
              }),
        }),
      ]),
    );
    const draw = (): void => this.draw();
    this.subscriptions = [
      ...this.types.values(),
      open.onDidChange(draw),
      vscode.window.onDidChangeVisibleTextEditors(draw),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (sideOfUri(event.document.uri) !== undefined) draw();
      }),
    ];
  }

  private draw(): void {
    const lines = this.open.revealed ? (this.open.last?.result.changeCoverage?.lines ?? []) : [];
    for (const editor of vscode.window.visibleTextEditors) {
      const file = sideOfUri(editor.document.uri);
      if (file === undefined) continue;
      const change = file.side === 'base' ? 'removed' : 'added';
      const here = lines.filter(
        (line) =>
          line.change === change &&
          line.path === file.path &&
          line.line <= editor.document.lineCount,
      );
      for (const [state, type] of this.types) {
        editor.setDecorations(
          type,
          here
            .filter((line) => line.state === state)
            .map((line) => ({
              range: editor.document.lineAt(line.line - 1).range,
              hoverMessage: describe(line),
            })),
        );
      }
    }
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

function describe(line: CoveredLine): vscode.MarkdownString {
  const side = sideName[line.change === 'removed' ? 'base' : 'fixed'];
  const markdown = new vscode.MarkdownString();
  markdown.appendText(`${stateSymbol[line.state]} ${line.state} (${explanation[line.state]})\n\n`);
  markdown.appendText(
    `Executions on ${side}: base tests ${line.counts.base}, candidate ${line.counts.candidate}, golden tests ${line.counts.golden}`,
  );
  if (line.coveredBy.length > 0) {
    markdown.appendCodeblock(line.coveredBy.slice(0, 10).join('\n'), 'text');
  }
  return markdown;
}

const explanation: Readonly<Record<LineState, string>> = {
  'newly covered': 'the candidate runs it more than the base tests do',
  'already covered': 'the base tests run it, the candidate does not add to that',
  missed: 'the golden tests run it, the candidate does not',
  'not executable': 'neither the base tests nor the golden tests run it',
};
