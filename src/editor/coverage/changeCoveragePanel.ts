import * as vscode from 'vscode';
import {
  changeCoverageOf,
  type ChangeCoverage,
  type CoveredLine,
  type LineState,
} from '../../domain/changeCoverage';
import { coverageCell } from '../../results/resultTable';
import { stateIcon } from './changeCoverageGutters';
import { coverageHover } from './coverageHover';
import { lineName, stateInWords, stateName } from './coverageText';
import { goldenFilesOf } from './goldenFiles';
import { inDiffOrder } from './diffOrder';
import { contextKeys, coverageCommandIds, viewIds } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { shownCoverage } from './shownCoverage';

/** Order of the states: what is still to do comes first. */
const order: readonly LineState[] = [
  'missed',
  'newly covered',
  'already covered',
  'not executable',
];

interface FileNode {
  readonly kind: 'file';
  readonly path: string;
  readonly lines: readonly CoveredLine[];
}

interface StateNode {
  readonly kind: 'state';
  readonly file: FileNode;
  readonly state: LineState;
  readonly lines: readonly CoveredLine[];
}

interface LineNode {
  readonly kind: 'line';
  readonly line: CoveredLine;
}

type Node = FileNode | StateNode | LineNode;

/** The changed line of a row in the view. */
export function lineOfRow(row: unknown): CoveredLine | undefined {
  if (typeof row !== 'object' || row === null || !('kind' in row)) return undefined;
  return row.kind === 'line' ? (row as LineNode).line : undefined;
}

/** Every line that the golden patch changes, by file and state, once it is revealed. */
export class ChangeCoveragePanel implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
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

  private async refresh(): Promise<void> {
    const { last, revealed } = this.open;
    const coverage = shownCoverage(this.open);
    const state =
      last === undefined
        ? 'none'
        : last.result.changeCoverage === undefined
          ? 'unknown'
          : revealed
            ? 'lines'
            : 'hidden';
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
    const missed = coverage.lines.filter((line) => line.state === 'missed').length;
    this.view.description = `ΔC ${coverageCell(coverage)
      .trim()
      .replace(/\s{2,}/, ' ')}`;
    this.view.message = [
      ...(missed === 0 ? [vscode.l10n.t('No line is missed.')] : []),
      ...(current ? [] : [vscode.l10n.t('The candidate was edited since: run it again.')]),
    ].join(' ');
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node?.kind === 'line') return [];
    if (node?.kind === 'state') return node.lines.map((line) => ({ kind: 'line', line }));
    if (node?.kind === 'file') {
      return order.flatMap((state) => {
        const lines = node.lines.filter((line) => line.state === state);
        return lines.length === 0 ? [] : [{ kind: 'state', file: node, state, lines }];
      });
    }
    const { coverage } = this;
    if (coverage === undefined) return [];
    const files = await goldenFilesOf(this.open).catch(() => []);
    const byPath = new Map<string, CoveredLine[]>();
    for (const line of inDiffOrder(coverage.lines, files)) {
      if (this.missedOnly && line.state !== 'missed') continue;
      // Both sides of a renamed file appear as one file.
      const path =
        line.change === 'removed'
          ? (files.find(({ oldPath }) => oldPath === line.path)?.newPath ?? line.path)
          : line.path;
      byPath.set(path, [...(byPath.get(path) ?? []), line]);
    }
    return [...byPath].map(([path, lines]) => ({ kind: 'file', path, lines }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case 'file':
        return this.fileItem(node);
      case 'state':
        return this.stateItem(node);
      case 'line':
        return this.lineItem(node);
    }
  }

  private fileItem({ path, lines }: FileNode): vscode.TreeItem {
    const item = new vscode.TreeItem(path, vscode.TreeItemCollapsibleState.Expanded);
    item.id = path;
    item.iconPath = new vscode.ThemeIcon('file-code');
    const { covered, executable } = changeCoverageOf(lines);
    // Short, since the text follows a path.
    item.description = this.missedOnly ? `${lines.length}` : `${covered}/${executable}`;
    const inWords = this.missedOnly
      ? vscode.l10n.t('{0} lines missed', lines.length)
      : vscode.l10n.t('{0} of {1} executable lines newly covered', covered, executable);
    item.tooltip = `${path}\n${inWords}`;
    item.accessibilityInformation = { label: `${path}, ${inWords}` };
    return item;
  }

  private stateItem({ file, state, lines }: StateNode): vscode.TreeItem {
    const folded = state === 'not executable';
    const item = new vscode.TreeItem(
      stateName(vscode.l10n, state),
      vscode.TreeItemCollapsibleState[folded ? 'Collapsed' : 'Expanded'],
    );
    item.id = `${file.path}\n${state}`;
    item.iconPath = this.icon(state);
    item.description = `${lines.length}`;
    item.accessibilityInformation = {
      label: vscode.l10n.t('{0}: {1} lines', stateName(vscode.l10n, state), lines.length),
    };
    return item;
  }

  private lineItem({ line }: LineNode): vscode.TreeItem {
    const item = new vscode.TreeItem(lineName(line));
    item.id = `${line.change} ${line.line} ${line.path}`;
    item.iconPath = this.icon(line.state);
    item.description = line.text.trim();
    item.tooltip = coverageHover(line);
    item.contextValue = line.state === 'missed' ? 'missedLine' : 'changedLine';
    item.command = {
      command: coverageCommandIds.openLine,
      title: vscode.l10n.t('Open Changed Line'),
      arguments: [{ kind: 'line', line } satisfies LineNode],
    };
    item.accessibilityInformation = {
      label: `${lineName(line)}, ${stateInWords(vscode.l10n, line)}, ${line.text.trim()}`,
    };
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
