import * as vscode from 'vscode';
import type { CoveredLine, ChangeCoverage, LineState } from '../../domain/changeCoverage';
import { HumanError } from '../../domain/work';
import { ChangeCoverageGutters, stateIcon } from './changeCoverageGutters';
import {
  lineOfRow,
  changedFileNodes,
  changeCoverageHeader,
  changeCoverageNodesBelow,
  changeCoverageState,
  changeCoverageTreeRow,
  nodeOfLine,
  parentOfNode,
  type ChangeCoverageNode,
} from './changeCoverageTreeRow';
import { coveredLineAt, type PlaceOnSide } from './documentMarks';
import { showInGoldenDiff, goldenFilesOf } from './goldenDiff';
import { neighbour } from './diffOrder';
import { coverageCommandIds, contextKeys, viewIds } from '../shell/names';
import type { FilesOfR, InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { shownCoverage, sideOf } from './shownCoverage';
import { fileOf, functionOf, namesInWords } from '../../domain/testId';
import { findTests } from '../../python/tests';
import { goldenFileUri } from './compareWithGolden';
import { lineName } from './coverageText';
import { hoverMarkdown, treeItemOf } from '../shell/draw';

type CoverageCommand = (typeof coverageCommandIds)[keyof typeof coverageCommandIds];

/** The views of change coverage, and the commands about a changed line. */
export class ChangeCoverageViews implements vscode.Disposable {
  private readonly gutters: ChangeCoverageGutters;
  private readonly panel: ChangeCoveragePanel;
  private readonly subscriptions: readonly vscode.Disposable[];
  /** The last place of the cursor in R or R∘X*, since a tree view may have the focus now. */
  private at: PlaceOnSide | undefined;
  /**
   * The last place of the cursor. Mapping it to R or R∘X* takes a diff, so that happens on demand.
   */
  private cursor: { readonly document: vscode.TextDocument; readonly line: number } | undefined;

  constructor(
    private readonly open: InstanceSource & Revealing & LatestVerdict & FilesOfR,
    extensionUri: vscode.Uri,
  ) {
    this.gutters = new ChangeCoverageGutters(open, extensionUri);
    this.panel = new ChangeCoveragePanel(open, extensionUri);
    this.subscriptions = [
      this.gutters,
      this.panel,
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        const line = selections[0]?.active.line;
        if (line === undefined) return;
        const { document } = textEditor;
        // The place is mapped when its editor is left.
        if (this.cursor?.document !== document) this.at = this.here();
        this.cursor = { document, line: line + 1 };
      }),
    ];
  }

  /**
   * @param about a row of the Change Coverage view; the line at the cursor if absent
   * @throws HumanError when there is no such line
   */
  async run(command: CoverageCommand, about: unknown): Promise<void> {
    switch (command) {
      case coverageCommandIds.missedOnly:
        return this.panel.toggleMissedOnly();
      case coverageCommandIds.nextMissed:
        return this.toMissed('next');
      case coverageCommandIds.previousMissed:
        return this.toMissed('previous');
      case coverageCommandIds.openLine:
        return this.show(this.lineOf(about));
      case coverageCommandIds.showGoldenReach:
        return showGoldenReach(this.open, this.lineOf(about));
    }
  }

  private lineOf(about: unknown): CoveredLine {
    const editor = vscode.window.activeTextEditor;
    const line =
      lineOfRow(about) ??
      (editor === undefined
        ? undefined
        : this.gutters.lineAt(editor.document, editor.selection.active.line + 1)) ??
      this.lastLine();
    if (line !== undefined) return line;
    throw new HumanError(
      vscode.l10n.t('The fix does not change the line at the cursor'),
      vscode.l10n.t('Select a line in the Change Coverage view'),
    );
  }

  /** The changed line where the cursor was last, such as the one that *Next Missed Line* went to. */
  private lastLine(): CoveredLine | undefined {
    const coverage = shownCoverage(this.open);
    const place = this.here();
    return coverage === undefined || place === undefined
      ? undefined
      : coveredLineAt(coverage, place);
  }

  /** The last place of the cursor in R or R∘X*. */
  private here(): PlaceOnSide | undefined {
    const { cursor } = this;
    if (cursor === undefined) return this.at;
    return this.gutters.placeOf(cursor.document, cursor.line) ?? this.at;
  }

  private async toMissed(direction: 'next' | 'previous'): Promise<void> {
    if (!(await this.open.reveal(vscode.l10n.t('Go to Missed Line')))) return;
    const coverage = shownCoverage(this.open);
    if (coverage === undefined) {
      throw new HumanError(
        vscode.l10n.t('Missed lines are not available yet'),
        vscode.l10n.t('Run the tests on R and R∘X* first'),
      );
    }
    const missed = coverage.lines.filter((line) => line.state === 'missed');
    const files = await goldenFilesOf(this.open);
    const line = neighbour(missed, files, this.here(), direction);
    if (line === undefined) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t(
          'No changed line is missed: {0} of {1} covered',
          coverage.covered,
          coverage.executable,
        ),
      );
      return;
    }
    await this.show(line);
    await this.panel.select(line);
  }

  private async show(line: CoveredLine): Promise<void> {
    const at = { side: sideOf(line), path: line.path, line: line.line };
    await showInGoldenDiff(this.open, at);
    this.at = at;
    this.cursor = undefined;
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/**
 * Lists the golden tests that run a line which the candidate misses, and opens the chosen one. Asks
 * before it reveals them.
 *
 * @throws HumanError when no golden test runs the line
 */
async function showGoldenReach(
  open: InstanceSource & Revealing & LatestVerdict,
  line: CoveredLine,
): Promise<void> {
  const title = vscode.l10n.t('Show Golden Tests Covering Line');
  if (!(await open.reveal(title))) return;
  const reached = open.last?.result.goldenCoverage?.lines.find(
    (each) => each.change === line.change && each.line === line.line && each.path === line.path,
  );
  const where = `${line.path}, ${lineName(line)}`;
  if (reached === undefined || reached.coveredBy.length === 0) {
    throw new HumanError(
      vscode.l10n.t('{0}: no single golden test executes this line', where),
      line.counts.golden > 0
        ? vscode.l10n.t('It is executed when the golden test files are imported')
        : vscode.l10n.t('Select a missed line: golden tests execute those'),
    );
  }
  const tests = new Map<string, number>();
  for (const test of reached.coveredBy) {
    const name = functionOf(test);
    tests.set(name, (tests.get(name) ?? 0) + (reached.executions[test] ?? 0));
  }
  const chosen = await vscode.window.showQuickPick(
    [...tests].map(([test, count]) => ({
      label: namesInWords(test),
      description:
        count === 1
          ? vscode.l10n.t('executes it once')
          : vscode.l10n.t('executes it {0} times', count),
      detail: fileOf(test),
      test,
    })),
    {
      title: vscode.l10n.t('Golden tests that execute {0}', where),
      placeHolder: line.text.trim(),
    },
  );
  if (chosen !== undefined) await openGoldenTest(open, chosen.test);
}

async function openGoldenTest(open: InstanceSource, test: string): Promise<void> {
  const path = fileOf(test);
  const document = await vscode.workspace.openTextDocument(goldenFileUri(path));
  const python = await open.python();
  const found = findTests(python, document.getText(), { path }).find((each) => each.id === test);
  const line = (found?.defLine ?? 1) - 1;
  await vscode.window.showTextDocument(document, {
    preview: true,
    selection: new vscode.Range(line, 0, line, 0),
  });
}

/** Every line that the golden patch changes, by file and state, once it is revealed. */
class ChangeCoveragePanel
  implements vscode.TreeDataProvider<ChangeCoverageNode>, vscode.Disposable
{
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<ChangeCoverageNode>;
  private readonly subscriptions: readonly vscode.Disposable[];
  private coverage: ChangeCoverage | undefined;
  private missedOnly = false;
  private turn = 0;

  constructor(
    private readonly open: InstanceSource & LatestVerdict & Revealing,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.view = vscode.window.createTreeView(viewIds.changeCoverage, {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    this.subscriptions = [
      this.changed,
      this.view,
      open.onDidChange(() => void this.refresh()),
      open.onDidEdit(() => void this.describe()),
    ];
    void this.refresh();
  }

  /** Lists missed lines only, or all again. */
  async toggleMissedOnly(): Promise<void> {
    this.missedOnly = !this.missedOnly;
    this.changed.fire();
    await this.describe();
  }

  /** Selects the row of a changed line. The view does not open for it, and takes no focus. */
  async select(line: CoveredLine): Promise<void> {
    const node = this.view.visible ? nodeOfLine(await this.top(), line) : undefined;
    if (node === undefined) return;
    await this.view.reveal(node, { select: true, focus: false });
  }

  private async refresh(): Promise<void> {
    const coverage = shownCoverage(this.open);
    const state = changeCoverageState(this.open);
    await vscode.commands.executeCommand('setContext', contextKeys.coverage, state);
    if (coverage !== this.coverage) {
      this.coverage = coverage;
      this.changed.fire();
    }
    await this.describe();
  }

  private async describe(): Promise<void> {
    const turn = ++this.turn;
    const { coverage } = this;
    if (coverage === undefined) {
      this.view.message = '';
      this.view.description = '';
      return;
    }
    const current = await this.open.isCurrent().catch(() => false);
    if (turn !== this.turn) return; // A later change has already drawn the view.
    const { description, message } = changeCoverageHeader(coverage, current);
    this.view.description = description;
    this.view.message = message;
  }

  async getChildren(node?: ChangeCoverageNode): Promise<ChangeCoverageNode[]> {
    return node === undefined ? this.top() : changeCoverageNodesBelow(node);
  }

  async getParent(node: ChangeCoverageNode): Promise<ChangeCoverageNode | undefined> {
    return parentOfNode(await this.top(), node);
  }

  private async top(): Promise<ChangeCoverageNode[]> {
    const { coverage } = this;
    if (coverage === undefined) return [];
    const files = await goldenFilesOf(this.open).catch(() => []);
    return changedFileNodes(coverage, files, this.missedOnly);
  }

  getTreeItem(node: ChangeCoverageNode): vscode.TreeItem {
    const row = changeCoverageTreeRow(node, this.missedOnly);
    const item = treeItemOf(row);
    if (row.state !== undefined) item.iconPath = this.icon(row.state);
    if (row.hover !== undefined) item.tooltip = hoverMarkdown(row.hover);
    return item;
  }

  private icon(state: LineState): { light: vscode.Uri; dark: vscode.Uri } {
    return {
      light: stateIcon(this.extensionUri, state, 'light'),
      dark: stateIcon(this.extensionUri, state, 'dark'),
    };
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}
