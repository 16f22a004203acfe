import * as vscode from 'vscode';
import { treeItemOf } from '../shell/treeItem';
import { fixNodes, fixTreeRow, type FixNode, type ShownFixes } from './fixTreeRow';

/** The code patches that models have proposed for the open instance, the latest run first. */
export class FixTree implements vscode.TreeDataProvider<FixNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly shown: () => ShownFixes,
    ...changes: readonly vscode.Event<void>[]
  ) {
    this.subscription = vscode.Disposable.from(
      ...changes.map((onDidChange) => onDidChange(() => this.changed.fire())),
    );
  }

  getChildren(node?: FixNode): FixNode[] {
    return fixNodes(this.shown(), node);
  }

  getTreeItem(node: FixNode): vscode.TreeItem {
    return treeItemOf(fixTreeRow(vscode.l10n, this.shown(), node));
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}
