import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Instance } from '../domain/instance';
import type { Side } from '../domain/outcome';
import type { TestTransition } from '../domain/transition';
import { messageOf, throwIfAborted } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import type { CompleteRun } from '../evaluation/affected';
import { evaluateSince, type CandidateResult } from '../evaluation/candidate';
import type { FirstResult } from '../evaluation/firstResult';
import { updateState } from '../evaluation/instanceState';
import { runStore } from '../evaluation/runStore';
import { openSession, type InstanceSession } from '../evaluation/session';
import { createPythonParser, type PythonParser } from '../python/parser';
import { asShown, bytesOf } from '../patch/bytes';
import { git } from '../repository/git';
import { editsOf, rOf, type Trees } from '../repository/trees';
import type { WorkspaceMarker } from '../repository/marker';
import { casesOf } from './display';
import { distOf, InstanceSessions } from './instanceSession';
import { InstanceOrigin } from './instanceOrigin';
import { keepInstance } from './keptInstance';
import { textsOfTests } from './textsOfTests';
import type { Revealed } from './revealed';
import { storageFolder, timeoutSeconds } from './settings';
import { suggestDocker } from './suggestDocker';

/** A verdict, and exactly what it is about. */
export interface Evaluated {
  readonly result: CandidateResult;
  /** Digest of the candidate's patch at the time. */
  readonly digest: string;
  /** Text of every test of the touched files in that patch, by the test's id. */
  readonly texts: ReadonlyMap<string, string>;
}

/** What the candidate's own tests did, before the whole files have run and the grade is known. */
export interface Preliminary {
  readonly first: FirstResult;
  readonly texts: ReadonlyMap<string, string>;
}

