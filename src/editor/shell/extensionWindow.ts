import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { type Reporter, RetryingMemo } from '../../domain/work';
import { noteKeys } from '../../engine/keysInUse';
import { readMarker, type WorkspaceMarker } from '../../repository/workspace';
import type * as Parts from './parts';
import { windowConfiguration } from './configurationFile';
import { configureTexts } from './configureTexts';
import type { CustomDiffCommands } from '../customFormat/customDiffCommands';
import { watchForCustomDiffs } from '../customFormat/watchForCustomDiffs';
import type { ChangeCoverageViews } from '../coverage/changeCoverageViews';
import { offerToAgents, type ForAgents } from '../tools/forAgents';
import type { EngineReadiness } from './engineReadiness';
import type { Inline } from '../testing/inline';
import { FirstSteps } from './firstSteps';
import type { Generated } from '../generate/generated';
import type { CandidateTesting } from '../testing/candidateTesting';
import { InstanceTree } from '../instance/instanceTree';
import type { ListNode } from '../instances/instanceTreeRow';
import type { Instances } from '../instances/instances';
import {
  candidateAuthority,
  fixAuthority,
  generatedCommandIds,
  commandIds,
  contextKeys,
  coverageCommandIds,
  customDiffCommandIds,
  dashboardViewType,
  inlineCommandIds,
  issueViewType,
  listCommandIds,
  internalCommandIds,
  outputAuthority,
  previewAuthority,
  resultAuthority,
  runCommandIds,
  runFileAuthority,
  scheme,
  statisticsAuthority,
  trajectoryViewType,
  viewIds,
} from './names';
import type { OpenInstance } from '../instance/openInstance';
import { openSetting, showProblem } from './problems';
import { outputReporter, type OutputReporter } from './outputReporter';
import { ReadOnlyFiles } from './readOnlyFiles';
import { Revealed } from '../instance/revealed';
import type { Runs } from '../runs/runs';
import type { RunNode } from '../runs/runTreeRow';
import { WorkspaceTrust } from './workspaceTrust';

/** Parts that exist while an instance is open in the window. */
interface OpenedParts {
  readonly instance: OpenInstance;
  readonly readiness: EngineReadiness;
  readonly testing: CandidateTesting;
  readonly inline: Inline;
  readonly coverage: ChangeCoverageViews;
  readonly generated: Generated;
}

/** Runs a command with the arguments of VS Code. */
type CommandHandler = (...args: unknown[]) => Promise<void>;

/** Runs a command about the open instance with the first argument of VS Code. */
type OpenCommand = (opened: OpenedParts, argument: unknown, parts: typeof Parts) => Promise<void>;

/**
 * The extension in one window: constructs its parts and registers them with VS Code. Heavy parts
 * load at their first use.
 */
export class ExtensionWindow {
  private readonly reporter: OutputReporter;
  private readonly revealed: Revealed;
  private readonly tree: InstanceTree;
  private readonly steps: FirstSteps;
  private readonly trust = new WorkspaceTrust();
  private readonly instances: LazyInstances;
  private readonly runs: LazyRuns;
  private readonly agents: ForAgents;
  private readonly files = new ReadOnlyFiles((uri) => this.documentOf(uri));
  private readonly customDiffs = new RetryingMemo(() => this.loadCustomDiffs());
  /**
   * Resolves when it is known whether an instance is open. Granting trust to the workspace replaces
   * the promise.
   */
  private opening: Promise<void> = Promise.resolve();
  private opened: OpenedParts | undefined;

  constructor(private readonly context: vscode.ExtensionContext) {
    configureTexts();
    // The keys stay in the environment, since other extensions of this process may need them.
    noteKeys();
    this.reporter = outputReporter(context.subscriptions);
    this.revealed = new Revealed(context.globalState);
    this.tree = new InstanceTree(this.reporter);
    this.steps = new FirstSteps(context.extension);
    const openId = async (): Promise<string | undefined> => (await this.openInstance())?.marker.id;
    this.instances = lazyInstances(context, this.reporter, openId);
    this.runs = lazyRuns(context, this.revealed, this.instances.loaded, this.reporter);
    this.agents = offerToAgents(context, () => this.openInstance(), this.reporter);
    context.subscriptions.push(
      windowConfiguration.follow(
        async (file) =>
          (await import('./parts')).readConfiguration({ folder: dirname(file), file }),
        (fault) => showProblem(fault, this.reporter),
      ),
      this.tree,
      this.trust,
      this.revealed,
      this.files,
      this.agents,
      vscode.window.createTreeView(viewIds.instance, { treeDataProvider: this.tree }),
      watchForCustomDiffs(() => void this.shown(() => this.startLanguage())),
      ...this.redrawWhenRevealed(),
      ...this.restorePanels(),
      this.provideDocuments(),
      ...this.registerCommands(),
    );
    this.opening = this.shown(() => this.openWorkspace());
  }

