import * as vscode from 'vscode';
import { z } from 'zod';
import {
  trajectoryBytes,
  type TrajectoryToPage,
} from '../../dashboard/trajectory/trajectoryProtocol';
import { HumanError, whatOf } from '../../domain/work';
import type { ShownTrajectory, TrajectoryRow } from '../../trajectory/trajectoryPages';
import { bundledPage } from '../shell/bundledPage';
import { trajectoryViewType } from '../shell/names';
import { inTermsOfSettings } from '../shell/inTermsOfSettings';
import type { TrajectoryOrigin } from './trajectoryOrigin';

/** Messages that the page may send. */
const message = z.discriminatedUnion('do', [
  z.object({ do: z.literal('ready') }),
  z.object({ do: z.literal('load'), at: z.number().int().nonnegative() }),
]);

/** Trajectories that were read. */
export interface LoadedTrajectories {
  /** Title of the tab. */
  readonly title: string;
  readonly rows: readonly TrajectoryRow[];
  /** The trajectory of a row, by its index. */
  load(at: number): Promise<ShownTrajectory>;
}

/** What a panel needs of its environment. */
interface TrajectorySource {
  readonly extensionUri: vscode.Uri;
  /** What the page keeps for the next window; undefined where the window before left nothing. */
  readonly origin: TrajectoryOrigin | undefined;
  /** Called again after an error. @param signal aborts when the panel is closed */
  read(signal: AbortSignal): Promise<LoadedTrajectories>;
  failed(error: unknown): void;
}

/** The viewer of trajectories in a tab of the editor. */
export class TrajectoryPanel {
  static show(source: Omit<TrajectorySource, 'read'>, shown: LoadedTrajectories): void {
    const panel = vscode.window.createWebviewPanel(
      trajectoryViewType,
      shown.title,
      vscode.ViewColumn.Active,
      // Without retaining it, each switch of tabs would fold all steps again.
      { enableFindWidget: true, retainContextWhenHidden: true },
    );
    new TrajectoryPanel(panel, { ...source, read: () => Promise.resolve(shown) });
  }

  /** Fills a panel that VS Code brings back. */
  static restore(panel: vscode.WebviewPanel, source: TrajectorySource): void {
    new TrajectoryPanel(panel, source);
  }

  private readonly closed = new AbortController();
  private shown: LoadedTrajectories | undefined;

  private constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly source: TrajectorySource,
  ) {
    const { extensionUri, origin } = source;
    const dist = vscode.Uri.joinPath(extensionUri, 'dist');
    panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.onDidDispose(() => this.closed.abort());
    panel.webview.onDidReceiveMessage((received: unknown) => void this.receive(received));
    panel.webview.html = bundledPage(panel.webview, {
      extensionUri,
      title: panel.title,
      bundle: 'trajectory',
      reading: vscode.l10n.t('Reading the trajectory…'),
      ...(origin !== undefined && { data: { origin: JSON.stringify(origin) } }),
    });
  }

  private async receive(received: unknown): Promise<void> {
    const { data } = message.safeParse(received);
    if (data === undefined) return;
    try {
      await (data.do === 'ready' ? this.sendIndex() : this.sendTrajectory(data.at));
    } catch (error) {
      if (!this.closed.signal.aborted) this.source.failed(error);
    }
  }

  private async sendIndex(): Promise<void> {
    try {
      this.shown ??= await this.source.read(this.closed.signal);
    } catch (error) {
      await this.send(problemOf(error));
      // A defect of this program is also reported as one.
      if (!(error instanceof HumanError)) throw error;
      return;
    }
    this.panel.title = this.shown.title;
    await this.send({ type: 'index', rows: this.shown.rows });
  }

  private async sendTrajectory(at: number): Promise<void> {
    if (this.shown === undefined || at >= this.shown.rows.length) return;
    const shown = trajectoryBytes(await this.shown.load(at));
    await this.send({ type: 'trajectory', at, shown });
  }

  private async send(told: TrajectoryToPage): Promise<void> {
    if (!this.closed.signal.aborted) await this.panel.webview.postMessage(told);
  }
}

const problemOf = (error: unknown): TrajectoryToPage => ({
  type: 'problem',
  what: inTermsOfSettings(whatOf(error)),
  next:
    (error instanceof HumanError && error.next !== undefined
      ? inTermsOfSettings(error.next)
      : undefined) ?? vscode.l10n.t('Open it again: "SWT-Bench: Open Trajectory…"'),
});
