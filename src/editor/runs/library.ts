import { openPlain } from '../../files/plainFile';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Progress } from '../../dashboard/protocol';
import { Cancelled, messageOf, throwIfAborted, type Reporter } from '../../domain/work';
import type { RunData, RunEntry } from '../../study/entry';
import type { BatchHandle } from '../../batch/runBatch';
import { candidateKey, journalPath, parseJournal } from '../../results/journal';
import { readLive, type LiveState } from '../../results/runFolder';
import { readRuns } from '../../results/readRuns';
import { withTrajectoryCosts } from '../../trajectory/withTrajectoryCosts';
import { afterAWhileInView } from '../shell/progress';
import { viewIds } from '../shell/names';
import { inTermsOfSettings } from '../shell/inTermsOfSettings';
import { storageFolder } from '../shell/settings';

/** Milliseconds during which changes on disk are collected. */
const pause = 700;

const addedKey = 'runs.folders';
const hiddenKey = 'runs.hidden';

/** Progress of a run under way. */
interface Growth {
  /** Label of the run. */
  readonly run: string;
  readonly entries: readonly RunEntry[];
}

/**
 * The runs of the Runs view: those in folders that the user has added, and those in the folder
 * for batches of the editor. Follows the journals of running batches, whichever process writes
 * them.
 */
