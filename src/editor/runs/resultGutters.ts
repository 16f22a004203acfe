import { readFile } from 'node:fs/promises';
import { readPlainText } from '../../files/plainFile';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { lineStates, type ChangeCoverage, type LineState } from '../../domain/changeCoverage';
import type { Instance } from '../../domain/instance';
import { HumanError, type Reporter } from '../../domain/work';
import { sampleName } from '../../study/entry';
import type { Side } from '../../domain/outcome';
import { applyPatch } from '../../patch/applyPatch';
import { asShown, textOf } from '../../patch/bytes';
import { unsafePath } from '../../patch/unsafePath';
import { parseUnified } from '../../patch/parseUnified';
import type { FilePatch } from '../../patch/parsedPatch';
import { sourceOf, parseSources } from '../../repository/source';
import { prepareTrees, type Trees } from '../../repository/trees';
import { stateIcon, coverageHover, noteAt } from '../coverage/changeCoverageGutters';
import { diffPairs } from '../coverage/diffOrder';
import { coveredLineAt, documentMarks } from '../coverage/documentMarks';
import { resultAuthority, scheme } from '../shell/names';
import { storageFolder } from '../shell/settings';
import type { Revealed } from '../instance/revealed';
import type { FoundCell } from './foundCell';
import { savedCoverage } from '../coverage/shownCoverage';

/** A saved result whose changed lines are shown. */
interface ShownResult {
  readonly instance: string;
  readonly trees: Trees;
  readonly files: readonly FilePatch[];
  readonly coverage: ChangeCoverage;
}

/**
 * The golden diff of a saved result, with the states of its changed lines in the gutters. The
 * states come from the report, so nothing runs and the instance need not be open.
 */
export class ResultGutters implements vscode.Disposable {
  private readonly types: ReadonlyMap<LineState, vscode.TextEditorDecorationType>;
  private readonly noteType = vscode.window.createTextEditorDecorationType({
    after: { margin: '0 0 0 1em', color: new vscode.ThemeColor('editorCodeLens.foreground') },
  });
  private readonly results = new Map<string, ShownResult>();
  private readonly subscriptions: readonly vscode.Disposable[];

  constructor(
    extensionUri: vscode.Uri,
    private readonly revealed: Revealed,
  ) {
    this.types = new Map(
      lineStates.map((state) => [
        state,
        vscode.window.createTextEditorDecorationType({
          light: { gutterIconPath: stateIcon(extensionUri, state, 'light') },
          dark: { gutterIconPath: stateIcon(extensionUri, state, 'dark') },
          gutterIconSize: 'contain',
        }),
      ]),
    );
    this.subscriptions = [
      ...this.types.values(),
      this.noteType,
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
      vscode.languages.registerHoverProvider(
        { scheme },
        { provideHover: (document, position) => this.hover(document, position) },
      ),
    ];
  }

  /**
   * Opens the golden diff. The caller has asked whether to reveal it.
   *
   * @throws HumanError when the result has no change coverage, or the trees are unavailable
   */
  async show(
    found: FoundCell,
    instance: Instance,
    sources: readonly string[],
    signal: AbortSignal,
    reporter: Reporter,
  ): Promise<void> {
    const coverage = await coverageOf(found);
    const source = await sourceOf(instance, parseSources(sources));
    const trees = await prepareTrees(instance, source, storageFolder(), { signal, reporter });
    const golden = parseUnified(trees.golden ?? instance.goldenPatch);
    const applied = await applyPatch(golden, (path) => textAt(trees.base, path));
    const { files } = applied.ok ? applied.placed : golden;
    const { entry } = found;
    const id = `${entry.instance} ${entry.model} ${entry.sample}`;
    this.results.set(id, { instance: instance.id, trees, files, coverage });
    await vscode.commands.executeCommand(
      'vscode.changes',
      vscode.l10n.t('{0} of {1} (R ↔ R∘X*)', sampleName(entry), entry.instance),
      diffPairs(files).map(({ base, fixed }) => [
        uriOf(id, 'fixed', fixed),
        uriOf(id, 'base', base),
        uriOf(id, 'fixed', fixed),
      ]),
    );
    this.draw();
  }

  /**
   * A file of a side; empty when it is not shown, or is hidden again. Any extension may ask, with
   * any path.
   */
  async contentOf(uri: vscode.Uri): Promise<string> {
    const place = this.placeOf(uri);
    if (place === undefined || unsafePath(place.path) !== undefined) return '';
    const { result, side, path } = place;
    return asShown((await textAt(result.trees[side], path)) ?? '');
  }

  private placeOf(
    uri: vscode.Uri,
  ): { readonly result: ShownResult; readonly side: Side; readonly path: string } | undefined {
    if (uri.scheme !== scheme || uri.authority !== resultAuthority) return undefined;
    const [, side, id = ''] = /^(base|fixed) (.*)$/s.exec(uri.query) ?? [];
    const result = this.results.get(id);
    return result === undefined || !this.revealed.has(result.instance)
      ? undefined
      : { result, side: side === 'base' ? 'base' : 'fixed', path: uri.path.slice(1) };
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const place = this.placeOf(document.uri);
      if (place === undefined) continue;
      const { coverage, files } = place.result;
      const marks = documentMarks(place, coverage, files);
      const isThere = (line: number): boolean => line <= document.lineCount;
      const rangeOf = (line: number): vscode.Range => document.lineAt(line - 1).range;
      for (const [state, type] of this.types) {
        const lines = marks.states.get(state) ?? [];
        editor.setDecorations(type, lines.filter(isThere).map(rangeOf));
      }
      editor.setDecorations(
        this.noteType,
        marks.notes.filter(({ line }) => isThere(line)).map((note) => noteAt(note, document)),
      );
    }
  }

  private hover(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.Hover | undefined {
    const place = this.placeOf(document.uri);
    if (place === undefined) return undefined;
    const { result, side, path } = place;
    const line = coveredLineAt(result.coverage, { side, path, line: position.line + 1 });
    return line === undefined ? undefined : new vscode.Hover(coverageHover(line));
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/** The side is not in the path: a diff would report different paths as a moved file. */
const uriOf = (id: string, side: Side, path: string): vscode.Uri =>
  vscode.Uri.from({ scheme, authority: resultAuthority, path: `/${path}`, query: `${side} ${id}` });

const textAt = (tree: string, path: string): Promise<string | undefined> =>
  readFile(join(tree, path)).then(textOf, () => undefined);

/** @throws HumanError when the report has no change coverage */
async function coverageOf({ entry, folder }: FoundCell): Promise<ChangeCoverage> {
  const text = await readPlainText(join(folder, 'report.json')).catch(() => '{}');
  const coverage = savedCoverage(text, entry.instance);
  if (coverage !== undefined) return coverage;
  throw new HumanError(
    vscode.l10n.t('The report of {0} has no change coverage', entry.instance),
    vscode.l10n.t('Only candidates whose tests ran on both sides have change coverage'),
  );
}