  /** Ends the engine of the window. Await it before the process ends. */
  async close(): Promise<void> {
    await this.agents.close();
    await Promise.all([
      this.opened?.instance.close(),
      this.customDiffs.made().then((loaded) => loaded?.close()),
      this.runs.close(),
    ]);
  }

  /** The open instance. Waits until it is known whether there is one. */
  private async openInstance(): Promise<OpenInstance | undefined> {
    await this.opening;
    return this.opened?.instance;
  }

  // ── Commands ──────────────────────────────────────────────────────────────────────────────────────

  private registerCommands(): vscode.Disposable[] {
    const all = {
      ...this.listCommands(),
      ...this.windowCommands(),
      ...Object.fromEntries(
        Object.entries(this.openCommands()).map(([id, run]): [string, CommandHandler] => [
          id,
          async (argument) => run(await this.requireOpened(), argument, await import('./parts')),
        ]),
      ),
    };
    return Object.entries(all).map(([id, run]) =>
      vscode.commands.registerCommand(id, (...args: unknown[]) =>
        this.shown(async () => {
          await windowConfiguration.loaded;
          return run(...args);
        }),
      ),
    );
  }

  /** Commands of views and parts that need no open instance. */
  private listCommands(): Record<string, CommandHandler> {
    return {
      ...each(customDiffCommandIds, async (id, argument) => {
        const open = await this.openInstance();
        await (await this.customDiffs.get()).run(id, open, argument);
      }),
      ...each(listCommandIds, async (id, ...args) => (await this.instances.loaded()).run(id, args)),
      ...each(runCommandIds, async (id, ...args) => (await this.runs.loaded()).run(id, args)),
      [commandIds.manageKeys]: async () => {
        const { ModelKeys } = await import('./parts');
        await new ModelKeys(this.context.secrets, this.context.globalState).manage();
      },
      [commandIds.refresh]: async () => {
        const [instances, runs] = [await this.instances.loaded(), await this.runs.loaded()];
        await Promise.all([instances.catalogue.reload(), runs.refresh()]);
      },
      [commandIds.showTrajectory]: async (row, rows) => {
        const { isCandidateRow } = await import('./parts');
        const generated = (await this.openInstance()) && this.opened?.generated;
        const isOfCandidate =
          isCandidateRow(row) || (row === undefined && generated?.isShowingCandidates === true);
        await (generated !== undefined && isOfCandidate
          ? generated.candidates.showTrajectory(row)
          : (await this.runs.loaded()).openTrajectory([row, rows]));
      },
    };
  }

  /** Commands that need no open instance, or that are about the instance of a row. */
  private windowCommands(): Record<string, CommandHandler> {
    const { context, revealed, steps, reporter } = this;
    return {
      [commandIds.openBundled]: async (from) => {
        // The window reloads. This flag shows the walkthrough again afterwards.
        await context.globalState.update(goesOn, from === 'walkthrough' ? true : undefined);
        const { openBundledInstance } = await import('./parts');
        await openBundledInstance(context, reporter);
      },
      [internalCommandIds.firstSteps]: () => steps.show(),
      [commandIds.showIssue]: async (row, how) => {
        const { id, opened } = await this.instanceOf(row);
        const { showIssue } = await import('./parts');
        const listed = await this.instances.loaded();
        const { read } = this;
        const inPassing = isInPassing(how);
        await showIssue({ context, revealed, listed, opened, id, read }, inPassing);
        if (!inPassing) read();
      },
      [commandIds.reveal]: async (row) => {
        const { id } = await this.instanceOf(row);
        await revealed.ask(id);
      },
      [commandIds.hideGolden]: async (row) => {
        const { id, opened } = await this.instanceOf(row);
        await revealed.set(id, false);
        const { closeComparisons, closeGoldenDiffs } = await import('./parts');
        if (opened !== undefined) await Promise.all([closeGoldenDiffs(), closeComparisons()]);
      },
      [internalCommandIds.openSetting]: (query) =>
        openSetting(typeof query === 'string' ? query : settingsPrefix),
      [commandIds.showLog]: () => Promise.resolve(reporter.show()),
    };
  }

