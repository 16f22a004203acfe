import { stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import * as vscode from 'vscode';
import { version as productVersion } from '../../../package.json';
import type { CellName, Openable } from '../../dashboard/protocol';
import {
  Cancelled,
  HumanError,
  orCancelled,
  throwIfAborted,
  type Reporter,
} from '../../domain/work';
import type { AskedFilter } from '../../study/document';
import { studyVersion } from '../../study/studyReportSchema';
import type { RunData } from '../../study/entry';
import { methodsOf, type EvaluatedMethod } from '../../study/measures';
import { dashboardHtml } from '../../study/pageHtml';
import { bundledSource, repositorySources } from '../shell/settings';
import { distOf } from '../instance/warmSession';
import {
  askForRepositoryFolder,
  chooseRepositoryFolder,
} from '../instances/chooseRepositoryFolder';
import type { Instances } from '../instances/instances';
import { withNotification, afterAWhileInView } from '../shell/progress';
import {
  commandIds,
  listCommandIds,
  runCommandIds,
  runFileAuthority,
  viewIds,
} from '../shell/names';
import { withoutLinkMarkup } from '../shell/plainText';
import { showEngineProblem, showProblem } from '../shell/problems';
import { showTrajectories, type AskedTrajectories } from '../trajectory/showTrajectories';
import type { OriginOfRuns } from '../trajectory/trajectoryOrigin';
import { tracesOfRun, trajectoriesOfRuns } from './trajectoriesOfRuns';
import type { Revealed } from '../instance/revealed';
import { SourceUnusable } from '../../repository/git';
import { withBundledSource } from '../../repository/source';
import { showCellCandidate, showLog, runFileText } from './cells';
import { findCell, repositoryOfCell } from './foundCell';
import { DashboardPanel, type DashboardSource } from './dashboardPanel';
import { denominatorInWords } from './denominatorChoices';
import { possibleDatasets } from './datasetOfPredictions';
import { askForBatch, evaluatePredictions, type BatchChoice } from './evaluatePredictions';
import { withoutHiddenSurvivors, exportedText } from './dashboardContent';
import { RunLibrary } from './library';
import { RepairList } from './repairList';
import { ResultGutters } from './resultGutters';
import { openPage } from '../shell/bundledPage';
import { RunsFilter } from './runsFilter';
import { ratesOfAll, type RunNode, runNodes, runTreeRow, type ShownRuns } from './runTreeRow';
import { iconBeside, treeItemOf } from '../shell/draw';

/** Key of the methods that dashboards hide until the user shows them again. */
const hiddenKey = 'dashboard.hidden';

/** Where a dialog for saving begins. A name without a folder would be at the root of the disk. */
const atHome = (name: string): vscode.Uri => vscode.Uri.file(join(homedir(), name));

type RunCommand = (typeof runCommandIds)[keyof typeof runCommandIds];

/** The Runs view: its rows, its commands, and the dashboards of its runs. */
export class Runs implements vscode.Disposable {
  readonly library: RunLibrary;
  readonly repairs: RepairList;
  readonly tree: RunsTree;
  readonly gutters: ResultGutters;
  private readonly filter: RunsFilter;
  private readonly subscriptions: vscode.Disposable[];

  /** @param redraw makes the view ask for its rows again */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly view: vscode.TreeView<RunNode>,
    private readonly revealed: Revealed,
    private readonly instances: () => Promise<Instances>,
    private readonly reporter: Reporter,
    redraw: () => void,
  ) {
    this.library = new RunLibrary(context.globalState, reporter);
    this.repairs = new RepairList(context.globalState);
    this.tree = new RunsTree(this.library, this.repairs);
    this.gutters = new ResultGutters(context.extensionUri, revealed);
    this.filter = new RunsFilter(instances);
    this.subscriptions = [
      this.library,
      this.repairs,
      this.gutters,
      this.filter,
      this.library.onDidChange(redraw),
      this.library.onDidProgress(redraw),
      this.repairs.onDidChange(redraw),
    ];
  }

  /** Rows below a row. Reads the runs at the first request of the view. */
  async getChildren(node?: RunNode): Promise<RunNode[]> {
    await Promise.all([this.library.loaded(), this.repairs.loaded()]).catch((error: unknown) => {
      // The list says that reading was cancelled.
      if (!(error instanceof Cancelled)) throw error;
    });
    return this.tree.getChildren(node);
  }

  async run(command: RunCommand, args: readonly unknown[]): Promise<void> {
    const [first] = args;
    switch (command) {
      case runCommandIds.add:
        return this.add(typeof first === 'string' ? first : undefined);
      case runCommandIds.evaluate:
        return this.evaluate(isChoice(first) ? first : undefined);
      case runCommandIds.openDashboard:
        await this.library.loaded();
        DashboardPanel.show(
          this.source,
          this.chosen(args).map(({ label }) => label),
        );
        return;
      case runCommandIds.exportHtml:
        return this.exportHtml(args);
      case runCommandIds.remove:
        return this.remove(args);
      case runCommandIds.pause:
        return this.batch('pause', this.needed(args));
      case runCommandIds.resume:
        return this.batch('resume', this.needed(args));
      case runCommandIds.cancel:
        return this.batch('cancel', this.needed(args));
    }
  }

  /** Reads the runs and the results of code repair again. */
  async refresh(): Promise<void> {
    this.library.forgetCosts();
    const title = vscode.l10n.t('Reading code repair results');
    await Promise.all([
      this.library.reload(),
      afterAWhileInView(viewIds.runs, title, () => this.repairs.reload()),
    ]);
  }

  /** Text of a read-only document about a saved run. */
  contentOf(uri: vscode.Uri): Promise<string> | string {
    return uri.authority === runFileAuthority
      ? runFileText(this.library, uri)
      : this.gutters.contentOf(uri);
  }

  /** Fills a dashboard that VS Code brings back. */
  restore(panel: vscode.WebviewPanel, saved: unknown): void {
    DashboardPanel.restore(panel, saved, this.source);
  }

  /**
   * The runs of the row that a command was called on and of those selected with it; none for all.
   */
  private chosen([row, rows]: readonly unknown[]): RunData[] {
    const selected = Array.isArray(rows) && rows.length > 0 ? (rows as unknown[]) : [row];
    const labels = selected.flatMap((each) =>
      typeof each === 'string'
        ? [each]
        : isNode(each)
          ? [each.kind === 'run' ? each.label : each.run]
          : [],
    );
    const runs = this.library.runs.filter(({ label }) => labels.includes(label));
    const [unknown] = labels;
    if (runs.length === 0 && unknown !== undefined) {
      throw new HumanError(
        vscode.l10n.t('No run {0} in the list', unknown),
        vscode.l10n.t('Run "SWT-Bench: Refresh Instances and Runs"'),
      );
    }
    return runs;
  }

  /** As `chosen`, but uses the selection when the command was not called on a row. */
  private needed(args: readonly unknown[]): RunData[] {
    const runs = this.chosen(args[0] === undefined ? [undefined, this.view.selection] : args);
    if (runs.length > 0) return runs;
    throw new HumanError(
      vscode.l10n.t('No run is selected'),
      vscode.l10n.t('Select one in the Runs view'),
    );
  }

  /** @param given a folder of a run, or a file with results of code repair */
  private async add(given: string | undefined): Promise<void> {
    if (given !== undefined) {
      const isFolder = (await stat(given).catch(() => undefined))?.isDirectory() !== false;
      return isFolder ? this.addFolder(given) : this.addRepairs(given);
    }
    const items = [
      {
        label: vscode.l10n.t('Run Folder…'),
        description: vscode.l10n.t('evaluated candidates, or a published run'),
        add: () => this.addFolder(undefined),
      },
      {
        label: vscode.l10n.t('Code Repair Results…'),
        description: vscode.l10n.t('to compare with the tests of the same instances'),
        add: () => this.addRepairs(),
      },
    ];
    const title = vscode.l10n.t('Add Results');
    await (await vscode.window.showQuickPick(items, { title }))?.add();
  }

  private async addFolder(given: string | undefined): Promise<void> {
    const folder =
      given ??
      (
        await vscode.window.showOpenDialog({
          canSelectFiles: false,
          canSelectFolders: true,
          title: vscode.l10n.t('Run Folder'),
          openLabel: vscode.l10n.t('Add'),
        })
      )?.[0]?.fsPath;
    if (folder === undefined) return;
    await this.library.loaded();
    const before = this.library.runs.length;
    await this.library.add(folder);
    if (this.library.runs.length > before) return;
    const why = this.library.problems.find((problem) => problem.startsWith(folder));
    if (why !== undefined) {
      throw new HumanError(
        why,
        vscode.l10n.t(
          'Choose a folder that "swt-bench evaluate" or the harness wrote, or a published run',
        ),
      );
    }
  }

  /** @param given a file, instead of asking the user */
  private async addRepairs(given?: string): Promise<void> {
    const files =
      given === undefined
        ? await vscode.window.showOpenDialog({
            canSelectMany: true,
            openLabel: vscode.l10n.t('Add Results'),
            title: vscode.l10n.t(
              'Code Repair Results: SWE-bench Harness Reports or Lists of Resolved Instances',
            ),
          })
        : [vscode.Uri.file(given)];
    if (files === undefined) return;
    await afterAWhileInView(viewIds.runs, vscode.l10n.t('Reading code repair results'), (signal) =>
      this.repairs.add(
        files.map(({ fsPath }) => fsPath),
        signal,
      ),
    );
  }

  /** Removes runs from the list, or results of code repair; nothing is deleted. */
  private async remove(args: readonly unknown[]): Promise<void> {
    await this.library.loaded();
    const path = repairsPath(args[0] ?? this.view.selection[0]);
    if (path === undefined) return this.library.remove(this.needed(args));
    const title = vscode.l10n.t('Reading code repair results');
    await afterAWhileInView(viewIds.runs, title, () => this.repairs.remove(path));
  }

  private async evaluate(given: BatchChoice | undefined): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      throw new HumanError(
        vscode.l10n.t('Evaluation executes code of repositories and candidates'),
        vscode.l10n.t('Trust this workspace first'),
      );
    }
    const instances = await this.instances();
    const { catalogue } = instances;
    const { extensionPath } = this.context;
    const possible = await possibleDatasets(instances, extensionPath, this.reporter);
    const asked =
      given === undefined
        ? await askForBatch(catalogue, possible, extensionPath)
        : { choice: given, of: possible.at(-1) };
    if (asked?.of === undefined) return;
    const { choice, of } = asked;
    const parts = {
      extensionPath,
      of,
      library: this.library,
      reporter: this.reporter,
      sources: [...of.sources, ...this.sources()],
    };
    await this.library.loaded();
    // Where the palette asked, the view shows the progress.
    if (given === undefined) await vscode.commands.executeCommand(`${viewIds.runs}.focus`);
    // The batch continues in the background, since a command must not run for hours.
    void this.inBackground(choice, parts);
  }

  private async inBackground(
    choice: BatchChoice,
    parts: Parameters<typeof evaluatePredictions>[1],
  ): Promise<void> {
    try {
      const place = await vscode.window.withProgress({ location: { viewId: viewIds.runs } }, () =>
        evaluatePredictions(choice, parts),
      );
      const run = this.library.runs.find((each) => each.place === place);
      const methods = run === undefined ? [] : methodsOf([run]);
      if (run === undefined || methods.length === 0) return;
      const open = vscode.l10n.t('Open Dashboard');
      const words = [ratesOfAll(methods), denominatorInWords(run)];
      const text = vscode.l10n.t(
        'Evaluated {0}: {1}',
        run.label,
        words.filter((each) => each !== '').join(' · '),
      );
      const answer = await vscode.window.showInformationMessage(withoutLinkMarkup(text), open);
      if (answer === open) DashboardPanel.show(this.source, [run.label]);
    } catch (error) {
      showEngineProblem(error, this.reporter);
    }
  }

  /** Opens the trace of the row that the command was called on, a given file, or a chosen one. */
  async openTrajectory(args: readonly unknown[]): Promise<void> {
    await this.library.loaded();
    const [given] = args;
    const isRow = typeof given !== 'string' && !(given instanceof vscode.Uri);
    const [run] = isRow ? this.chosen(args) : [];
    const path = isRow
      ? ((run && (await this.traceOf(run))) ?? (await askForTrajectory()))
      : typeof given === 'string'
        ? given
        : given.fsPath;
    if (path === undefined) return;
    const of = run === undefined ? {} : { run: run.label };
    await this.showTrajectories({ view: 'runs', path: resolve(path), ...of });
  }

  private showTrajectories(origin: OriginOfRuns): Promise<void> {
    const { extensionUri } = this.context;
    const { library, reporter } = this;
    const asked = trajectoriesOfRuns(library, origin);
    return showTrajectories(asked, { extensionUri, reporter });
  }

  /** @throws HumanError in a window that is not trusted, when a run named the file */
  async restoredTrajectories(origin: OriginOfRuns): Promise<AskedTrajectories> {
    const isNamedByRun = origin.view === 'dashboard' || origin.run !== undefined;
    // A run may be in the workspace, whose files name nothing that is opened until it is trusted.
    if (isNamedByRun && !vscode.workspace.isTrusted) {
      throw new HumanError(
        vscode.l10n.t('This workspace is not trusted, so files named by a run are not opened'),
        vscode.l10n.t('Trust the workspace and try again'),
      );
    }
    await this.library.loaded();
    return trajectoriesOfRuns(this.library, origin);
  }

  /** The trace of a run, chosen by the user where it has several; undefined for none. */
  private async traceOf(run: RunData): Promise<string | undefined> {
    // A run may be in the workspace, whose files name nothing that is opened until it is trusted.
    if (!vscode.workspace.isTrusted) return undefined;
    const traces = await tracesOfRun(run);
    if (traces.length < 2) return traces[0];
    return vscode.window.showQuickPick(traces, {
      title: vscode.l10n.t('Select a Trace of {0}', run.label),
    });
  }

  private async showCellTrajectory(cell: CellName): Promise<void> {
    const run = this.library.run(cell.run);
    const path = run && (await this.traceOf(run));
    if (path === undefined) {
      throw new HumanError(
        vscode.l10n.t('No trajectory found next to the predictions of {0}', cell.run),
        vscode.l10n.t('Choose the file that the agent wrote with "SWT-Bench: Show Trajectory…"'),
      );
    }
    await this.showTrajectories({ view: 'dashboard', path, cell });
  }

  private batch(action: 'pause' | 'resume' | 'cancel', runs: readonly RunData[]): void {
    for (const run of runs) {
      const batch = this.library.batchOf(run);
      if (batch === undefined) {
        throw new HumanError(
          vscode.l10n.t('No batch in this window is running {0}', run.label),
          vscode.l10n.t('Pause or cancel it in the window or terminal that started it'),
        );
      }
      batch[action]();
    }
  }

  private async exportHtml(args: readonly unknown[]): Promise<void> {
    await Promise.all([this.library.loaded(), this.repairs.loaded()]);
    // The button of a dashboard passes the address of its tab, which is no place for a file.
    const inTab = args[0] instanceof vscode.Uri && args[0].scheme === 'webview-panel';
    const [row, second] = inTab ? [] : args;
    const chosen = this.chosen(inTab ? [undefined, DashboardPanel.activeLabels()] : args);
    const runs = chosen.length > 0 ? chosen : this.library.runs;
    if (runs.length === 0) {
      throw new HumanError(
        vscode.l10n.t('No runs in the list'),
        vscode.l10n.t('Run "SWT-Bench: Add Results…" first'),
      );
    }
    const given =
      row instanceof vscode.Uri ? row : second instanceof vscode.Uri ? second : undefined;
    const uri =
      given ??
      (await vscode.window.showSaveDialog({
        filters: { HTML: ['html'] },
        title: vscode.l10n.t('Export Report'),
        saveLabel: vscode.l10n.t('Export'),
        defaultUri: atHome(`${runs.length === 1 ? (runs[0]?.label ?? 'run') : 'runs'}.html`),
      }));
    if (uri === undefined) return;
    const title = vscode.l10n.t('Exporting {0}', basename(uri.path));
    const written = await withNotification(title, this.reporter, async (_, signal) => ({
      filter: await this.writePage(uri, runs, signal),
    }));
    if (written === undefined) return;
    const { filter } = written;
    // The command ends here. Code that runs it must not wait for an answer.
    this.offerPage(uri, exportedText({ runs, filter, path: uri.fsPath })).catch((error: unknown) =>
      showProblem(error, this.reporter),
    );
  }

  /** Writes the page of runs. @returns the filter that it begins with @throws Cancelled */
  private async writePage(
    uri: vscode.Uri,
    runs: readonly RunData[],
    signal: AbortSignal,
  ): Promise<AskedFilter | undefined> {
    const filter = await orCancelled(this.filter.ofPage(runs), signal);
    // Packing blocks: the notification has to be sent before it.
    await new Promise((resume) => setImmediate(resume));
    throwIfAborted(signal);
    const html = await dashboardHtml(
      {
        version: studyVersion,
        created: new Date().toISOString(),
        product: productVersion,
        runs: withoutHiddenSurvivors(runs, this.revealed),
        published: [],
        repairs: this.repairs.results,
        asked: filter === undefined ? {} : { filter },
        problems: [],
      },
      distOf(this.context.extensionPath),
    );
    // A page is written whole or not at all.
    throwIfAborted(signal);
    await vscode.workspace.fs.writeFile(uri, Buffer.from(html));
    return filter;
  }

  /** Says that a page is written, and opens it where the user wants that. */
  private async offerPage(page: vscode.Uri, text: string): Promise<void> {
    const open = vscode.l10n.t('Open');
    const answer = await vscode.window.showInformationMessage(withoutLinkMarkup(text), open);
    if (answer === open) await openPage(page, basename(page.path));
  }

  private sources(): readonly string[] {
    return withBundledSource(repositorySources(), bundledSource(this.context.extensionPath));
  }

  private get source(): DashboardSource {
    return {
      extensionUri: this.context.extensionUri,
      library: this.library,
      repairs: this.repairs,
      revealed: this.revealed,
      addRepairs: () => this.addRepairs(),
      hidden: this.context.globalState.get<string[]>(hiddenKey, []),
      keepHidden: async (methods) => this.context.globalState.update(hiddenKey, methods),
      // A run may be in the workspace, whose files name nothing that is opened until it is trusted.
      hasTrajectories: async (run) =>
        vscode.workspace.isTrusted && (await tracesOfRun(run)).length > 0,
      openCell: (what, cell) => this.openCell(what, cell),
      filter: (runs) => this.filter.of(runs),
      setFilter: (text, runs) => this.filter.set(text, runs),
      onDidFilter: this.filter.onDidChange,
      save: async (name, content) => {
        const uri = await vscode.window.showSaveDialog({
          title: vscode.l10n.t('File for {0}', basename(name)),
          // The page is untrusted, so only the last part of the name counts.
          defaultUri: atHome(basename(name)),
        });
        if (uri !== undefined) await writeFile(uri.fsPath, content);
      },
      batch: (action, label) => {
        const run = this.library.run(label);
        if (run !== undefined) this.batch(action, [run]);
      },
      failed: (error) => showProblem(error, this.reporter),
    };
  }

  private async openCell(what: Openable, cell: CellName): Promise<void> {
    switch (what) {
      case 'issue':
        await vscode.commands.executeCommand(commandIds.showIssue, cell.instance);
        return;
      case 'instance':
        await vscode.commands.executeCommand(listCommandIds.open, cell.instance);
        return;
      case 'source':
        return this.chooseSource(cell);
      case 'log':
        return showLog(findCell(this.library, cell));
      case 'diff':
        return showCellCandidate(findCell(this.library, cell));
      case 'gutters':
        return this.showGutters(cell);
      case 'survivors':
        // The page gets them when the instance is revealed.
        await this.revealed.ask(cell.instance, vscode.l10n.t('Show Surviving Mutants'));
        return;
      case 'trajectory':
        return this.showCellTrajectory(cell);
    }
  }

  /** Lets the user choose a folder with the R that a candidate was not evaluated for lack of. */
  private async chooseSource(cell: CellName): Promise<void> {
    const repo = repositoryOfCell(this.library, cell);
    const folder = await askForRepositoryFolder(repo);
    if (folder === undefined) return;
    const evaluate = vscode.l10n.t('Evaluate Predictions…');
    // A run with other sources is another run.
    const text = vscode.l10n.t(
      '{0} now comes from {1}. Evaluate the predictions again under another run name.',
      repo,
      folder,
    );
    const answer = await vscode.window.showInformationMessage(withoutLinkMarkup(text), evaluate);
    if (answer === evaluate) await vscode.commands.executeCommand(runCommandIds.evaluate);
  }

  private async showGutters(cell: CellName): Promise<void> {
    const found = findCell(this.library, cell);
    const instances = await this.instances();
    const instance = await instances.instance(cell.instance);
    if (!(await this.revealed.ask(cell.instance, vscode.l10n.t('Show Change Coverage')))) return;
    const show = (): Promise<void> =>
      withNotification(
        vscode.l10n.t('Preparing R and R∘X* of {0}', cell.instance),
        this.reporter,
        (reporter, signal) => this.gutters.show(found, instance, this.sources(), signal, reporter),
      );
    try {
      await show();
    } catch (error) {
      if (!(error instanceof SourceUnusable)) throw error;
      if (await chooseRepositoryFolder(instance.repo, error, this.reporter)) await show();
    }
  }

  /** Ends the running batches before the window closes. */
  close(): Promise<void> {
    return this.library.close();
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/** A file or folder with trajectories that the user chooses. */
async function askForTrajectory(): Promise<string | undefined> {
  // A dialog of Windows and Linux selects either files or folders.
  const file = { label: '$(file) ' + vscode.l10n.t('File…'), isFile: true };
  const folder = {
    ...{ label: '$(folder) ' + vscode.l10n.t('Folder…'), isFile: false },
    description: vscode.l10n.t('a Harbor job, an OpenHands conversation, or other files in it'),
  };
  const title = vscode.l10n.t('Show Trajectory');
  const kind = await vscode.window.showQuickPick([file, folder].map(iconBeside), { title });
  if (kind === undefined) return undefined;
  const chosen = await vscode.window.showOpenDialog({
    ...{ canSelectFiles: kind.isFile, canSelectFolders: !kind.isFile },
    title: vscode.l10n.t('Trajectory'),
    openLabel: vscode.l10n.t('Open Trajectory'),
    filters: {
      [vscode.l10n.t('Trajectories')]: ['jsonl', 'traj', 'json', 'eval', 'md'],
      [vscode.l10n.t('All files')]: ['*'],
    },
  });
  return chosen?.[0]?.fsPath;
}

function repairsPath(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('path' in value)) return undefined;
  return typeof value.path === 'string' ? value.path : undefined;
}

function isNode(value: unknown): value is Extract<RunNode, { kind: 'run' | 'method' }> {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'run' || value.kind === 'method';
}

/** Whether code passed the answers instead of the user. */
function isChoice(value: unknown): value is BatchChoice {
  return (
    typeof value === 'object' &&
    value !== null &&
    'predictions' in value &&
    'ids' in value &&
    'runId' in value
  );
}

/** Saved and running evaluations, with their rates. */
class RunsTree {
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
    return treeItemOf(runTreeRow(this.shown, node));
  }

  private methodsOf(run: RunData): readonly EvaluatedMethod[] {
    const known = this.methods.get(run);
    if (known !== undefined) return known;
    const made = methodsOf([run]);
    this.methods.set(run, made);
    return made;
  }
}
