import * as vscode from 'vscode';
import { Cancelled, type Reporter } from '../../domain/work';
import { runsInContainers } from '../../engine/engines';
import type { InstanceSource, LatestVerdict, TestsOfInstance } from './instanceRoles';
import { showEngineProblem } from '../shell/problems';
import { engineSettings } from '../shell/settings';

/**
 * Milliseconds after which a notification appears. A pair of sandboxes from a present image opens
 * sooner.
 */
const quick = 4000;

/**
 * Opens the sandboxes of the open instance in the background, so that the first run need not wait.
 * With docker this may pull or build an image. Long work shows a notification and can be cancelled;
 * the next run then repeats it.
 */
export async function warmUpInBackground(
  open: InstanceSource & LatestVerdict & TestsOfInstance,
  reporter: Reporter,
): Promise<void> {
  try {
    // Sandboxes on this machine open in a moment, on demand.
    if (!runsInContainers(engineSettings(open.folder.uri).name)) return;
    const abort = new AbortController();
    const warming = open.runs.warmUp(abort.signal);
    const isOpen = await Promise.race([warming.then(() => true), after(quick)]);
    if (isOpen !== true) await shown(open, warming, abort);
    await warming;
  } catch (error) {
    if (!(error instanceof Cancelled)) showEngineProblem(error, reporter, open.folder);
  }
}

async function shown(
  open: InstanceSource & LatestVerdict,
  warming: Promise<void>,
  abort: AbortController,
): Promise<void> {
  await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Preparing the containers of {0}', open.marker.id),
      cancellable: true,
    },
    async (progress, token) => {
      token.onCancellationRequested(() => abort.abort());
      const report = (): void => progress.report({ message: open.step ?? '' });
      report();
      const subscription = open.onDidChange(report);
      await warming.catch(() => undefined);
      subscription.dispose();
    },
  );
}

const after = (milliseconds: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));
