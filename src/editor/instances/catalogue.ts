import { join } from 'node:path';
import * as vscode from 'vscode';
import { openDataset, type Dataset } from '../../dataset/dataset';
import { loadFilter } from '../../dataset/filterLists';
import { matches, parseQuery, type Query } from '../../dataset/query';
import { sortEntries, type SortOrder } from '../../dataset/sortOrder';
import { readTriage, type TriageFile } from '../../dataset/triage';
import type { InstanceEntry } from '../../domain/instance';
import { Cancelled, type Reporter } from '../../domain/work';
import {
  type InstanceStatus,
  isLiteS,
  type TriageEntry,
  type Validation,
} from '../../domain/soundness';
import { readStates, statusOf, type InstanceState } from '../../repository/instanceState';
import {
  bundledDataset,
  datasetName,
  filterLists,
  storageFolder,
  triageFile,
} from '../shell/settings';
import { storedListing, takeListing, withListing, type Listing } from './storedListing';
import { afterAWhile, afterAWhileInView } from '../shell/progress';
import { checkStorage } from '../../files/checkStorage';
import { contextKeys, settingKeys, viewIds } from '../shell/names';
import { ofSetting, problemText, showProblem } from '../shell/problems';
import { messageInEditor } from '../shell/inTermsOfSettings';

/** Key of the filter of this workspace's list. */
const listingKey = 'instances.listing';
/** Key of the order of this workspace's list. */
const orderKey = 'instances.order';
/** Key of the filters that wait for the windows of folders. */
const waitingKey = 'instances.waiting';

/** State of the list: nothing chosen, being read, unreadable, or entries. */
export type CatalogueState =
  | { readonly kind: 'none' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'loaded'; readonly dataset: Dataset };

/**
 * The chosen dataset with what is known of each instance: its status, and the user's tags, notes
 * and classification. Also the filter and the order of the list. Everything that draws listens to
 * `onDidChange`.
 */