export class RunLibrary implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly grown = new vscode.EventEmitter<Growth>();
  private readonly progressed = new vscode.EventEmitter<string>();
  /** Fires when the list changes, or a rate in it. */
  readonly onDidChange = this.changed.event;
  readonly onDidGrow = this.grown.event;
  /** Fires with the label of a run. */
  readonly onDidProgress = this.progressed.event;

  private listed: readonly RunData[] = [];
  private unreadable: readonly string[] = [];
  private loading: Promise<void> | undefined;
  private readonly states = new Map<string, LiveState>();
  private readonly withCosts = new Map<string, RunData>();
  private readonly batches = new Map<string, BatchHandle>();
  private readonly read = new Map<string, number>();
  private readonly touched = new Set<string>();
  private watchers: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isNew = false;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly reporter: Reporter,
  ) {}

  get runs(): readonly RunData[] {
    return this.listed;
  }

  /** What could not be read, one sentence each. Untrusted. */
  get problems(): readonly string[] {
    return this.unreadable;
  }

  /** Folder of the editor's batches. */
  get batchFolder(): string {
    return join(storageFolder(), 'batches');
  }

  /** Resolves when the runs are read; reads them at the first call. @throws Cancelled */
  async loaded(): Promise<void> {
    await (this.loading ?? this.reload());
  }

  /** Reads the runs again. The user can cancel it, and the list stays then. @throws Cancelled */
  async reload(): Promise<void> {
    await this.begin(
      afterAWhileInView(viewIds.runs, vscode.l10n.t('Reading the runs'), (signal) =>
        this.load(signal),
      ),
    );
  }

  /** As `reload`, for changes on disk: only the view shows that they are read. */
  private async follows(): Promise<void> {
    const location = { viewId: viewIds.runs };
    await this.begin(vscode.window.withProgress({ location }, () => this.load(undefined)));
  }

  /** Makes a reading the one that others wait for. After a failure the next of them reads again. */
  private async begin(work: Thenable<void>): Promise<void> {
    const reading = (this.loading = Promise.resolve(work));
    try {
      await reading;
    } catch (error) {
      if (this.loading === reading) this.loading = undefined;
      if (error instanceof Cancelled) this.say([cancelledText()]);
      throw error;
    }
  }

  private say(problems: readonly string[]): void {
    this.unreadable = problems;
    this.changed.fire();
  }

  private async load(signal: AbortSignal | undefined): Promise<void> {
    const added = this.memory.get<string[]>(addedKey, []);
    const hidden = new Set(this.memory.get<string[]>(hiddenKey, []));
    const own = this.batchFolder;
    const hasOwn = await vscode.workspace.fs.stat(vscode.Uri.file(join(own, 'runs'))).then(
      () => true,
      () => false,
    );
    const folders = [...(hasOwn && !added.includes(own) ? [own] : []), ...added];
    const { runs: read, problems } = await readRuns(folders, { signal });
    const runs = await this.priced(read, signal);
    throwIfAborted(signal);
    this.listed = runs.filter((run) => !hidden.has(placeOf(run)));
    // The folder for batches may be empty, which is no problem.
    this.unreadable = problems
      .filter((problem) => !problem.startsWith(`${own} holds no run`))
      .map(inTermsOfSettings);
    for (const problem of this.unreadable) this.reporter.log(problem);
    this.read.clear();
    this.states.clear();
    for (const run of this.listed) await this.look(run);
    this.watch([own, ...folders]);
    this.changed.fire();
  }

  /** Reads the costs of trajectories again at the next reload. */
  forgetCosts(): void {
    this.withCosts.clear();
  }

  /** The runs with the costs of their trajectories, which are read once in a window. */
  private async priced(
    runs: readonly RunData[],
    signal: AbortSignal | undefined,
  ): Promise<readonly RunData[]> {
    const told = (problem: string): void => this.reporter.log(problem);
    return Promise.all(
      runs.map(async (run) => {
        const key = JSON.stringify([run.folder, run.label, run.entries.length, run.trajectories]);
        const known = this.withCosts.get(key);
        if (known !== undefined) return known;
        const [priced = run] = await withTrajectoryCosts([run], { told, signal });
        if (run.trajectories !== undefined) this.withCosts.set(key, priced);
        return priced;
      }),
    );
  }

  private async look(run: RunData): Promise<void> {
    if (run.place === undefined) return;
    const state = await readLive(run.place);
    if (state === undefined) this.states.delete(run.place);
    else this.states.set(run.place, state);
  }

  /** Progress of a run under way; undefined for all others. */
  progressOf(run: RunData): Progress | undefined {
    const { place } = run;
    if (place === undefined) return undefined;
    const batch = this.batches.get(place);
    const state = batch?.progress ?? this.states.get(place);
    if (state === undefined) return undefined;
    const { done, total, paused, perHour, secondsLeft } = state;
    return {
      done,
      total,
      paused,
      running: state.running.map(({ instance, model }) => `${instance} (${model})`),
      ...(perHour === undefined ? {} : { perHour }),
      ...(secondsLeft === undefined ? {} : { secondsLeft }),
      controlled: batch !== undefined,
      interrupted: batch === undefined && 'pid' in state && !isAlive(state.pid),
    };
  }

  run(label: string): RunData | undefined {
    return this.listed.find((run) => run.label === label);
  }

  /** The batch of this window for a run. */
  batchOf(run: RunData): BatchHandle | undefined {
    return run.place === undefined ? undefined : this.batches.get(run.place);
  }

  /** Follows a batch of this window until it ends. */
  async follow(place: string, batch: BatchHandle): Promise<void> {
    this.batches.set(place, batch);
    try {
      await batch.done;
    } finally {
      this.batches.delete(place);
      await this.follows();
      const run = this.listed.find((each) => each.place === place);
      if (run !== undefined) this.progressed.fire(run.label);
    }
  }

  /** Reports progress of a batch of this window. */
  tell(place: string): void {
    const run = this.listed.find((each) => each.place === place);
    if (run !== undefined) this.progressed.fire(run.label);
    else this.soon(undefined);
  }

  /** Adds a results folder, and lists all its runs, including removed ones. */
  async add(folder: string): Promise<void> {
    const added = this.memory.get<string[]>(addedKey, []);
    const hidden = this.memory.get<string[]>(hiddenKey, []);
    await this.memory.update(addedKey, [...new Set([...added, folder])]);
    await this.memory.update(
      hiddenKey,
      hidden.filter((place) => place !== folder && !place.startsWith(join(folder, '/'))),
    );
    await this.reload();
  }

  /** Removes runs from the list. Their files stay. */
  async remove(runs: readonly RunData[]): Promise<void> {
    const hidden = new Set(this.memory.get<string[]>(hiddenKey, []));
    for (const run of runs) hidden.add(placeOf(run));
    await this.memory.update(hiddenKey, [...hidden]);
    // A folder without a listed run is forgotten.
    const left = this.listed.filter((run) => !hidden.has(placeOf(run)));
    const added = this.memory.get<string[]>(addedKey, []);
    await this.memory.update(
      addedKey,
      added.filter((folder) =>
        left.some((run) => [run.folder, run.place].some((each) => within(each, folder))),
      ),
    );
    await this.reload();
  }

  private watch(folders: readonly string[]): void {
    for (const each of this.watchers) each.dispose();
    const results = this.listed.flatMap((run) => run.folder ?? []);
    this.watchers = [...new Set([...folders, ...results])].map((folder) => {
      const pattern = new vscode.RelativePattern(
        vscode.Uri.file(folder),
        'runs/*/{run.json,entries.jsonl,live.json}',
      );
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      const soon = ({ fsPath }: vscode.Uri): void => this.soon(fsPath);
      return vscode.Disposable.from(
        watcher,
        watcher.onDidCreate(soon),
        watcher.onDidChange(soon),
        watcher.onDidDelete(soon),
      );
    });
  }

  /** @param path a changed file; undefined for a run that is not listed yet */
  private soon(path: string | undefined): void {
    const run = path === undefined ? undefined : this.runAt(path);
    if (run?.place === undefined || path?.endsWith('run.json') === true) this.isNew = true;
    else this.touched.add(run.place);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.catchUp().catch((error: unknown) => this.reporter.log(messageOf(error)));
    }, pause);
  }

  private runAt(path: string): RunData | undefined {
    return this.listed.find((run) => run.place !== undefined && path.startsWith(run.place));
  }

  private async catchUp(): Promise<void> {
    const places = [...this.touched];
    this.touched.clear();
    if (this.isNew) {
      this.isNew = false;
      await this.follows();
      for (const run of this.listed) this.progressed.fire(run.label);
      return;
    }
    for (const run of this.listed.filter(({ place }) => places.includes(place ?? ''))) {
      await this.look(run);
      // Another process has ended its batch. Only reading the run again says that it is finished.
      const hasEnded = run.unfinished === true && this.progressOf(run) === undefined;
      if (hasEnded) {
        await this.follows();
        this.progressed.fire(run.label);
        continue;
      }
      const entries = await this.newEntries(run.place ?? '').catch(() => undefined);
      if (entries !== undefined && entries.length > 0) {
        const grownRun = { ...run, entries: merged(run.entries, entries) };
        this.listed = this.listed.map((each) => (each.label === run.label ? grownRun : each));
        this.grown.fire({ run: run.label, entries });
      }
      this.progressed.fire(run.label);
    }
    if (places.length > 0) this.changed.fire();
  }

  /** Whole lines that a journal has gained since the last read. */
  private async newEntries(place: string): Promise<readonly RunEntry[]> {
    const path = journalPath(place);
    const file = await openPlain(path);
    try {
      const { size } = await file.stat();
      const known = this.read.get(place) ?? 0;
      // A shorter journal was started again.
      const from = size < known ? 0 : known;
      const buffer = Buffer.alloc(size - from);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
      const whole = buffer.subarray(0, buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1);
      this.read.set(place, from + whole.length);
      return parseJournal(whole.toString('utf8'), path).lines.map(
        ({ key: _key, finished: _finished, ...entry }) => entry,
      );
    } finally {
      await file.close();
    }
  }

  /** Ends the batches of this window; they can be resumed. */
  async close(): Promise<void> {
    const ending = [...this.batches.values()];
    for (const batch of ending) batch.cancel();
    await Promise.allSettled(ending.map((batch) => batch.done));
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const each of [...this.watchers, this.changed, this.grown, this.progressed]) {
      each.dispose();
    }
  }
}

const cancelledText = (): string =>
  vscode.l10n.t(
    'Reading the runs was canceled. Run "SWT-Bench: Refresh Instances and Runs" to read them.',
  );

/** Identifies a stored run. */
const placeOf = (run: RunData): string => run.place ?? `${run.folder ?? ''} ${run.label}`;

const within = (path: string | undefined, folder: string): boolean =>
  path !== undefined && (path === folder || path.startsWith(join(folder, '/')));

function merged(before: readonly RunEntry[], later: readonly RunEntry[]): RunEntry[] {
  const all = new Map(before.map((entry) => [candidateKey(entry), entry]));
  for (const entry of later) all.set(candidateKey(entry), entry);
  return [...all.values()];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
