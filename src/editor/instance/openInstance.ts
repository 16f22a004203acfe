import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { RetryingMemo, type Reporter } from '../../domain/work';
import type { Instance } from '../../domain/instance';
import type { Side } from '../../domain/outcome';
import type { Engine } from '../../engine/engine';
import { containerEngine, runsInContainers } from '../../engine/engines';
import { runStore } from '../../evaluation/testRun';
import { openSession } from '../../evaluation/session';
import { aliasOf } from '../../method/tools';
import type { ModelView } from '../../method/modelView';
import { createPythonParser, type PythonParser } from '../../python/parser';
import type { PythonTest } from '../../python/tests';
import type { Trees } from '../../repository/trees';
import { WorkspaceRepository } from '../../repository/workspaceRepository';
import { asShown } from '../../patch/bytes';
import { instanceFolder } from '../../repository/storage';
import type { WorkspaceMarker } from '../../repository/workspace';
import { patchDigest, Edits } from './edits';
import { hasUnsaved } from './saveEdits';
import type { Evaluated, KnownCases, Preliminary } from '../verdict/evaluated';
import { EnvironmentNotes } from './environmentNotes';
import { InstanceOrigin, storeInstance } from './instanceOrigin';
import type {
  FilesOfR,
  InstanceSource,
  LatestVerdict,
  Revealing,
  TestsOfInstance,
} from './instanceRoles';
import { InstanceRuns } from './instanceRuns';
import { InstanceView } from './instanceView';
import { KnownResults } from '../verdict/knownResults';
import type { Revealed } from './revealed';
import { storageFolder } from '../shell/settings';
import { distOf, WarmSession } from './warmSession';
import { recipeOf } from '../../environments/recipes';
import { knownRepositories } from '../../engine/runners';
import { useEngine } from '../shell/problems';

/** `patchDigest` of a workspace without edits. */
const digestOfR = patchDigest('');

/**
 * The instance whose workspace is open: what it is, its trees and sandboxes on demand, and the last
 * verdict. Everything that draws listens to `onDidChange`. Comments of instanceRoles.ts describe
 * the members of a role.
 */