export class Catalogue implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];
  private reading: AbortController | undefined;
  private current: CatalogueState = { kind: 'none' };
  /** The dataset that was read last, with the name by which it was chosen. */
  private lastLoaded: { readonly name: string; readonly dataset: Dataset } | undefined;
  private byId: ReadonlyMap<string, InstanceEntry> = new Map();
  private states: ReadonlyMap<string, InstanceState> = new Map();
  private triaged: TriageFile['instances'] = new Map();
  private watcher: vscode.Disposable | undefined;
  private turn: Promise<void> = Promise.resolve();
  private query: Query = parseQuery('');
  private text = '';
  private list: { readonly name: string; keeps(id: string): boolean } | undefined;
  private order: SortOrder;
  private isRestored = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly reporter: Reporter,
  ) {
    this.order = context.workspaceState.get<SortOrder>(orderKey, {
      by: 'id',
      descending: false,
    });
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidChangeConfiguration((event) => {
        const keys = [settingKeys.dataset, settingKeys.storage, settingKeys.triageFile];
        if (keys.some((key) => event.affectsConfiguration(key))) void this.reload();
      }),
      // The command line may have validated instances in the meantime.
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) void this.refreshStates();
      }),
    ];
  }

  /**
   * Hands filter and order to the window that opens a folder. Otherwise a triager would have to
   * narrow and sort the list for each instance.
   */
  async handOver(folder: string): Promise<void> {
    const waiting = this.context.globalState.get<unknown>(waitingKey);
    const given = { ...this.listing(), order: this.order };
    await this.context.globalState.update(waitingKey, withListing(waiting, folder, given));
  }

  private listing(): Listing {
    const { datasetName: dataset, text: filter, list } = this;
    return { dataset, filter, ...(list === undefined ? {} : { list: list.name }) };
  }

  /** Takes filter and order that another window handed over, or the filter before a reload. */
  private async restoreListing(): Promise<void> {
    const { globalState, workspaceState } = this.context;
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const { mine, others } = takeListing(globalState.get<unknown>(waitingKey), folders);
    if (mine !== undefined) await globalState.update(waitingKey, others);
    const kept = storedListing(mine ?? workspaceState.get<unknown>(listingKey), this.datasetName);
    if (kept === undefined) return;
    if (kept.order !== undefined) await this.setSortOrder(kept.order);
    try {
      this.query = parseQuery(kept.filter);
      this.text = kept.filter;
      // A list may have to be downloaded, or be gone.
      if (kept.list !== undefined) await this.setFilterList(kept.list);
      else this.tellFiltered();
    } catch (error) {
      this.reporter.log(messageInEditor(error));
    }
  }

  private tellFiltered(): void {
    void vscode.commands.executeCommand('setContext', contextKeys.filtered, this.isFiltered);
    const listing = this.isFiltered ? this.listing() : undefined;
    void this.context.workspaceState.update(listingKey, listing);
  }

  get state(): CatalogueState {
    return this.current;
  }

  get dataset(): Dataset | undefined {
    return this.current.kind === 'loaded' ? this.current.dataset : undefined;
  }

  /** The name of the dataset as in the setting: an address or a path. */
  get datasetName(): string {
    return datasetName();
  }

  /** The file with tags, notes and classifications. */
  get triagePath(): string {
    return triageFile(this.context.globalStorageUri.fsPath);
  }

  /**
   * Reads the dataset, the states and the triage file again. Never rejects: `state` holds the
   * error. When a newer reload replaces this one, the promise resolves with that one, so that
   * callers find its result.
   */
  reload(): Promise<void> {
    // Fire the event only after the promise is stored, so that a listener can await it.
    this.turn = Promise.resolve().then(() => this.read());
    return this.settled();
  }

  /**
   * Waits for the setting of another dataset to be written, which leads to a reload. Who asks for the
   * dataset meanwhile waits too, so that no one gets the old one.
   *
   * @throws what `written` throws
   */
  async whileChosen(written: Thenable<void>): Promise<void> {
    this.turn = Promise.resolve(written).catch(() => undefined);
    await written;
  }

  /** Resolves when no reload is under way. Never rejects. */
  async settled(): Promise<void> {
    for (let seen: unknown; seen !== this.turn;) {
      seen = this.turn;
      await this.turn;
    }
  }

  private async read(): Promise<void> {
    this.reading?.abort();
    const reading = (this.reading = new AbortController());
    const name = datasetName();
    if (name === '') return this.become({ kind: 'none' });
    this.become({ kind: 'reading' });
    try {
      if (!this.isRestored) {
        this.isRestored = true;
        await this.restoreListing();
      }
      const dataset = await afterAWhileInView(
        viewIds.instances,
        vscode.l10n.t('Reading {0}', name),
        (cancelled) =>
          openDataset(name === 'bundled' ? bundledDataset(this.context.extensionPath) : name, {
            storage: storageFolder(),
            signal: AbortSignal.any([reading.signal, cancelled]),
            reporter: this.reporter,
          }),
      );
      if (reading.signal.aborted) return;
      await this.readStates();
      await this.readTriage();
      if (reading.signal.aborted) return;
      this.lastLoaded = { name, dataset };
      this.become({ kind: 'loaded', dataset });
      for (const { row, message } of dataset.problems) {
        this.reporter.log(`${name}: row ${row}: ${message}`);
      }
    } catch (thrown) {
      if (reading.signal.aborted) return;
      const error = ofSetting(thrown, settingKeys.dataset);
      if (error instanceof Cancelled)
        return this.become({ kind: 'failed', why: cancelledText(name) });
      // What is known of the same dataset stays, as where only the storage folder is another.
      if (this.lastLoaded?.name === name) {
        this.become({ kind: 'loaded', dataset: this.lastLoaded.dataset });
        showProblem(error, this.reporter);
        return;
      }
      this.reporter.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      this.become({ kind: 'failed', why: problemText(error) });
    }
  }

  private become(state: CatalogueState): void {
    this.current = state;
    const entries = state.kind === 'loaded' ? state.dataset.entries : [];
    this.byId = new Map(entries.map((entry) => [entry.id, entry]));
    void vscode.commands.executeCommand('setContext', contextKeys.dataset, state.kind);
    this.changed.fire();
  }

  /** Reads the states again, which the command line or another window may have changed. */
  async refreshStates(): Promise<void> {
    if (this.current.kind !== 'loaded') return;
    await this.readStates();
    this.changed.fire();
  }

  /** Where the storage folder cannot be used, the statuses that are known stay. */
  private async readStates(): Promise<void> {
    try {
      const storage = storageFolder();
      await checkStorage(storage);
      this.states = await readStates(storage);
    } catch (error) {
      this.reporter.log(problemText(error));
    }
  }

  /** Reads the triage file and watches it, since the user or a change of branch may edit it. */
  private async readTriage(): Promise<void> {
    const path = this.triagePath;
    try {
      this.triaged = (await readTriage(path)).instances;
    } catch (error) {
      showProblem(ofSetting(error, settingKeys.triageFile), this.reporter);
    }
    if (this.watcher === undefined) {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(join(path, '..')), 'triage*.json');
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      const again = (): void => void this.refreshTriage();
      this.watcher = vscode.Disposable.from(
        watcher,
        watcher.onDidChange(again),
        watcher.onDidCreate(again),
        watcher.onDidDelete(again),
      );
    }
  }

  async refreshTriage(): Promise<void> {
    await this.readTriage();
    this.changed.fire();
  }

  statusOf(id: string): InstanceStatus {
    return statusOf(this.states.get(id));
  }

  validationOf(id: string): Validation | undefined {
    return this.states.get(id)?.validation;
  }

  triageOf(id: string): TriageEntry | undefined {
    return this.triaged.get(id);
  }

  /** Every tag in use, for completion. */
  get tags(): string[] {
    return [...new Set([...this.triaged.values()].flatMap((entry) => entry.tags))].sort();
  }

  get isFiltered(): boolean {
    return this.text !== '' || this.list !== undefined;
  }

  get filter(): string {
    return this.text;
  }

  /** @throws HumanError when the filter is invalid; the old one stays */
  setFilter(text: string): void {
    this.query = parseQuery(text);
    this.text = text.trim();
    this.tellFiltered();
    this.changed.fire();
  }

  /** Name of the current filter list; undefined without one. */
  get filterList(): string | undefined {
    return this.list?.name;
  }

  /**
   * Narrows the list to a filter list, by file, address or name. `Lite-S` comes from the user's
   * own classification.
   *
   * @throws HumanError when it is unavailable, Cancelled; the old one stays
   */
  async setFilterList(name: string | undefined): Promise<void> {
    this.list =
      name === undefined
        ? undefined
        : name === 'Lite-S'
          ? { name, keeps: (id) => this.isLiteS(id) }
          : await afterAWhile(vscode.l10n.t('Reading the filter list {0}', name), (signal) =>
              loadFilter(name, {
                storage: storageFolder(),
                reporter: this.reporter,
                signal,
                named: filterLists(),
              }),
            );
    this.setFilter(this.text);
  }

  private isLiteS(id: string): boolean {
    const triage = this.triageOf(id);
    return triage !== undefined && isLiteS(triage);
  }

  get sortOrder(): SortOrder {
    return this.order;
  }

  async setSortOrder(order: SortOrder): Promise<void> {
    this.order = order;
    await this.context.workspaceState.update(orderKey, order);
    this.changed.fire();
  }

  /** Entries that match the filter, in the chosen order. */
  entries(): InstanceEntry[] {
    const all = this.dataset?.entries ?? [];
    const kept = all.filter((entry) => {
      if (this.list !== undefined && !this.list.keeps(entry.id)) return false;
      const triage = this.triageOf(entry.id);
      return matches(this.query, {
        entry,
        status: this.statusOf(entry.id),
        ...(triage === undefined ? {} : { triage }),
      });
    });
    return sortEntries(kept, this.order);
  }

  entry(id: string): InstanceEntry | undefined {
    return this.byId.get(id);
  }

  dispose(): void {
    this.reading?.abort();
    this.watcher?.dispose();
    for (const each of this.subscriptions) each.dispose();
  }
}

const cancelledText = (name: string): string =>
  vscode.l10n.t(
    'Reading {0} was canceled. Run "SWT-Bench: Refresh Instances and Runs" to read it.',
    name,
  );
