import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { openDataset } from '../dataset/dataset';
import type { Instance } from '../domain/instance';
import type { Side } from '../domain/outcome';
import { HumanError, messageOf } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { openEngine } from '../engine/openEngine';
import { evaluateCandidate, type CandidateResult } from '../evaluation/candidate';
import { updateState } from '../evaluation/instanceState';
import { runStore } from '../evaluation/runStore';
import { openSession, type InstanceSession } from '../evaluation/session';
import { createPythonParser, type PythonParser } from '../python/parser';
import { asShown, bytesOf } from '../repository/bytes';
import { git } from '../repository/git';
import { parseSources, sourceOf } from '../repository/source';
import { editsOf, prepareTrees, rOf, type Trees } from '../repository/trees';
import type { WorkspaceMarker } from '../repository/marker';
import { bundledDataset, bundledSource } from './bundled';
import { textsOfTests } from './textsOfTests';
import type { Revealed } from './revealed';
import { pythonSetting, storageFolder, timeoutSeconds } from './settings';

/** A verdict, and exactly what it is about. */
export interface Evaluated {
  readonly result: CandidateResult;
  /** Digest of the candidate's patch at the time. */
  readonly digest: string;
  /** Text of every test of the touched files in that patch, by the test's id. */
  readonly texts: ReadonlyMap<string, string>;
}

export interface RunRequestOptions {
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
  readonly onOutput?: (side: Side, text: string) => void;
}

/**
 * The instance whose workspace is open: what it is, its trees and sandboxes once they are needed, and
 * the last verdict. Everything that draws listens to `onDidChange`.
 */
