import * as vscode from 'vscode';
import { messageOf, type Reporter } from '../../domain/work';
import type { EngineReadiness } from '../shell/engineReadiness';
import { contextKeys } from '../shell/names';
import { isSetToContainers } from '../shell/problems';
import { treeItemOf } from '../shell/draw';
import type { TreeRow } from '../shell/treeRow';
import { instanceRows } from './instanceRows';
import type { OpenInstance } from './openInstance';
import type { InstanceSource } from './instanceRoles';
import { hasUnsaved } from './saveEdits';

/** The open instance at a glance: the problem, issue, candidate, change coverage, golden patch. */
export class InstanceTree implements vscode.TreeDataProvider<TreeRow>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private open: OpenInstance | undefined;
  private readiness: EngineReadiness | undefined;
  private subscription: vscode.Disposable | undefined;

  constructor(private readonly reporter: Reporter) {}

  show(open: OpenInstance, readiness: EngineReadiness): void {
    this.subscription?.dispose();
    this.open = open;
    this.readiness = readiness;
    const redraw = (): void => this.changed.fire();
    this.subscription = vscode.Disposable.from(
      open.onDidChange(redraw),
      open.onDidEdit(redraw),
      readiness.onDidChange(redraw),
    );
    redraw();
  }

  getTreeItem(row: TreeRow): vscode.TreeItem {
    return treeItemOf(row);
  }

  async getChildren(parent?: TreeRow): Promise<TreeRow[]> {
    const { open } = this;
    if (parent !== undefined || open === undefined) return [];
    const issue = await this.issueOf(open);
    if (issue === undefined) return [];
    const current =
      open.last === undefined || (!hasUnsaved(open) && (await open.isCurrent().catch(() => false)));
    return instanceRows({
      issue,
      problem: this.readiness?.problem,
      isRunning: open.isRunning,
      isCancelling: open.isCancelling,
      step: open.step,
      environment: {
        runsWith: open.environment,
        isContainer: isSetToContainers(open.folder.uri),
        step: open.environmentNotes.step,
        last: open.environmentNotes.last,
      },
      result: open.last?.result,
      current,
      hasCandidate: open.hasCandidate,
      revealed: open.revealed,
    });
  }

  /**
   * The text of the issue. Undefined when the row is gone; the view then shows its welcome content.
   */
  private async issueOf(open: InstanceSource): Promise<string | undefined> {
    const instance = await open.instance().catch((error: unknown) => {
      this.reporter.log(`${open.marker.id}: ${messageOf(error)}`);
      return undefined;
    });
    const failed = instance === undefined;
    await vscode.commands.executeCommand('setContext', contextKeys.instanceFailed, failed);
    return instance?.issue;
  }

  dispose(): void {
    this.subscription?.dispose();
    this.changed.dispose();
  }
}
