import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { HumanError, type Reporter, whatOf } from '../../domain/work';
import { readTrajectories } from '../../trajectory/readTrajectories';
import { scanTrajectory } from '../../trajectory/scanTrajectory';
import type { Trajectory } from '../../trajectory/trajectory';
import {
  trajectoryRow,
  type ShownTrajectory,
  type TrajectoryRow,
} from '../../trajectory/trajectoryPages';
import { showProblem } from '../shell/problems';
import { withNotification } from '../shell/progress';
import { savedOrigin, type TrajectoryOrigin } from './trajectoryOrigin';
import { z } from 'zod';
import { trajectoryBytes, type TrajectoryToPage } from '../../dashboard/trajectoryProtocol';
import { bundledPage } from '../shell/bundledPage';
import { trajectoryViewType } from '../shell/names';
import { inTermsOfSettings } from '../shell/inTermsOfSettings';

/** Trajectories that the user asks for. */
export interface AskedTrajectories {
  /** What is kept of the panel for the next window. */
  readonly origin: TrajectoryOrigin;
  /** A file, or a folder of files. */
  readonly path: string;
  /** Only this instance; undefined for all. */
  readonly instance?: string | undefined;
  /** What the user may see of a trajectory, with its verdict. */
  readonly shownOf: (trajectory: Trajectory) => Promise<Omit<ShownTrajectory, 'findings'>>;
}

/** What a panel needs of the window. */
interface PanelParts {
  readonly extensionUri: vscode.Uri;
  readonly reporter: Reporter;
}

/** A row of the index, and where to read its trajectory again. */
interface Place {
  readonly row: TrajectoryRow;
  readonly source: string;
  /** Its number among those of its file and instance, from 0. */
  readonly among: number;
}

/**
 * Opens the viewer on a file or folder of trajectories.
 *
 * @throws HumanError when nothing can be read
 */
export async function showTrajectories(
  asked: AskedTrajectories,
  { extensionUri, reporter }: PanelParts,
): Promise<void> {
  const shown = await withNotification(
    vscode.l10n.t('Reading the trajectory of {0}', nameOf(asked)),
    reporter,
    (_, signal) => readAll(asked, signal, reporter),
  );
  if (shown === undefined) return;
  const { origin } = asked;
  const failed = (error: unknown): void => showProblem(error, reporter);
  TrajectoryPanel.show({ extensionUri, origin, failed }, shown);
}

/**
 * Fills a panel that VS Code brings back. What cannot be shown any more is said in the panel.
 *
 * @param saved the state that the page stored; it is untrusted
 * @param askedFrom finds what stood there; throws HumanError
 */
export function restoreTrajectories(
  panel: vscode.WebviewPanel,
  saved: unknown,
  {
    extensionUri,
    reporter,
    askedFrom,
  }: PanelParts & {
    readonly askedFrom: (origin: TrajectoryOrigin) => Promise<AskedTrajectories>;
  },
): void {
  const origin = savedOrigin(saved);
  TrajectoryPanel.restore(panel, {
    extensionUri,
    origin,
    failed: (error) => showProblem(error, reporter),
    read: async (signal) => {
      if (origin === undefined) {
        throw new HumanError(
          vscode.l10n.t('VS Code did not save which trajectory was open here'),
          vscode.l10n.t('Open it again with "SWT-Bench: Show Trajectory…"'),
        );
      }
      const asked = await askedFrom(origin);
      await refuseGone(asked.path);
      return readAll(asked, signal, reporter);
    },
  });
}

/** @throws HumanError when neither a file nor a folder is there */
async function refuseGone(path: string): Promise<void> {
  try {
    await access(path);
  } catch {
    throw new HumanError(
      vscode.l10n.t('{0} no longer exists or cannot be read', path),
      vscode.l10n.t('Restore it, or choose another file with "SWT-Bench: Show Trajectory…"'),
    );
  }
}

const nameOf = ({ instance, path }: AskedTrajectories): string => instance ?? basename(path);

/**
 * Reads all trajectories once for the index. Of several, one is read again when the user opens it, so
 * that they are never in memory together.
 *
 * @throws HumanError when there is none; Cancelled
 */
async function readAll(
  asked: AskedTrajectories,
  signal: AbortSignal,
  reporter: Reporter,
): Promise<LoadedTrajectories> {
  const { path, instance } = asked;
  const places: Place[] = [];
  let first: ShownTrajectory | undefined;
  const options = { instance, signal, told: (problem: string) => reporter.log(problem) };
  for await (const { trajectory, source } of readTrajectories(path, options)) {
    const shown = await shownWith(asked, trajectory);
    first ??= shown;
    const among = places.filter(
      (each) => each.source === source && each.row.instance === trajectory.instance,
    ).length;
    places.push({ row: trajectoryRow(shown), source, among });
  }
  if (first === undefined) {
    throw new HumanError(
      vscode.l10n.t('{0} has no trajectory of {1}', path, nameOf(asked)),
      vscode.l10n.t('Choose the file that the agent wrote with "SWT-Bench: Show Trajectory…"'),
    );
  }
  const only = places.length === 1 ? first : undefined;
  return {
    title: vscode.l10n.t('Trajectory: {0}', only?.trajectory.instance ?? nameOf(asked)),
    rows: places.map(({ row }) => row),
    load: async (at) => only ?? readAgain(asked, places[at]),
  };
}

async function readAgain(
  asked: AskedTrajectories,
  place: Place | undefined,
): Promise<ShownTrajectory> {
  let number = 0;
  if (place !== undefined) {
    const options = { instance: place.row.instance, told: () => undefined };
    for await (const { trajectory } of readTrajectories(place.source, options)) {
      if (number++ === place.among) return shownWith(asked, trajectory);
    }
  }
  throw new HumanError(
    vscode.l10n.t('The trajectory is no longer in {0}', place?.source ?? asked.path),
    vscode.l10n.t('Open it again'),
  );
}

async function shownWith(
  { shownOf }: AskedTrajectories,
  trajectory: Trajectory,
): Promise<ShownTrajectory> {
  return { ...(await shownOf(trajectory)), findings: scanTrajectory(trajectory) };
}

/** Messages that the page may send. */
const message = z.discriminatedUnion('do', [
  z.object({ do: z.literal('ready') }),
  z.object({ do: z.literal('load'), at: z.number().int().nonnegative() }),
]);

/** Trajectories that were read. */
interface LoadedTrajectories {
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
class TrajectoryPanel {
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
      : undefined) ?? vscode.l10n.t('Open it again with "SWT-Bench: Show Trajectory…"'),
});
