import * as vscode from 'vscode';
import { z } from 'zod';
import {
  trajectoryBytes,
  type TrajectoryToPage,
} from '../../dashboard/trajectory/trajectoryProtocol';
import type { ShownTrajectory, TrajectoryRow } from '../../trajectory/trajectoryPages';
import { bundledPage } from '../shell/bundledPage';
import { trajectoryViewType } from '../shell/names';

/** Messages that the page may send. */
const message = z.discriminatedUnion('do', [
  z.object({ do: z.literal('ready') }),
  z.object({ do: z.literal('load'), at: z.number().int().nonnegative() }),
]);

/** What a panel shows. */
interface TrajectorySource {
  readonly extensionUri: vscode.Uri;
  /** Title of the tab. */
  readonly title: string;
  readonly rows: readonly TrajectoryRow[];
  /** The trajectory of a row, by its index. */
  load(at: number): Promise<ShownTrajectory>;
  failed(error: unknown): void;
}

/** The viewer of trajectories in a tab of the editor. */
export class TrajectoryPanel {
  static show(source: TrajectorySource): void {
    const dist = vscode.Uri.joinPath(source.extensionUri, 'dist');
    const panel = vscode.window.createWebviewPanel(
      trajectoryViewType,
      source.title,
      vscode.ViewColumn.Active,
      // Without retaining it, each switch of tabs would fold all steps again.
      {
        enableScripts: true,
        enableFindWidget: true,
        retainContextWhenHidden: true,
        localResourceRoots: [dist],
      },
    );
    new TrajectoryPanel(panel, source);
  }

  private constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly source: TrajectorySource,
  ) {
    panel.webview.onDidReceiveMessage((received: unknown) => void this.receive(received));
    panel.webview.html = bundledPage(panel.webview, {
      extensionUri: source.extensionUri,
      bundle: 'trajectory',
      reading: vscode.l10n.t('Reading the trajectory…'),
    });
  }

  private async receive(received: unknown): Promise<void> {
    const { data } = message.safeParse(received);
    if (data === undefined) return;
    try {
      await this.answer(data);
    } catch (error) {
      this.source.failed(error);
    }
  }

  private async answer(data: z.infer<typeof message>): Promise<void> {
    const { rows } = this.source;
    if (data.do === 'ready') {
      await this.send({ type: 'index', rows });
    } else if (data.at < rows.length) {
      const shown = trajectoryBytes(await this.source.load(data.at));
      await this.send({ type: 'trajectory', at: data.at, shown });
    }
  }

  private async send(told: TrajectoryToPage): Promise<void> {
    await this.panel.webview.postMessage(told);
  }
}