export interface RunRequestOptions {
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
  readonly onOutput?: (side: Side, text: string) => void;
  readonly onFirst?: (first: FirstResult) => void;
  /** Only what an edit since the last complete run can have an effect on has to run. */
  readonly onlyAffected?: boolean;
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
  private readonly subscriptions: vscode.Disposable[];
  private readonly origin: InstanceOrigin;
  private readonly sessions: InstanceSessions;
  private evaluated: Evaluated | undefined;
  private preliminary: Preliminary | undefined;
  private running = 0;
  private preparingStep: string | undefined;
  private environmentInWords: string | undefined;
  /** The session whose pair was open last. */
  private warm: InstanceSession | undefined;
  /** The last complete run, and the session that it was done in: another has another environment. */
  private complete: { readonly session: InstanceSession; readonly run: CompleteRun } | undefined;
  private parsing: Promise<PythonParser> | undefined;
  private commitOfR: Promise<string> | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly folder: vscode.WorkspaceFolder,
    readonly marker: WorkspaceMarker,
    private readonly revelations: Revealed,
    private readonly reporter: Reporter,
  ) {
    this.subscriptions = [
      revelations.onDidChange((id) => {
        if (id === marker.id) this.changed.fire();
      }),
    ];
    this.origin = new InstanceOrigin(context, marker, folder.uri.fsPath, reporter);
    this.sessions = new InstanceSessions(
      folder.uri,
      distOf(context.extensionPath),
      reporter,
      async (engine, settings) => {
        this.environmentInWords = engine.description;
        const instance = await this.instance();
        if (settings.name === 'local') {
          void suggestDocker(instance, engine, folder, context.workspaceState);
        }
        return openSession({
          instance,
          trees: await this.trees(),
          engine,
          python: await this.python(),
          store: runStore(storageFolder()),
        });
      },
    );
  }

  /** The instance is the one that comes with the extension. */
  get isBundled(): boolean {
    return this.marker.dataset === 'bundled';
  }

  /** The last verdict, if any. */
  get last(): Evaluated | undefined {
    return this.evaluated;
  }

  /** What is known of the run under way; undefined when none is, or nothing yet. */
  get soFar(): Preliminary | undefined {
    return this.preliminary;
  }

  /**
   * The cases of one test function, of the run under way where they are known, else of the last; and the
   * text of the test that they are about.
   */
  casesOf(test: string): { readonly cases: TestTransition[]; readonly text: string | undefined } {
    const { preliminary: soFar, evaluated: last } = this;
    const fresh = soFar === undefined ? [] : casesOf(soFar.first, test);
    if (fresh.length > 0) return { cases: fresh, text: soFar?.texts.get(test) };
    if (last === undefined) return { cases: [], text: undefined };
    return { cases: casesOf(last.result, test), text: last.texts.get(test) };
  }

  get isRunning(): boolean {
    return this.running > 0;
  }

  /** What is done before anything can run, such as building an image; undefined when it is not. */
  get step(): string | undefined {
    return this.preparingStep;
  }

  /** The engine and what the tests run with; undefined before it was needed. */
  get environment(): string | undefined {
    return this.environmentInWords;
  }

  /** Disposes of something with the instance. */
  own(disposable: vscode.Disposable): void {
    this.subscriptions.push(disposable);
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
    return this.origin.instance();
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
    return this.origin.trees();
  }

  /** Lets a window in a container know the instance. */
  async keepForContainer(): Promise<void> {
    const { secrets } = this.context;
    if (!this.isBundled)
      await keepInstance(secrets, await this.instance(), (await this.trees()).source);
  }

  /**
   * Opens the pair of sandboxes, so that a run does not wait for it.
   *
   * @throws HumanError, Cancelled
   */
  async warmUp(signal: AbortSignal): Promise<void> {
    await this.ready({ signal: AbortSignal.any([signal, this.closing.signal]) });
  }

  /** The session with its pair open. */
  private async ready(work: { readonly signal: AbortSignal }): Promise<InstanceSession> {
    const reporter: Reporter = {
      log: (line) => this.reporter.log(line),
      progress: (step) => {
        this.reporter.progress(step);
        this.showStep(step);
      },
    };
    try {
      const isWarm = this.warm !== undefined && this.warm === this.sessions.current;
      if (!isWarm) this.showStep('opening the sandboxes of R and R∘X*');
      const session = await this.sessions.get();
      throwIfAborted(work.signal);
      await session.warmUp({ ...work, reporter });
      this.warm = session;
      const { engine } = session;
      const environment = await session.environment({ ...work, reporter });
      this.environmentInWords =
        engine.environment === undefined
          ? `${engine.description}, ${environment.description}`
          : engine.description;
      return session;
    } finally {
      this.showStep(undefined);
    }
  }

  private showStep(step: string | undefined): void {
    if (this.preparingStep === step) return;
    this.preparingStep = step;
    this.changed.fire();
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
    const text = await this.textOfR(path);
    return text === undefined ? undefined : asShown(text);
  }

  /** The same with its exact bytes (see patch/bytes.ts). */
  async textOfR(path: string): Promise<string | undefined> {
    const cwd = this.folder.uri.fsPath;
    const r = await this.r();
    return git(['cat-file', 'blob', `${r}:${path}`], { cwd }).catch(() => undefined);
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
      const session = await this.ready(this.runOptions(options));
      const since =
        options.onlyAffected === true && this.complete?.session === session
          ? this.complete.run
          : undefined;
      const { result, complete } = await evaluateSince(
        session,
        { model: 'workspace', text: patch, format: 'unified', mode: 'unit-test' },
        {
          ...this.runOptions(options),
          reuse: false,
          since,
          onFirst: (first) => {
            options.onFirst?.(first);
            void this.showFirst(session, first, options.signal);
          },
        },
      );
      this.complete = complete === undefined ? undefined : { session, run: complete };
      const texts = await textsOfTests(session, result.patch);
      this.evaluated = { result, digest: digestOf(patch), texts };
      await this.keepVerdict(result);
      return this.evaluated;
    });
  }

  private async showFirst(
    session: InstanceSession,
    first: FirstResult,
    signal: AbortSignal,
  ): Promise<void> {
    const texts = await textsOfTests(session, first.patch).catch(() => new Map<string, string>());
    if (signal.aborted || this.running === 0) return;
    this.preliminary = { first, texts };
    this.changed.fire();
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
      const session = await this.ready(this.runOptions(options));
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
      this.preliminary = undefined;
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
    void this.close();
  }

  /** Ends what runs. Resolves when nothing of the engine is left. */
  async close(): Promise<void> {
    this.closing.abort();
    for (const each of this.subscriptions.splice(0)) each.dispose();
    this.changed.dispose();
    await this.sessions.dispose();
  }
}

const digestOf = (patch: string): string =>
  createHash('sha256').update(bytesOf(patch)).digest('hex');