export class OpenInstance implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  /** Ends the runs under way when the window closes. */
  private readonly closing = new AbortController();
  private readonly subscription: vscode.Disposable;
  private evaluated: Evaluated | undefined;
  private running = 0;
  private loaded: Promise<Instance> | undefined;
  private parsing: Promise<PythonParser> | undefined;
  private preparing: Promise<Trees> | undefined;
  private commitOfR: Promise<string> | undefined;
  private opening: { settings: string; session: Promise<InstanceSession> } | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly folder: vscode.WorkspaceFolder,
    readonly marker: WorkspaceMarker,
    private readonly revelations: Revealed,
    private readonly reporter: Reporter,
  ) {
    this.subscription = revelations.onDidChange((id) => {
      if (id === marker.id) this.changed.fire();
    });
  }

  /** The instance is the one that comes with the extension. */
  get isBundled(): boolean {
    return this.marker.dataset === 'bundled';
  }

  /** The last verdict, if any. */
  get last(): Evaluated | undefined {
    return this.evaluated;
  }

  get isRunning(): boolean {
    return this.running > 0;
  }

  /** Whether X*, T* and later hints are shown; remembered for the instance. */
  get revealed(): boolean {
    return this.revelations.has(this.marker.id);
  }

  /** Whether they were shown at any time, which says something about a verdict. */
  get wasRevealed(): boolean {
    return this.revelations.hasBeen(this.marker.id);
  }

  /** Asks before revealing. @returns whether they are revealed then */
  reveal(title: string): Promise<boolean> {
    return this.revelations.ask(this.marker.id, title);
  }

  /** True the first time that it is asked in this workspace. */
  async isFirstTime(): Promise<boolean> {
    const known = this.context.workspaceState.get('opened', false);
    await this.context.workspaceState.update('opened', true);
    return !known;
  }

  /** @throws HumanError when the dataset or the row is gone */
  instance(): Promise<Instance> {
    this.loaded ??= this.loadInstance().catch((error: unknown) => {
      this.loaded = undefined; // the dataset may be there again the next time
      throw error;
    });
    return this.loaded;
  }

  private async loadInstance(): Promise<Instance> {
    const path = this.isBundled ? bundledDataset(this.context.extensionPath) : this.marker.dataset;
    const dataset = await openDataset(path, {
      storage: storageFolder(),
      reporter: this.reporter,
    });
    const [instance] = await dataset.read([this.marker.id]);
    if (instance === undefined) throw new HumanError(`${this.marker.id} is not in ${path}`);
    return instance;
  }

  /** tree-sitter, loaded when something is to be parsed for the first time. */
  python(): Promise<PythonParser> {
    this.parsing ??= createPythonParser((file) =>
      join(this.context.extensionPath, 'dist', file),
    ).catch((error: unknown) => {
      this.parsing = undefined;
      throw error;
    });
    return this.parsing;
  }

  /** The pristine trees of R and R∘X*. */
  trees(): Promise<Trees> {
    this.preparing ??= this.prepare().catch((error: unknown) => {
      this.preparing = undefined;
      throw error;
    });
    return this.preparing;
  }

  private async prepare(): Promise<Trees> {
    const instance = await this.instance();
    const sources = this.isBundled
      ? [bundledSource(this.context.extensionPath)]
      : this.marker.sources;
    return prepareTrees(
      instance,
      await sourceOf(instance, parseSources(sources)),
      storageFolder(),
      { reporter: this.reporter },
    );
  }

  private session(): Promise<InstanceSession> {
    const python = pythonSetting(this.folder.uri);
    if (this.opening?.settings !== python) {
      const old = this.opening;
      void old?.session.then(
        (session) => session.dispose(),
        () => undefined,
      );
      const session = this.openSession(python);
      this.opening = { settings: python, session };
      session.catch(() => {
        if (this.opening?.session === session) this.opening = undefined;
      });
    }
    const { opening } = this;
    if (opening === undefined) throw new Error('no session');
    return opening.session;
  }

  private async openSession(python: string): Promise<InstanceSession> {
    const storage = storageFolder();
    return openSession({
      instance: await this.instance(),
      trees: await this.trees(),
      engine: await openEngine({
        name: 'local',
        storage,
        assets: join(this.context.extensionPath, 'dist'),
        python: python === '' ? undefined : python,
      }),
      python: await this.python(),
      store: runStore(storage),
    });
  }

  /** What the author has changed in the workspace, as a patch on R. */
  candidatePatch(signal?: AbortSignal): Promise<string> {
    return editsOf(this.folder.uri.fsPath, signal);
  }

  /** Paths of the files of R, relative to the workspace. */
  async filesOfR(): Promise<string[]> {
    const cwd = this.folder.uri.fsPath;
    const r = await this.r();
    const listed = await git(['ls-tree', '-r', '-z', '--name-only', r], { cwd });
    return listed.split('\0').filter((path) => path !== '');
  }

  /**
   * A file of R by its path relative to the workspace, as an editor shows it; undefined when R has none.
   */
  async fileOfR(path: string): Promise<string | undefined> {
    const cwd = this.folder.uri.fsPath;
    const r = await this.r();
    return git(['show', `${r}:${path}`], { cwd }).then(asShown, () => undefined);
  }

  /** The commit that is R in the workspace. */
  private r(): Promise<string> {
    this.commitOfR ??= rOf(this.folder.uri.fsPath).catch((error: unknown) => {
      this.commitOfR = undefined;
      throw error;
    });
    return this.commitOfR;
  }

  /** Grades what is in the workspace, as saved. */
  async evaluate(options: RunRequestOptions): Promise<Evaluated> {
    return this.busy(async () => {
      const patch = await this.candidatePatch(options.signal);
      const session = await this.session();
      const result = await evaluateCandidate(
        session,
        { model: 'workspace', text: patch, format: 'unified', mode: 'unit-test' },
        { ...this.runOptions(options), reuse: false },
      );
      const texts = await textsOfTests(session, result.patch);
      this.evaluated = { result, digest: digestOf(patch), texts };
      await this.keepVerdict(result);
      return this.evaluated;
    });
  }

  /** For the list of instances, in this window and others. */
  private async keepVerdict({ strict }: CandidateResult): Promise<void> {
    const verdict = {
      success: strict.success,
      reason: strict.success ? '' : strict.reason,
      failToPass: strict.failToPass.length,
      date: new Date().toISOString(),
    };
    await updateState(storageFolder(), this.marker.id, (state) => ({ ...state, verdict })).catch(
      // A full disk costs the list its icon, and the author nothing.
      (error: unknown) => this.reporter.log(`the verdict was not kept: ${messageOf(error)}`),
    );
  }

  /** Runs chosen tests of the workspace on one side. */
  async runOn(
    side: Side,
    files: readonly string[],
    select: readonly string[] | undefined,
    options: RunRequestOptions,
  ): ReturnType<InstanceSession['run']> {
    return this.busy(async () => {
      const patch = await this.candidatePatch(options.signal);
      const session = await this.session();
      return session.run(
        { patch, files, ...(select === undefined ? {} : { select }) },
        { ...this.runOptions(options), reuse: false, sides: [side] },
      );
    });
  }

  private async busy<T>(work: () => Promise<T>): Promise<T> {
    this.running++;
    this.changed.fire();
    try {
      return await work();
    } finally {
      this.running--;
      this.changed.fire();
    }
  }

  private runOptions(options: RunRequestOptions): RunRequestOptions & { timeoutSeconds: number } {
    const signal = AbortSignal.any([options.signal, this.closing.signal]);
    return { ...options, signal, timeoutSeconds: timeoutSeconds(this.folder.uri) };
  }

  /** Whether the workspace is still what the last verdict is about. */
  async isCurrent(): Promise<boolean> {
    return this.evaluated?.digest === digestOf(await this.candidatePatch());
  }

  /** A file of a side, for the golden diff; empty where that side has no such file. */
  async fileOfSide(side: Side, path: string): Promise<string> {
    const trees = await this.trees();
    return readFile(join(trees[side], path), 'utf8').catch(() => '');
  }

  dispose(): void {
    this.closing.abort();
    this.subscription.dispose();
    this.changed.dispose();
    void this.opening?.session.then(
      (session) => session.dispose(),
      () => undefined,
    );
  }
}

const digestOf = (patch: string): string =>
  createHash('sha256').update(bytesOf(patch)).digest('hex');
