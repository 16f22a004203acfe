import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { RetryingMemo } from '../../domain/retryingMemo';
import type { Instance } from '../../domain/instance';
import type { Side } from '../../domain/outcome';
import type { Reporter } from '../../domain/reporter';
import type { Engine } from '../../engine/engine';
import { runStore } from '../../evaluation/runStore';
import { openSession } from '../../evaluation/session';
import { aliasOf } from '../../method/alias';
import type { ModelView } from '../../method/modelView';
import { createPythonParser, type PythonParser } from '../../python/parser';
import type { PythonTest } from '../../python/tests';
import type { Trees } from '../../repository/trees';
import { WorkspaceRepository } from '../../repository/git/workspaceRepository';
import { asShown } from '../../patch/bytes';
import { instanceFolder } from '../../repository/storage';
import type { WorkspaceMarker } from '../../repository/marker';
import { patchDigest, Edits } from './edits';
import type { Evaluated, KnownCases, Preliminary } from '../verdict/evaluated';
import { InstanceOrigin } from './instanceOrigin';
import { InstanceRuns } from './instanceRuns';
import { InstanceView } from './instanceView';
import { keepInstance } from './keptInstance';
import { KnownResults } from '../verdict/knownResults';
import type { Revealed } from './revealed';
import { storageFolder } from '../shell/settings';
import { suggestDocker } from '../shell/suggestDocker';
import { distOf, WarmSession } from './warmSession';

/**
 * The instance whose workspace is open: what it is, its trees and sandboxes once they are needed, and
 * the last verdict. Everything that draws listens to `onDidChange`.
 */
export class OpenInstance implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  /** What `isCurrent` or unsaved editors say of the last verdict may have changed. */
  readonly onDidEdit: vscode.Event<void>;
  private readonly subscriptions: vscode.Disposable[];
  private readonly origin: InstanceOrigin;
  private readonly session: WarmSession;
  /** Runs the tests of the instance, one run after the other. */
  readonly runs: InstanceRuns;
  private readonly view = new InstanceView(this);
  private readonly repository: WorkspaceRepository;
  private readonly known: KnownResults;
  private readonly parsing = new RetryingMemo(() =>
    createPythonParser((file) => join(this.context.extensionPath, 'dist', file)),
  );

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly folder: vscode.WorkspaceFolder,
    readonly marker: WorkspaceMarker,
    private readonly revelations: Revealed,
    reporter: Reporter,
  ) {
    const edits = new Edits(this);
    this.onDidEdit = edits.onDidEdit;
    this.subscriptions = [
      edits,
      revelations.onDidChange((id) => {
        if (id === marker.id) this.changed.fire();
      }),
    ];
    // Outside of the workspace, and kept for the windows that open it later.
    const own = context.storageUri?.fsPath ?? instanceFolder(storageFolder(), marker.id);
    this.repository = new WorkspaceRepository(folder.uri.fsPath, join(own, 'workspace'));
    this.known = new KnownResults(context, marker.id, reporter, () => this.instance());
    this.origin = new InstanceOrigin(context, marker, this.repository, reporter);
    this.session = new WarmSession({
      scope: folder.uri,
      dist: distOf(context.extensionPath),
      reporter,
      open: async (engine, settings) => {
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
      redraw: () => this.changed.fire(),
    });
    this.runs = new InstanceRuns({
      scope: folder.uri,
      session: this.session,
      known: this.known,
      candidatePatch: (signal) => this.candidatePatch(signal),
      changed: () => this.changed.fire(),
    });
  }

  /** The instance is the one that comes with the extension. */
  get isBundled(): boolean {
    return this.marker.dataset === 'bundled';
  }

  /** Takes up the verdict of the window before. To be awaited before anything is drawn. */
  async restore(): Promise<void> {
    await this.known.restore(() => this.changed.fire());
  }

  /** The last verdict, if any. */
  get last(): Evaluated | undefined {
    return this.known.last;
  }

  /** What is known of the run under way; undefined when none is, or nothing yet. */
  get soFar(): Preliminary | undefined {
    return this.known.soFar;
  }

  /**
   * The cases of one test function, of the run under way where they are known, else of the last; and the
   * text of the test that they are about. A test that was only renamed since has those of its old name.
   */
  casesOf(test: string): KnownCases {
    return this.known.casesOf(test);
  }

  /** Tells which tests there are now, so that those that were renamed are known again. */
  tellTests(tests: readonly PythonTest[]): void {
    this.known.tellTests(tests);
  }

  /** Something runs, or waits for its turn. */
  get isRunning(): boolean {
    return this.runs.isRunning;
  }

  /** What is done before anything can run, such as building an image; undefined when it is not. */
  get step(): string | undefined {
    return this.session.step;
  }

  /** The engine and what the tests run with; undefined before it was needed. */
  get environment(): string | undefined {
    return this.session.environment;
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

  /** What models are told in the place of its id. @throws HumanError as `instance` */
  readonly alias = async (): Promise<string> => aliasOf(await this.instance());

  /** tree-sitter, loaded when something is to be parsed for the first time. */
  python(): Promise<PythonParser> {
    return this.parsing.get();
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

  /** The engine of the window, which disposes of it. @throws HumanError when it cannot be had */
  async engine(): Promise<Engine> {
    return (await this.session.session()).engine;
  }

  /**
   * What models may know of the instance, for all that works with one; not to be disposed of.
   *
   * @throws HumanError
   */
  modelView(): Promise<ModelView> {
    return this.view.get();
  }

  /** What the author has changed in the workspace, as a patch on R. */
  candidatePatch(signal?: AbortSignal): Promise<string> {
    return this.repository.edits(signal);
  }

  /** Paths of the files of R, relative to the workspace. */
  filesOfR(): Promise<string[]> {
    return this.repository.paths();
  }

  /** A file of R by its relative path, as an editor shows it; undefined when R has none. */
  async fileOfR(path: string): Promise<string | undefined> {
    const text = await this.repository.read(path);
    return text === undefined ? undefined : asShown(text);
  }

  /** As `fileOfR`, of many files at once; those that R has none of are absent. */
  async manyOfR(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const texts = await this.repository.readMany(paths);
    return new Map([...texts].map(([path, text]) => [path, asShown(text)]));
  }

  /** The same with its exact bytes (see patch/bytes.ts). */
  textOfR(path: string): Promise<string | undefined> {
    return this.repository.read(path);
  }

  /** Whether the workspace, as saved, is still what the last verdict is about. */
  async isCurrent(): Promise<boolean> {
    return this.last?.digest === patchDigest(await this.candidatePatch());
  }

  /** A file of a side, for the golden diff; empty where that side has no such file. */
  async fileOfSide(side: Side, path: string): Promise<string> {
    const trees = await this.trees();
    return readFile(join(trees[side], path), 'utf8').catch(() => '');
  }

  dispose(): void {
    void this.close();
  }

  /** Ends what runs. Resolves when nothing of the engine is left and the last verdict is kept. */
  async close(): Promise<void> {
    this.runs.cancel();
    for (const each of this.subscriptions.splice(0)) each.dispose();
    this.changed.dispose();
    await this.view.dispose();
    await Promise.all([this.session.dispose(), this.known.settled()]);
  }
}
