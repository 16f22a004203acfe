import * as vscode from 'vscode';
import { z } from 'zod';
import { version as productVersion } from '../../../package.json';
import {
  openable,
  toBytes,
  type CellName,
  type Openable,
  type ToPage,
} from '../../dashboard/protocol';
import { withoutPaths, type RunData, type RunEntry } from '../../study/entry';
import { studyVersion } from '../../study/studyReportSchema';
import { bundledPage } from '../shell/bundledPage';
import { dashboardViewType } from '../shell/names';
import { cellNameSchema } from '../trajectory/trajectoryOrigin';
import {
  dashboardProblems,
  entryForPage,
  withoutHidden,
  withoutHiddenSurvivors,
} from './dashboardContent';
import type { Revealed } from '../instance/revealed';
import type { RunLibrary } from './library';
import type { RepairList } from './repairList';

/** Messages that the page may send. */
const message = z.discriminatedUnion('do', [
  z.object({ do: z.literal('ready') }),
  z.object({ do: z.literal('filter'), text: z.string().max(10_000) }),
  z.object({
    do: z.literal('open'),
    what: z.enum(openable),
    cell: cellNameSchema,
  }),
  z.object({ do: z.literal('save'), name: z.string().max(200), content: z.base64() }),
  z.object({ do: z.literal('hidden'), methods: z.array(z.string().max(1000)).max(1000) }),
  z.object({ do: z.literal('addRepairs') }),
  z.object({
    do: z.literal('batch'),
    action: z.enum(['pause', 'resume', 'cancel']),
    run: z.string(),
  }),
]);

/** The part of the page's state that `restore` reads: labels of runs, none for all. */
const state = z.object({ runs: z.array(z.string()) });

/** The part of the Instances view's filter that concerns the instances of some runs. */
export interface SharedFilter {
  readonly text: string;
  /** Null when nothing is filtered. */
  readonly ids: readonly string[] | null;
  readonly problem?: string;
}

/** What the dashboard needs of its environment. */
export interface DashboardSource {
  readonly extensionUri: vscode.Uri;
  readonly library: RunLibrary;
  readonly repairs: RepairList;
  /** Only of revealed instances does the page get code of X*. */
  readonly revealed: Pick<Revealed, 'has' | 'onDidChange'>;
  /** Lets the user choose files with results of code repair. */
  addRepairs(): Promise<void>;
  /** Ids of the methods that are hidden in dashboards. */
  readonly hidden: readonly string[];
  keepHidden(methods: readonly string[]): Promise<void>;
  hasTrajectories(run: RunData): Promise<boolean>;
  openCell(what: Openable, cell: CellName): Promise<void>;
  /** Sets the filter. The result also arrives when another view sets it. */
  setFilter(text: string, runs: readonly RunData[]): Promise<SharedFilter>;
  filter(runs: readonly RunData[]): Promise<SharedFilter>;
  readonly onDidFilter: vscode.Event<void>;
  save(name: string, content: Uint8Array): Promise<void>;
  batch(action: 'pause' | 'resume' | 'cancel', run: string): void;
  failed(error: unknown): void;
}

/** The dashboard of all runs, or of some: one panel for each choice of runs. */
export class DashboardPanel implements vscode.Disposable {
  private static readonly panels = new Map<string, DashboardPanel>();

  /** @param labels of runs; none for all listed runs */
  static show(source: DashboardSource, labels: readonly string[]): void {
    const known = DashboardPanel.panels.get(keyOf(labels));
    if (known !== undefined) {
      known.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      dashboardViewType,
      '',
      vscode.ViewColumn.Active,
      // Without it each switch of tabs would send thousands of rows again.
      { enableFindWidget: true, retainContextWhenHidden: true },
    );
    new DashboardPanel(panel, source, labels);
  }

  /** Labels of the runs of the dashboard in front; none when it shows all, or there is none. */
  static activeLabels(): readonly string[] {
    const shown = [...DashboardPanel.panels.values()].find(({ panel }) => panel.active);
    return shown?.labels ?? [];
  }

  /**
   * Fills a panel that VS Code brings back. @param saved the state that the page stored; it is
   * untrusted
   */
  static restore(panel: vscode.WebviewPanel, saved: unknown, source: DashboardSource): void {
    const labels = state.safeParse(saved).data?.runs ?? [];
    if (DashboardPanel.panels.has(keyOf(labels))) panel.dispose();
    else new DashboardPanel(panel, source, labels);
  }

  private readonly subscriptions: vscode.Disposable[];
  private isReady = false;
  private disposed = false;
  /** The data that the page has. The whole is sent again only when the runs change. */
  private sent = '';
  private made:
    | {
        readonly runs: readonly RunData[];
        readonly repairs: RepairList['listed'];
        readonly bytes: Uint8Array;
      }
    | undefined;