  /** Commands about the open instance. */
  private openCommands(): Record<string, OpenCommand> {
    const { context, steps, reporter } = this;
    return {
      ...each(inlineCommandIds, (id, { inline }, about) => inline.run(id, about)),
      ...each(coverageCommandIds, (id, { coverage }, about) => coverage.run(id, about)),
      ...each(generatedCommandIds, (id, { generated }, about) => generated.run(id, about)),
      [commandIds.applyBundledCandidate]: ({ instance }, name, { applyBundledCandidate }) =>
        applyBundledCandidate(
          context.extensionPath,
          instance,
          typeof name === 'string' ? name : undefined,
        ),
      [commandIds.reproduce]: ({ testing }) => testing.reproduceAll(),
      [internalCommandIds.cancelRuns]: async ({ instance }) => instance.runs.cancelRuns(),
      [commandIds.showChangeCoverage]: async ({ instance }, _, { showChangeCoverage }) => {
        await showChangeCoverage(instance);
        if (instance.revealed) await steps.tell(contextKeys.coverageShown);
      },
      [commandIds.showVerdict]: ({ instance }, _, parts) => parts.showVerdict(instance),
      [commandIds.checkBeforeSubmitting]: ({ instance }, _, parts) =>
        parts.checkBeforeSubmitting(instance, reporter),
      [commandIds.exportReproduction]: async ({ instance }, folder, { exportReproduction }) => {
        // Only code that runs the command passes a folder; otherwise the user chooses one.
        const into = folder instanceof vscode.Uri ? folder : undefined;
        const written = await exportReproduction(instance, reporter, into);
        if (written?.isReproduction === true) await steps.tell(contextKeys.exported);
      },
      [commandIds.compareWithGolden]: ({ instance }, _, parts) =>
        parts.compareWithGolden(instance, reporter),
      [commandIds.checkWithMutants]: ({ instance }, _, parts) =>
        parts.checkWithMutants(instance, reporter),
      [internalCommandIds.showMutants]: async ({ instance }, _, { showMutants }) => {
        await showMutants(instance);
      },
      [internalCommandIds.checkEngine]: ({ instance, readiness }, _, parts) =>
        parts.reopenEngine(instance, readiness, reporter),
      [internalCommandIds.makeEnvironment]: ({ instance }, _, parts) =>
        parts.makeEnvironment(instance, reporter),
      [commandIds.environment]: ({ instance, readiness }, _, parts) =>
        parts.chooseEnvironment(instance, readiness, reporter),
    };
  }

  /** @throws HumanError with the reason when no instance is open */
  private async requireOpened(): Promise<OpenedParts> {
    await this.opening;
    if (this.opened === undefined) throw this.trust.whyNoInstance();
    return this.opened;
  }

  /**
   * The instance that a command is about: of the given row, else the open one, else the selected
   * one.
   *
   * @returns its id, and the open instance if that is the one
   * @throws HumanError when there is none
   */
  private async instanceOf(row: unknown): Promise<{ id: string; opened?: OpenInstance }> {
    const open = await this.openInstance();
    const id = idOf(row) ?? open?.marker.id ?? idOf(this.instances.list.selection[0]);
    if (id === undefined) throw this.trust.whyNoInstance();
    return open?.marker.id === id ? { id, opened: open } : { id };
  }

  // ── Documents and panels ──────────────────────────────────────────────────────────────────────────

  private redrawWhenRevealed(): vscode.Disposable[] {
    return [
      this.revealed.onDidChange(
        (id) => void import('./parts').then((parts) => parts.redrawIssue(id)),
      ),
      this.revealed.onDidChange(() => {
        const { instance } = this.opened ?? {};
        void this.steps.tell(contextKeys.revealed, instance?.revealed === true);
        for (const { uri } of vscode.workspace.textDocuments) {
          // Documents of both sides and of the comparison depend on revealing; previews do not.
          if (uri.scheme !== scheme || uri.authority === previewAuthority) continue;
          this.files.tellChanged(uri);
        }
      }),
    ];
  }

  private restorePanels(): vscode.Disposable[] {
    const { context, revealed } = this;
    return [
      vscode.window.registerWebviewPanelSerializer(issueViewType, {
        deserializeWebviewPanel: async (panel, state) => {
          const opened = await this.openInstance();
          const { restoreIssue } = await import('./parts');
          const listed = await this.instances.loaded();
          await restoreIssue(panel, state, { context, revealed, listed, opened, read: this.read });
        },
      }),
      vscode.window.registerWebviewPanelSerializer(dashboardViewType, {
        deserializeWebviewPanel: async (panel, state) => {
          (await this.runs.loaded()).restore(panel, state);
        },
      }),
      vscode.window.registerWebviewPanelSerializer(trajectoryViewType, {
        deserializeWebviewPanel: async (panel, state) => {
          const { restoreTrajectories } = await import('./parts');
          restoreTrajectories(panel, state, {
            extensionUri: context.extensionUri,
            reporter: this.reporter,
            askedFrom: async (origin) =>
              origin.view === 'candidates'
                ? (await this.requireOpened()).generated.candidates.trajectoriesFrom(origin)
                : (await this.runs.loaded()).restoredTrajectories(origin),
          });
        },
      }),
    ];
  }