export class OpenInstance
  implements InstanceSource, Revealing, LatestVerdict, FilesOfR, TestsOfInstance, vscode.Disposable
{
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  readonly onDidEdit: vscode.Event<void>;
  private readonly failed = new vscode.EventEmitter<void>();
  /** Fires when something prevented a run. */
  readonly onDidFail = this.failed.event;
  private readonly subscriptions: vscode.Disposable[];
  private readonly origin: InstanceOrigin;
  private readonly session: WarmSession;
  readonly runs: InstanceRuns;
  readonly environmentNotes: EnvironmentNotes;
  private readonly view = new InstanceView(this);
  private readonly repository: WorkspaceRepository;
  private readonly known: KnownResults;
  /** Whether the saved workspace equals R; its last verdict is then about edits that are gone. */
  private isAsR = false;
  private comparing = 0;
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
      edits.onDidEdit(() => void this.compareWithR()),
      revelations.onDidChange((id) => {
        if (id === marker.id) this.changed.fire();
      }),
    ];
    // Outside the workspace, and kept for later windows of it.
    const own = context.storageUri?.fsPath ?? instanceFolder(storageFolder(), marker.id);
    this.repository = new WorkspaceRepository(folder.uri.fsPath, join(own, 'workspace'));
    this.environmentNotes = new EnvironmentNotes(
      context.workspaceState,
      reporter,
      () => this.changed.fire(),
      vscode.env.language,
    );
    this.known = new KnownResults(context, folder.uri, marker.id, reporter, () => this.instance());
    this.origin = new InstanceOrigin(context, marker, this.repository, reporter);
    this.session = new WarmSession({
      instance: marker.id,
      scope: folder.uri,
      dist: distOf(context.extensionPath),
      reporter,
      open: async (engine) => {
        const instance = await this.instance();
        void suggestDocker(instance, engine, folder, context.workspaceState);
        return openSession({
          instance,
          trees: await this.trees(),
          engine,
          python: await this.python(),
          store: runStore(storageFolder()),
        });
      },
      redraw: () => this.changed.fire(),
      runsIn: (environment) => {
        if (this.known.runsIn(environment)) this.changed.fire();
      },
    });
    this.runs = new InstanceRuns({
      scope: folder.uri,
      session: this.session,
      known: this.known,
      candidatePatch: (signal) => this.candidatePatch(signal),
      changed: () => this.changed.fire(),
      failed: () => this.failed.fire(),
    });
  }

  get isBundled(): boolean {
    return this.marker.dataset === 'bundled';
  }

  /** Restores the verdict of the window before. Await it before anything is drawn. */
  async restore(): Promise<void> {
    await this.known.restore(() => this.changed.fire());
    this.subscriptions.push(this.known.follow(() => this.changed.fire()));
    void this.compareWithR();
  }

  get last(): Evaluated | undefined {
    const { last } = this.known;
    return this.hasCandidate || last?.digest === digestOfR ? last : undefined;
  }

  get hasCandidate(): boolean {
    return !this.isAsR || hasUnsaved(this);
  }

  /** Without git, as in a workspace that is broken, there may be a candidate. */
  private async compareWithR(): Promise<void> {
    const turn = ++this.comparing;
    const patch = await this.candidatePatch().catch(() => undefined);
    const isAsR = patch?.trim() === '';
    if (turn !== this.comparing || isAsR === this.isAsR) return;
    this.isAsR = isAsR;
    this.changed.fire();
  }

  get soFar(): Preliminary | undefined {
    return this.known.soFar;
  }

  /** Whether the run under way has results of a test function. */
  hasSoFar(test: string): boolean {
    return this.known.hasSoFar(test);
  }

  casesOf(test: string): KnownCases {
    return this.known.casesOf(test);
  }

  tellTests(tests: readonly PythonTest[]): void {
    this.known.tellTests(tests);
  }

  get isRunning(): boolean {
    return this.runs.isRunning;
  }

  get isCancelling(): boolean {
    return this.runs.isCancelling;
  }

  get step(): string | undefined {
    return this.session.step;
  }

  get environment(): string | undefined {
    return this.session.environment;
  }

  /** Disposes of an object together with the instance. */
  own(disposable: vscode.Disposable): void {
    this.subscriptions.push(disposable);
  }

  get revealed(): boolean {
    return this.revelations.has(this.marker.id);
  }

  get wasRevealed(): boolean {
    return this.revelations.hasBeen(this.marker.id);
  }

  reveal(title: string): Promise<boolean> {
    return this.revelations.ask(this.marker.id, title);
  }

  /** True at the first call in this workspace. */
  async isFirstTime(): Promise<boolean> {
    const known = this.context.workspaceState.get('opened', false);
    await this.context.workspaceState.update('opened', true);
    return !known;
  }

  instance(): Promise<Instance> {
    return this.origin.instance();
  }

  readonly alias = async (): Promise<string> => aliasOf(await this.instance());

  python(): Promise<PythonParser> {
    return this.parsing.get();
  }

  trees(): Promise<Trees> {
    return this.origin.trees();
  }

  /** Stores the instance, so that a window in a container finds it. */
  async keepForContainer(): Promise<void> {
    const { secrets } = this.context;
    if (!this.isBundled)
      await storeInstance(secrets, await this.instance(), (await this.trees()).source);
  }

  async engine(): Promise<Engine> {
    return (await this.session.session()).engine;
  }

  modelView(): Promise<ModelView> {
    return this.view.get();
  }

  /** R for the user's own tests; the caller disposes of it. @throws HumanError */
  viewOfPerson(): Promise<ModelView> {
    return this.view.ofPerson();
  }

  candidatePatch(signal?: AbortSignal): Promise<string> {
    return this.repository.edits(signal);
  }

  filesOfR(): Promise<string[]> {
    return this.repository.paths();
  }

  async fileOfR(path: string): Promise<string | undefined> {
    const text = await this.repository.read(path);
    return text === undefined ? undefined : asShown(text);
  }

  async manyOfR(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const texts = await this.repository.readMany(paths);
    return new Map([...texts].map(([path, text]) => [path, asShown(text)]));
  }

  textOfR(path: string): Promise<string | undefined> {
    return this.repository.read(path);
  }

  async isCurrent(): Promise<boolean> {
    return this.last?.digest === patchDigest(await this.candidatePatch());
  }

  async fileOfSide(side: Side, path: string): Promise<string> {
    const trees = await this.trees();
    return readFile(join(trees[side], path), 'utf8').catch(() => '');
  }

  dispose(): void {
    void this.close();
  }

  /** Ends the runs. Resolves when nothing of the engine is left and the last verdict is written. */
  async close(): Promise<void> {
    this.runs.cancel();
    for (const each of this.subscriptions.splice(0)) each.dispose();
    this.changed.dispose();
    this.failed.dispose();
    await this.view.dispose();
    await Promise.all([this.session.dispose(), this.known.settled()]);
  }
}

/**
 * Suggests the docker engine, once in a workspace, when the instance's repository needs another
 * Python than the local engine has.
 */
async function suggestDocker(
  instance: Instance,
  engine: Engine,
  folder: vscode.WorkspaceFolder,
  memory: vscode.Memento,
): Promise<void> {
  const here = engine.environment?.pythonVersion;
  if (runsInContainers(engine.name) || here === undefined) return;
  if (!knownRepositories.includes(instance.repo)) return;
  const { python } = recipeOf(instance.repo, instance.version);
  if (here === python || here.startsWith(`${python}.`)) return;
  const key = `suggestedDocker.${instance.id}`;
  if (memory.get(key, false)) return;
  await memory.update(key, true);
  const use = vscode.l10n.t('Use Docker');
  const chosen = await vscode.window.showInformationMessage(
    vscode.l10n.t(
      '{0} was written for Python {1}, but the local engine uses {2}. Tests may fail for that reason alone.',
      instance.id,
      python,
      here,
    ),
    use,
    vscode.l10n.t('Not Now'),
  );
  if (chosen === use) await useEngine(containerEngine, folder);
}
