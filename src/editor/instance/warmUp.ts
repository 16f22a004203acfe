import * as vscode from 'vscode';
import { Cancelled } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import type { InstanceSource, LatestVerdict, TestsOfInstance } from './instanceRoles';
import { showEngineProblem } from '../shell/problems';
import { engineSettings } from '../shell/settings';

/** Milliseconds after which the work is worth a notification: a pair from a present image is open by then. */
const quick = 4000;

/**
 * Opens the sandboxes of the open instance in the background, so that the first run does not wait for
 * them: with docker an image may have to be pulled or built. What takes long is shown in a
 * notification and can be cancelled; the next run does it again.
 */
export async function warmUpInBackground(
  open: InstanceSource & LatestVerdict & TestsOfInstance,
  reporter: Reporter,
): Promise<void> {
  try {
    // Pairs of the local engine open in a moment, when they are needed.
    if (engineSettings(open.folder.uri).name === 'local') return;
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
