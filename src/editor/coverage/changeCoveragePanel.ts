import * as vscode from 'vscode';
import type { ChangeCoverage, CoveredLine, LineState } from '../../domain/changeCoverage';
import { stateIcon } from './changeCoverageGutters';
import {
  changedFileNodes,
  changeCoverageHeader,
  changeCoverageNodesBelow,
  changeCoverageState,
  changeCoverageTreeRow,
  nodeOfLine,
  parentOfNode,
  type ChangeCoverageNode,
} from './changeCoverageTreeRow';
import { goldenFilesOf } from './goldenFiles';
import { hoverMarkdown } from '../shell/hovers/hoverMarkdown';
import { contextKeys, viewIds } from '../shell/names';
import { treeItemOf } from '../shell/treeItem';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { shownCoverage } from './shownCoverage';

/** Every line that the golden patch changes, by file and state, once it is revealed. */
export class ChangeCoveragePanel
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

  /** Lists missed lines only, or all. */
  async showMissedOnly(missedOnly: boolean): Promise<void> {
    this.missedOnly = missedOnly;
    await vscode.commands.executeCommand('setContext', contextKeys.missedOnly, missedOnly);
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
    const { description, message } = changeCoverageHeader(vscode.l10n, coverage, current);
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
    const row = changeCoverageTreeRow(vscode.l10n, node, this.missedOnly);
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
