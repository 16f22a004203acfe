import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { Fixes } from './fixes';
import type { OpenInstance } from '../instance/openInstance';
import { generatedCommandIds, viewIds } from '../shell/names';
import { treeItemOf } from '../shell/draw';
import { Candidates } from './candidates';
import {
  generatedNodes,
  generatedTreeRow,
  rowOfKind,
  type GeneratedNode,
  type ShownGenerated,
} from './generatedTreeRow';

type CommandId = (typeof generatedCommandIds)[keyof typeof generatedCommandIds];

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

  /**
   * Runs a command on a row, else on the selected one.
   *
   * @throws HumanError, Cancelled
   */
  async run(id: CommandId, argument: unknown): Promise<void> {
    switch (id) {
      case generatedCommandIds.propose:
      case generatedCommandIds.runTests:
      case generatedCommandIds.openPlace:
        return this.fixes.run(id, argument);
      case generatedCommandIds.generate:
      case generatedCommandIds.apply:
      case generatedCommandIds.showAnswer:
      case generatedCommandIds.evaluate:
        return this.candidates.run(id, argument);
      case generatedCommandIds.preview:
      case generatedCommandIds.resume:
      case generatedCommandIds.remove:
        return this.isAboutFixes(argument)
          ? this.fixes.run(id, argument)
          : this.candidates.run(id, argument);
    }
  }

  /** Whether a command without a row is about a candidate: the view shows some, and no fix is selected. */
  get isShowingCandidates(): boolean {
    const { visible, selection } = this.view;
    return visible && this.candidates.shown.generations.length > 0 && !isOfFixes(selection[0]);
  }

  private isAboutFixes(argument: unknown): boolean {
    const row = argument ?? this.view.selection[0];
    return row === undefined ? this.areFixesLatest : isOfFixes(row);
  }

  private get areFixesLatest(): boolean {
    const started = ({ shown }: Candidates | Fixes): string =>
      shown.generations[0]?.record.startedAt ?? '';
    return started(this.fixes) > started(this.candidates);
  }

  private get shown(): ShownGenerated {
    return { tests: this.candidates.shown, fixes: this.fixes.shown };
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

function isOfFixes(node: unknown): boolean {
  const row = rowOfKind([node], 'fix', 'candidate', 'generation');
  return row?.kind === 'fix' || (row?.kind === 'generation' && row.of === 'fixes');
}
