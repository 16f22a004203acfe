import * as vscode from 'vscode';
import type { RunData } from '../../study/entry';
import { methodsOf, type EvaluatedMethod } from '../../study/methods';
import { treeItemOf } from '../shell/treeItem';
import type { RunLibrary } from './library';
import type { RepairList } from './repairList';
import { runNodes, runTreeRow, type RunNode, type ShownRuns } from './runTreeRow';

/** Saved and running evaluations, with their rates. */
export class RunsTree {
  /** Rates depend only on a run's entries, so they are cached for each run. */
  private readonly methods = new WeakMap<RunData, readonly EvaluatedMethod[]>();

  constructor(
    private readonly library: RunLibrary,
    private readonly repairs: RepairList,
  ) {}

  private get shown(): ShownRuns {
    const { library, repairs } = this;
    return {
      runs: library.runs,
      problems: library.problems,
      repairs: repairs.listed,
      methodsOf: (run) => this.methodsOf(run),
      progressOf: (run) => library.progressOf(run),
    };
  }

  getChildren(node?: RunNode): RunNode[] {
    return runNodes(this.shown, node);
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    return treeItemOf(runTreeRow(vscode.l10n, this.shown, node));
  }

  private methodsOf(run: RunData): readonly EvaluatedMethod[] {
    const known = this.methods.get(run);
    if (known !== undefined) return known;
    const made = methodsOf([run]);
    this.methods.set(run, made);
    return made;
  }
}