  private provideDocuments(): vscode.Disposable {
    return vscode.workspace.registerFileSystemProvider(scheme, this.files, {
      isReadonly: new vscode.MarkdownString(vscode.l10n.t('This SWT-Bench document is read-only.')),
      isCaseSensitive: true,
    });
  }

  private async documentOf(uri: vscode.Uri): Promise<string> {
    const { authority } = uri;
    if (authority === previewAuthority)
      return (await this.customDiffs.get()).previews.contentOf(uri);
    if (authority === resultAuthority || authority === runFileAuthority)
      return (await this.runs.loaded()).contentOf(uri);
    if (authority === statisticsAuthority) return (await import('./parts')).statisticsDocument(uri);
    await this.opening;
    if (this.opened === undefined) return '';
    const { instance, generated } = this.opened;
    const { candidates, fixes } = generated;
    if (authority === candidateAuthority) return (await candidates.contentOf(uri)) ?? '';
    if (authority === fixAuthority) return fixes.contentOf(uri);
    const { documentText, outputText } = await import('./parts');
    return authority === outputAuthority ? outputText(instance, uri) : documentText(instance, uri);
  }

  private async loadCustomDiffs(): Promise<CustomDiffCommands> {
    const { CustomDiffCommands } = await import('./parts');
    const loaded = new CustomDiffCommands(this.context.extensionPath, this.reporter);
    loaded.previews.onDidChange((uri) => this.files.tellChanged(uri));
    this.context.subscriptions.push(loaded);
    return loaded;
  }

  private async startLanguage(): Promise<void> {
    await (await this.customDiffs.get()).startLanguage();
  }

  // ── The open instance ─────────────────────────────────────────────────────────────────────────────

  private async openWorkspace(): Promise<void> {
    const found = await findInstance();
    if (found === undefined) return;
    await this.trust.whenGranted(found.marker.id, () => {
      this.opening = this.shown(() => this.openFound(found));
      return this.opening;
    });
  }

  private async openFound({ folder, marker }: Found): Promise<void> {
    const { context, reporter, revealed, steps } = this;
    const parts = await import('./parts');
    await windowConfiguration.loaded;
    const instance = new parts.OpenInstance(context, folder, marker, revealed, reporter);
    // Registered before anything below can fail.
    context.subscriptions.push(instance);
    await instance.restore();
    const readiness = new parts.EngineReadiness(folder.uri, context.extensionPath, reporter);
    const tests = new parts.CandidateTests(instance);
    const underWay = new parts.TestsUnderWay(instance);
    const testing = new parts.CandidateTesting(instance, tests, underWay, reporter);
    const inline = new parts.Inline(instance, tests, underWay, testing, (uri) =>
      this.files.tellChanged(uri),
    );
    const coverage = new parts.ChangeCoverageViews(instance, context.extensionUri);
    const generated = new parts.Generated(context, instance, reporter);
    this.opened = { instance, readiness, testing, inline, coverage, generated };
    context.subscriptions.push(
      readiness,
      tests,
      underWay,
      testing,
      inline,
      coverage,
      generated,
      steps.follow(instance, tests),
      new parts.StatusBar(instance, readiness),
    );
    this.tree.show(instance, readiness);
    await steps.tell(contextKeys.instanceOpen);
    this.agents.tell();
    if (instance.isBundled) await steps.tell(contextKeys.bundled);
    await steps.tell(contextKeys.revealed, instance.revealed);
    await this.showFirst(instance);
    if (instance.revealed && parts.isGoldenDiffOpen(instance)) {
      await steps.tell(contextKeys.coverageShown);
    }
    void readiness.check();
    // What prevented a run may do so from now on, such as a disk that is full.
    this.context.subscriptions.push(instance.onDidFail(() => void readiness.check()));
    void parts.warmUpInBackground(instance, reporter);
  }

  /** Shows the walkthrough if it opened this window, and the issue if the instance is new. */
  private async showFirst(instance: OpenInstance): Promise<void> {
    const { context, revealed, steps, read } = this;
    const isFirst = await instance.isFirstTime();
    if (instance.isBundled && context.globalState.get(goesOn, false)) {
      await context.globalState.update(goesOn, undefined);
      await steps.show();
    } else if (isFirst) {
      const listed = await this.instances.loaded();
      const { showIssue } = await import('./parts');
      const { id } = instance.marker;
      await showIssue({ context, revealed, listed, opened: instance, id, read });
    }
  }

