import * as vscode from 'vscode';
import { HumanError, throwIfAborted } from '../../domain/work';
import type { RepairResults } from '../../study/document';
import { readRepairResults } from '../../study/repairResults';
import { messageInEditor } from '../shell/inTermsOfSettings';
import { withDistinctNames, type ListedRepairs } from './runTreeRow';

const filesKey = 'runs.repairs';

/** Files with results of code repair to compare runs with (table 6). Their paths are stored. */
export class RepairList implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private files: readonly ListedRepairs[] = [];
  private loading: Promise<void> | undefined;

  constructor(private readonly memory: vscode.Memento) {}

  get listed(): readonly ListedRepairs[] {
    return this.files;
  }

  /** Results of the readable files. */
  get results(): readonly RepairResults[] {
    return this.files.flatMap(({ results }) => results ?? []);
  }

  /** Resolves when the files are read; reads them at the first call. */
  async loaded(): Promise<void> {
    await (this.loading ??= this.load());
  }

  async reload(): Promise<void> {
    this.loading = this.load();
    await this.loading;
  }

  private get paths(): readonly string[] {
    return this.memory.get<string[]>(filesKey, []);
  }

  private async load(): Promise<void> {
    const files = await Promise.all(
      this.paths.map(async (path): Promise<ListedRepairs> => {
        try {
          return { path, results: await readRepairResults(path) };
        } catch (error) {
          return { path, results: undefined, problem: messageInEditor(error) };
        }
      }),
    );
    this.files = withDistinctNames(files);
    this.changed.fire();
  }

  /**
   * @throws HumanError when a file says of no instance whether it was resolved; then none is added
   * @throws Cancelled before any is added
   */
  async add(paths: readonly string[], signal: AbortSignal): Promise<void> {
    for (const path of paths) {
      throwIfAborted(signal);
      await readRepairResults(path);
    }
    throwIfAborted(signal);
    await this.memory.update(filesKey, [...new Set([...this.paths, ...paths])]);
    await this.reload();
  }

  /** Removes a file from the list. The file itself stays. */
  async remove(path: string): Promise<void> {
    if (!this.paths.includes(path)) {
      throw new HumanError(
        vscode.l10n.t('{0} is not in the list', path),
        vscode.l10n.t('Run "SWT-Bench: Refresh Instances and Runs"'),
      );
    }
    await this.memory.update(
      filesKey,
      this.paths.filter((each) => each !== path),
    );
    await this.reload();
  }

  dispose(): void {
    this.changed.dispose();
  }
}
