import * as vscode from 'vscode';
import type { Reporter } from '../../domain/reporter';
import { diskUse, freeInstance, freeMirror } from '../../repository/disk';
import { storageFolder } from '../settings';

/** Shows what the storage folder holds, by instance and by mirror, and removes what is ticked. */
export async function freeDiskSpace(reporter: Reporter): Promise<void> {
  const storage = storageFolder();
  const use = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t('Measuring') },
    () => diskUse(storage),
  );
  const larger = (a: { bytes: number }, b: { bytes: number }): number => b.bytes - a.bytes;
  const items = [
    { label: vscode.l10n.t('instances'), kind: vscode.QuickPickItemKind.Separator },
    ...[...use.instances].sort(larger).map(({ id, bytes }) => ({
      label: id,
      description: inMegabytes(bytes),
      detail: vscode.l10n.t('trees of R and R∘X*, kept runs, validation'),
      free: () => freeInstance(storage, id),
    })),
    { label: vscode.l10n.t('mirrors'), kind: vscode.QuickPickItemKind.Separator },
    ...[...use.mirrors].sort(larger).map(({ repo, bytes }) => ({
      label: repo,
      description: inMegabytes(bytes),
      detail: vscode.l10n.t('history of the repository; fetched again when needed'),
      free: () => freeMirror(storage, repo),
    })),
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Free Disk Space: {0} in {1}', inMegabytes(use.total), storage),
    placeHolder: vscode.l10n.t('Tick what may go; your workspaces and tags stay'),
    canPickMany: true,
  });
  for (const item of chosen ?? []) {
    if (!('free' in item)) continue;
    await item.free();
    reporter.log(`freed ${item.label} (${item.description})`);
  }
}

const inMegabytes = (bytes: number): string =>
  bytes < 1_000_000
    ? `${Math.ceil(bytes / 1000)} kB`
    : bytes < 1_000_000_000
      ? `${(bytes / 1_000_000).toFixed(1)} MB`
      : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
