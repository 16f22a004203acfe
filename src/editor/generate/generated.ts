import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { Fixes } from './fixes';
import type { OpenInstance } from '../instance/openInstance';
import { viewIds } from '../shell/names';
import { treeItemOf } from '../shell/draw';
import { Candidates } from './candidates';
import {
  generatedNodes,
  generatedTreeRow,
  type GeneratedNode,
  type ShownGenerated,
} from './generatedTreeRow';

/** The Generated view: what models have written for the open instance, tests and fixes. */
export class Generated implements vscode.Disposable {
  readonly candidates: Candidates;
  readonly fixes: Fixes;
  private readonly view: vscode.TreeView<GeneratedNode>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, open: OpenInstance, reporter: Reporter) {
    const selected = (): unknown => this.view.selection[0];
    const parts = { context, open, reporter, selected };
    this.candidates = new Candidates(parts);
    this.fixes = new Fixes(parts);
    const changed = new vscode.EventEmitter<void>();
    this.view = vscode.window.createTreeView<GeneratedNode>(viewIds.generated, {
      treeDataProvider: {
        onDidChangeTreeData: changed.event,
        getChildren: (node) => generatedNodes(this.shown, node),
        getTreeItem: (node) => treeItemOf(generatedTreeRow(this.shown, node)),
      },
    });
    this.subscriptions = [
      this.candidates.onDidChange(() => changed.fire()),
      this.fixes.onDidChange(() => changed.fire()),
      this.candidates,
      this.fixes,
      this.view,
      changed,
    ];
  }

  private get shown(): ShownGenerated {
    return { tests: this.candidates.shown, fixes: this.fixes.shown };
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}
