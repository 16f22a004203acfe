import * as vscode from 'vscode';
import {
  lineStates,
  type ChangeCoverage,
  type CoveredLine,
  type LineState,
} from '../../domain/changeCoverage';
import type { FilePatch } from '../../patch/parsedPatch';
import type { FilesOfR, InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { sideOfUri, sideUri } from '../shell/documents';
import { scheme } from '../shell/names';
import type { CoverageMarks, Note } from './coverageMarks';
import {
  coveredLineAt,
  documentMarks,
  gutterLook,
  hasGutterOfR,
  placeOnSide,
  type MarkedDocument,
  type PlaceOnSide,
} from './documentMarks';
import { goldenFilesOf } from './goldenDiff';
import { mutantsAt, shownMutants, mutantHoverParts } from './mutantTexts';
import { shownCoverage } from './shownCoverage';
import { WorkspaceLines } from './workspaceLines';
import type { TestedMutant } from '../../mutation/mutantSchema';
import { hoverMarkdown } from '../shell/draw';
import { coverageHoverParts, noteFor, noteHover } from './coverageText';

/** The icon of a state, for one kind of theme. Shapes differ as well as colours. */
export function stateIcon(
  extensionUri: vscode.Uri,
  state: LineState,
  theme: 'light' | 'dark',
): vscode.Uri {
  const file = `${gutterLook[state].icon}-${theme}.svg`;
  return vscode.Uri.joinPath(extensionUri, 'media', 'gutter', file);
}

/** Name of the performance measures of passing marks to VS Code, kept like its own measures. */
const drawingMeasure = 'swt-bench.changeCoverageMarks';

/** What an editor already shows. */
interface Drawn {
  readonly coverage: ChangeCoverage | undefined;
  readonly version: number;
  readonly files: readonly FilePatch[] | undefined;
  readonly map: ReadonlyMap<number, number> | undefined;
  readonly gutterOfR: boolean;
}

/**
 * The four states of the changed lines. In the golden diff they are in both gutters: removed
 * lines on R, added lines on R∘X*. They also are in the files of the workspace, which are R.
 * Counts show on hover.
 */
export class ChangeCoverageGutters implements vscode.Disposable {
  private readonly types: ReadonlyMap<LineState, vscode.TextEditorDecorationType>;
  private readonly noteType: vscode.TextEditorDecorationType;
  private readonly subscriptions: vscode.Disposable[];
  private readonly workspace: WorkspaceLines;
  private readonly drawn = new WeakMap<vscode.TextEditor, Drawn>();
  private files: readonly FilePatch[] | undefined;
  private reading = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly open: InstanceSource & Revealing & LatestVerdict & FilesOfR,
    extensionUri: vscode.Uri,
  ) {
    this.types = new Map(
      lineStates.map((state) => {
        const { ruler } = gutterLook[state];
        const type = vscode.window.createTextEditorDecorationType({
          light: { gutterIconPath: stateIcon(extensionUri, state, 'light') },
          dark: { gutterIconPath: stateIcon(extensionUri, state, 'dark') },
          gutterIconSize: 'contain',
          // A line that is inserted above or below has no state.
          rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
          ...(ruler === undefined
            ? {}
            : {
                overviewRulerColor: new vscode.ThemeColor(ruler),
                overviewRulerLane: vscode.OverviewRulerLane.Left,
              }),
        });
        return [state, type];
      }),
    );
    const color = new vscode.ThemeColor('editorCodeLens.foreground');
    this.noteType = vscode.window.createTextEditorDecorationType({
      after: { margin: '0 0 0 1em', color },
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    });
    this.workspace = new WorkspaceLines(open, () => this.draw());
    const draw = (): void => this.draw();
    this.subscriptions = [
      ...this.types.values(),
      this.noteType,
      open.onDidChange(draw),
      vscode.window.onDidChangeVisibleTextEditors(draw),
      vscode.window.tabGroups.onDidChangeTabGroups(draw),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(diffSettings)) draw();
      }),
      // VS Code moves marks with the text. Rewritten lines are examined when typing pauses.
      vscode.workspace.onDidChangeTextDocument(() => {
        clearTimeout(this.timer);
        this.timer = setTimeout(draw, 150);
      }),
      vscode.languages.registerHoverProvider(
        [
          { scheme },
          {
            scheme: open.folder.uri.scheme,
            pattern: new vscode.RelativePattern(open.folder, '**'),
          },
        ],
        { provideHover: (document, position) => this.hover(document, position) },
      ),
    ];
    draw();
  }

  private draw(): void {
    const coverage = shownCoverage(this.open);
    if (coverage !== undefined) this.readFiles();
    const start = performance.now();
    let isDrawn = false;
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const path = this.workspace.pathOf(document);
      const file = sideOfUri(document.uri);
      if (file === undefined && (path === undefined || !this.isChanged(path))) continue;
      const { version } = document;
      const map =
        path === undefined || coverage === undefined
          ? undefined
          : this.workspace.mapOf(document, path);
      const gutterOfR = file?.side === 'fixed' && this.hasGutterOfR(file.path);
      const now: Drawn = { coverage, version, files: this.files, map, gutterOfR };
      const before = this.drawn.get(editor);
      if (before !== undefined && isSame(before, now)) continue;
      this.drawn.set(editor, now);
      const marks =
        coverage === undefined ? undefined : this.marksOf(document, coverage, gutterOfR);
      this.set(editor, marks);
      isDrawn = true;
    }
    if (isDrawn) performance.measure(drawingMeasure, { start });
  }

  private marksOf(
    document: vscode.TextDocument,
    coverage: ChangeCoverage,
    gutterOfR: boolean,
  ): CoverageMarks | undefined {
    const marked = this.markedDocument(document);
    return marked === undefined
      ? undefined
      : documentMarks(marked, coverage, this.files, gutterOfR);
  }

  /** Whether a gutter beside a file of R∘X* shows the lines that are removed from it. */
  private hasGutterOfR(path: string): boolean {
    const oldPath = this.files?.find(({ newPath }) => newPath === path)?.oldPath ?? path;
    const ofR = sideUri('base', oldPath).toString();
    const isShownBeside = vscode.window.visibleTextEditors.some(
      ({ document }) => document.uri.toString() === ofR,
    );
    const set = vscode.workspace.getConfiguration(diffSettings);
    return hasGutterOfR(isShownBeside, {
      isSideBySide: set.get('renderSideBySide') !== false,
      mayBeInline: set.get('useInlineViewWhenSpaceIsLimited') !== false,
      sharesWidth: vscode.window.tabGroups.all.length > 1,
    });
  }

  /** The kind of marks of a document; undefined for files that the golden patch does not change. */
  private markedDocument(document: vscode.TextDocument): MarkedDocument | undefined {
    const file = sideOfUri(document.uri);
    if (file !== undefined) return file;
    const workspacePath = this.workspace.pathOf(document);
    if (workspacePath === undefined || !this.isChanged(workspacePath)) return undefined;
    const map = this.workspace.mapOf(document, workspacePath);
    return map === undefined ? undefined : { workspacePath, map };
  }

  private set(editor: vscode.TextEditor, marks: CoverageMarks | undefined): void {
    const { document } = editor;
    const isThere = (line: number): boolean => line <= document.lineCount;
    const rangeOf = (line: number): vscode.Range => document.lineAt(line - 1).range;
    for (const [state, type] of this.types) {
      const lines = marks?.states.get(state) ?? [];
      editor.setDecorations(type, lines.filter(isThere).map(rangeOf));
    }
    editor.setDecorations(
      this.noteType,
      (marks?.notes ?? [])
        .filter(({ line }) => isThere(line))
        .map((note) => noteAt(note, document)),
    );
  }

  /** Made on demand: a large change has thousands of lines. */
  private hover(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.Hover | undefined {
    const line = this.lineAt(document, position.line + 1);
    return line === undefined
      ? undefined
      : new vscode.Hover(
          coverageHover(line, mutantsAt(shownMutants(this.open), line)),
          document.lineAt(position.line).range,
        );
  }

  /** The changed line at a line of a document (1-based), if its state is shown. */
  lineAt(document: vscode.TextDocument, line: number): CoveredLine | undefined {
    const coverage = shownCoverage(this.open);
    if (coverage === undefined) return undefined;
    const place = this.placeOf(document, line);
    return place === undefined ? undefined : coveredLineAt(coverage, place);
  }

  /**
   * Place of a document's line on the side that the document shows; undefined when R has no such
   * line.
   */
  placeOf(document: vscode.TextDocument, line: number): PlaceOnSide | undefined {
    const marked = this.markedDocument(document);
    return marked === undefined ? undefined : placeOnSide(marked, line);
  }

  private isChanged(path: string): boolean {
    return this.files?.some(({ oldPath }) => oldPath === path) === true;
  }

  /** Reads the files of the golden patch at the first use. */
  private readFiles(): void {
    if (this.files !== undefined || this.reading) return;
    this.reading = true;
    void goldenFilesOf(this.open).then(
      (files) => {
        this.files = files;
        this.draw();
      },
      () => {
        // Without its trees an instance has no new verdict either. A restored verdict is drawn as
        // far as possible.
        this.reading = false;
      },
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const each of this.subscriptions) each.dispose();
  }
}

/** Section of VS Code's settings of diffs. */
const diffSettings = 'diffEditor';

const isSame = (a: Drawn, b: Drawn): boolean =>
  a.coverage === b.coverage &&
  a.version === b.version &&
  a.files === b.files &&
  a.map === b.map &&
  a.gutterOfR === b.gutterOfR;

/**
 * State, counts, the candidate's tests that ran the line, and its mutants. Names of tests are
 * escaped, and code is in blocks.
 */
export const coverageHover = (
  line: CoveredLine,
  mutants: readonly TestedMutant[] = [],
): vscode.MarkdownString =>
  hoverMarkdown([...coverageHoverParts(line), ...mutantHoverParts(mutants)]);

/** A note at its line (1-based), which must exist in the document. */
export function noteAt(
  { line, lines }: Note,
  document: vscode.TextDocument,
): vscode.DecorationOptions {
  const { range, text: code } = document.lineAt(line - 1);
  return {
    range,
    renderOptions: { after: { contentText: noteFor(lines, code.length) } },
    hoverMessage: hoverMarkdown(noteHover(lines)),
  };
}
