import * as vscode from 'vscode';
import { lineStates } from '../domain/changeCoverage';
import { coverageCell } from '../evaluation/table';
import { commandIds } from './names';
import type { OpenInstance } from './openInstance';

interface Node {
  readonly label: string;
  readonly description?: string;
  readonly icon: string;
  readonly command?: string;
  readonly tooltip?: string;
}

/** The open instance at a glance: issue, candidate, change coverage, golden patch. */
export class InstanceTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private open: OpenInstance | undefined;
  private subscription: vscode.Disposable | undefined;

  show(open: OpenInstance): void {
    this.subscription?.dispose();
    this.open = open;
    this.subscription = open.onDidChange(() => this.changed.fire());
    this.changed.fire();
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label);
    item.iconPath = new vscode.ThemeIcon(node.icon);
    if (node.description !== undefined) item.description = node.description;
    if (node.tooltip !== undefined) item.tooltip = node.tooltip;
    if (node.command !== undefined) item.command = { command: node.command, title: node.label };
    return item;
  }

  async getChildren(parent?: Node): Promise<Node[]> {
    const { open } = this;
    if (parent !== undefined || open === undefined) return [];
    const instance = await open.instance();
    const result = open.last?.result;
    const coverage = result?.changeCoverage;
    const states = lineStates
      .map((state) => ({ state, n: coverage?.lines.filter((line) => line.state === state).length }))
      .filter(({ n }) => n !== undefined && n > 0)
      .map(({ state, n }) => `${n} ${state}`)
      .join(', ');
    return [
      {
        label: 'Issue',
        description: instance.issue.trimStart().split('\n')[0]?.trim() ?? '',
        icon: 'issues',
        command: commandIds.showIssue,
      },
      {
        label: 'Candidate',
        description: open.isRunning
          ? 'running on R and R∘X*'
          : result === undefined
            ? 'no verdict yet: run its tests'
            : result.strict.success
              ? 'reproduces the issue (F→P)'
              : result.strict.reason,
        tooltip: result?.strict.explanation ?? 'Write a test that fails on R, and run it',
        icon: open.isRunning
          ? 'sync~spin'
          : result === undefined
            ? 'beaker'
            : result.strict.success
              ? 'pass'
              : 'error',
        command: commandIds.reproduce,
      },
      {
        label: 'Change coverage',
        description:
          coverage === undefined ? 'known after a run' : `ΔC ${coverageCell(coverage).trim()}`,
        tooltip: states === '' ? 'Lines of the golden patch that the candidate covers' : states,
        icon: 'checklist',
        command: commandIds.showChangeCoverage,
      },
      {
        label: 'Golden patch, tests, hints',
        description: open.revealed ? 'revealed' : 'hidden',
        tooltip: open.revealed
          ? 'Hide it again, with the golden tests and later hints'
          : 'Reveal it, with the golden tests and later hints',
        icon: open.revealed ? 'eye' : 'eye-closed',
        command: open.revealed ? commandIds.hideGolden : commandIds.reveal,
      },
    ];
  }

  dispose(): void {
    this.subscription?.dispose();
    this.changed.dispose();
  }
}