  /** Completes the step of the walkthrough: the user asked for the issue, or is in its page. */
  private readonly read = (): void => void this.steps.tell(contextKeys.issueRead);

  /** Runs something and shows its error once. */
  private async shown(run: () => void | Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      showProblem(error, this.reporter);
    }
  }
}

const isInPassing = (how: unknown): boolean =>
  typeof how === 'object' && how !== null && 'inPassing' in how && how.inPassing === true;

/** One handler for each command of a group; it receives the id of the command. */
const each = <Id extends string, Args extends readonly unknown[]>(
  ids: Readonly<Record<string, Id>>,
  run: (id: Id, ...args: Args) => Promise<void>,
): Record<string, (...args: Args) => Promise<void>> =>
  Object.fromEntries(Object.values(ids).map((id) => [id, (...args: Args) => run(id, ...args)]));

/** What the names of all settings begin with. */
const settingsPrefix = 'swt-bench.';

/** Key of the flag that the walkthrough opened the bundled instance. */
const goesOn = 'walkthroughGoesOn';

/** A folder of the window that is the workspace of an instance. */
interface Found {
  readonly folder: vscode.WorkspaceFolder;
  readonly marker: WorkspaceMarker;
}

/**
 * The first such folder. A window has one instance, since verdict and status bar are about one
 * candidate.
 */
async function findInstance(): Promise<Found | undefined> {
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    if (folder.uri.scheme !== 'file') continue;
    const marker = await readMarker(folder.uri.fsPath);
    if (marker !== undefined) return { folder, marker };
  }
  return undefined;
}

interface LazyInstances {
  readonly list: vscode.TreeView<ListNode>;
  readonly loaded: () => Promise<Instances>;
}

/** The Instances view. Its contents load when the view is visible or a command needs them. */
function lazyInstances(
  context: vscode.ExtensionContext,
  reporter: Reporter,
  openId: () => Promise<string | undefined>,
): LazyInstances {
  const redraw = new vscode.EventEmitter<void>();
  let made: Promise<Instances> | undefined;
  const instances = (): Promise<Instances> =>
    (made ??= import('./parts').then((parts) => {
      const loaded = new parts.Instances(context, list, reporter, () => redraw.fire(), openId);
      context.subscriptions.push(loaded);
      return loaded;
    }));
  const list = vscode.window.createTreeView<ListNode>(viewIds.instances, {
    treeDataProvider: {
      onDidChangeTreeData: redraw.event,
      getChildren: async (node) => (await instances()).getChildren(node),
      getTreeItem: async (node) => (await instances()).list.getTreeItem(node),
      resolveTreeItem: async (item, node) => (await instances()).list.resolveTreeItem(item, node),
      getParent: async (node) => (await instances()).list.getParent(node),
    },
    showCollapseAll: true,
    canSelectMany: true,
  });
  context.subscriptions.push(list, redraw);
  return { list, loaded: instances };
}

interface LazyRuns {
  readonly loaded: () => Promise<Runs>;
  readonly close: () => Promise<void>;
}

/** The Runs view, loaded in the same way. */
function lazyRuns(
  context: vscode.ExtensionContext,
  revealed: Revealed,
  instances: () => Promise<Instances>,
  reporter: Reporter,
): LazyRuns {
  const redraw = new vscode.EventEmitter<void>();
  let made: Promise<Runs> | undefined;
  const runs = (): Promise<Runs> =>
    (made ??= import('./parts').then((parts) => {
      const loaded = new parts.Runs(context, view, revealed, instances, reporter, () =>
        redraw.fire(),
      );
      context.subscriptions.push(loaded);
      return loaded;
    }));
  const view = vscode.window.createTreeView<RunNode>(viewIds.runs, {
    treeDataProvider: {
      onDidChangeTreeData: redraw.event,
      getChildren: async (node) => (await runs()).getChildren(node),
      getTreeItem: async (node) => (await runs()).tree.getTreeItem(node),
    },
    canSelectMany: true,
  });
  context.subscriptions.push(redraw, view);
  return { loaded: runs, close: async () => (await made)?.close() };
}

function idOf(row: unknown): string | undefined {
  if (typeof row === 'string') return row;
  if (typeof row !== 'object' || row === null || !('id' in row)) return undefined;
  return typeof row.id === 'string' ? row.id : undefined;
}