  private constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly source: DashboardSource,
    private readonly labels: readonly string[],
  ) {
    const dist = vscode.Uri.joinPath(source.extensionUri, 'dist');
    panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.title =
      labels.length === 1
        ? vscode.l10n.t('Dashboard: {0}', labels[0] ?? '')
        : vscode.l10n.t('Dashboard');
    const icon = (theme: string): vscode.Uri =>
      vscode.Uri.joinPath(source.extensionUri, 'media', `dashboard-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    const { library } = source;
    this.subscriptions = [
      panel.webview.onDidReceiveMessage((received: unknown) => void this.receive(received)),
      panel.onDidDispose(() => this.dispose()),
      library.onDidChange(() => this.sendRuns()),
      library.onDidGrow(({ run, entries }) => {
        if (this.has(run)) this.sendEntries(run, entries);
      }),
      library.onDidProgress((run) => this.sendProgress(run)),
      source.repairs.onDidChange(() => this.sendRuns()),
      source.onDidFilter(() => void this.sendFilter()),
      source.revealed.onDidChange((id) => this.sendInstance(id)),
    ];
    DashboardPanel.panels.set(keyOf(labels), this);
    panel.webview.html = this.html();
    void this.prepare();
  }

  private has(label: string): boolean {
    return this.labels.length === 0 || this.labels.includes(label);
  }

  private runs(): RunData[] {
    return this.source.library.runs.filter(({ label }) => this.has(label));
  }

  private send(told: ToPage): void {
    if (this.isReady && !this.disposed) void this.panel.webview.postMessage(told);
  }

  /** The runs as bytes for the page, cached for the same lists. */
  private bytes(): Uint8Array {
    const { library, repairs } = this.source;
    const { made } = this;
    if (made?.runs === library.runs && made.repairs === repairs.listed) return made.bytes;
    const bytes = toBytes({
      version: studyVersion,
      created: new Date().toISOString(),
      product: productVersion,
      runs: withoutHiddenSurvivors(this.runs(), this.source.revealed).map((run) => ({
        ...withoutPaths(run),
        entries: run.entries.map(entryForPage),
      })),
      published: [],
      repairs: repairs.results,
      asked: {},
      problems: dashboardProblems(library, this.labels),
    });
    this.made = { runs: library.runs, repairs: repairs.listed, bytes };
    return bytes;
  }

  private sendEntries(run: string, entries: readonly RunEntry[]): void {
    const shown = entries.map((entry) => withoutHidden(entry, this.source.revealed));
    this.send({ type: 'entries', run, entries: shown.map(entryForPage) });
  }

  /** Sends the candidates of an instance again, whose golden patch was revealed or hidden. */
  private sendInstance(id: string): void {
    this.made = undefined;
    for (const { label, entries } of this.runs()) {
      const mine = entries.filter(({ instance, survivors }) => instance === id && survivors);
      if (mine.length > 0) this.sendEntries(label, mine);
    }
  }

  private async loaded(): Promise<void> {
    await Promise.all([this.source.library.loaded(), this.source.repairs.loaded()]);
  }

  /** Prepares the page's data while its window opens. */
  private async prepare(): Promise<void> {
    // The page asks again, and then shows the error.
    await this.loaded().catch(() => undefined);
    if (!this.disposed && !this.isReady) this.bytes();
  }

  private sendRuns(again = false): void {
    const runs = this.runs();
    const now = JSON.stringify([
      runs.map(({ label, place, created, unfinished, instances }) => [
        label,
        place,
        created,
        unfinished,
        instances.length,
      ]),
      this.source.repairs.results,
    ]);
    // Lines that a journal gains are sent one by one.
    if (!this.isReady || (!again && now === this.sent)) return;
    this.sent = now;
    this.send({ type: 'document', document: this.bytes() });
    this.made = undefined;
    for (const { label } of runs) this.sendProgress(label);
    void this.sendTrajectories(runs);
  }

  private async sendTrajectories(runs: readonly RunData[]): Promise<void> {
    const has = await Promise.all(runs.map((run) => this.source.hasTrajectories(run)));
    const labels = runs.flatMap(({ label }, index) => (has[index] === true ? [label] : []));
    this.send({ type: 'trajectories', runs: labels });
  }

  private sendProgress(label: string): void {
    const run = this.has(label) ? this.source.library.run(label) : undefined;
    if (run === undefined) return;
    const progress = this.source.library.progressOf(run);
    this.send({ type: 'progress', run: label, progress });
  }

  private async sendFilter(): Promise<void> {
    try {
      this.send({ type: 'filter', ...(await this.source.filter(this.runs())) });
    } catch (error) {
      this.source.failed(error);
    }
  }

  private async receive(received: unknown): Promise<void> {
    const { data } = message.safeParse(received);
    if (data === undefined) return;
    try {
      switch (data.do) {
        case 'ready':
          this.isReady = true;
          await this.loaded();
          this.sendRuns(true);
          return await this.sendFilter();
        case 'filter':
          return this.send({
            type: 'filter',
            ...(await this.source.setFilter(data.text, this.runs())),
          });
        case 'open':
          return await this.source.openCell(data.what, data.cell);
        case 'save':
          return await this.source.save(data.name, Buffer.from(data.content, 'base64'));
        case 'hidden':
          return await this.source.keepHidden(data.methods);
        case 'addRepairs':
          return await this.source.addRepairs();
        case 'batch':
          return this.source.batch(data.action, data.run);
      }
    } catch (error) {
      this.source.failed(error);
    }
  }

  private html(): string {
    return bundledPage(this.panel.webview, {
      extensionUri: this.source.extensionUri,
      title: this.panel.title,
      bundle: 'dashboard',
      reading: vscode.l10n.t('Reading the runs…'),
      // A plot becomes a PNG by way of an image of the page itself. The script that draws plots sets
      // styles of elements one by one, so no inline style is needed.
      images: 'blob:',
      data: { runs: JSON.stringify(this.labels), hidden: JSON.stringify(this.source.hidden) },
    });
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    DashboardPanel.panels.delete(keyOf(this.labels));
    for (const each of this.subscriptions) each.dispose();
    this.panel.dispose();
  }
}

const keyOf = (labels: readonly string[]): string => JSON.stringify([...labels].sort());
