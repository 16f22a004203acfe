import * as vscode from 'vscode';
import { treeItemOf } from '../shell/treeItem';
import type { Knowledge } from './candidateGrades';
import {
  candidateNodes,
  candidateTreeRow,
  type CandidateNode,
  type ShownCandidates,
} from './candidateTreeRow';
import type { Generations } from './generations';

/**
 * What models have written for the open instance, the latest run first. A candidate shows what a
 * model may know, which is W and its outcome on R. What only the developer may know is in a row
 * below. All texts are plain, since they come from models and tested code.
 */
export class CandidateTree implements vscode.TreeDataProvider<CandidateNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly generations: Generations,
    private readonly knowledge: Knowledge,
    onDidReveal: vscode.Event<void>,
  ) {
    const redraw = (): void => this.changed.fire();
    this.subscription = vscode.Disposable.from(
      generations.onDidChange(redraw),
      knowledge.onDidChange(redraw),
      onDidReveal(redraw),
    );
  }

  private get shown(): ShownCandidates {
    return { generations: this.generations.list, knowledge: this.knowledge };
  }

  getChildren(node?: CandidateNode): CandidateNode[] {
    return candidateNodes(vscode.l10n, this.shown, node);
  }

  getTreeItem(node: CandidateNode): vscode.TreeItem {
    return treeItemOf(candidateTreeRow(vscode.l10n, this.shown, node));
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}
