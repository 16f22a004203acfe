import * as vscode from 'vscode';
import { HumanError, throwIfAborted, type Reporter } from '../../domain/work';
import { imageUse, removeImages, type ImageUse } from '../../environments/imageBudget';
import { dockerSettings, connect, type DockerConnection } from '../../engine/docker';
import {
  diskUse,
  freeEnvironments,
  freeInstance,
  freeMirror,
  freeVectors,
} from '../../repository/disk';
import { withNotification } from '../shell/progress';
import { engineSettings, storageFolder } from '../shell/settings';

interface Freeable extends vscode.QuickPickItem {
  readonly free: () => Promise<void>;
}

type Row = Freeable | (vscode.QuickPickItem & { readonly kind: vscode.QuickPickItemKind });

/**
 * Shows what the storage folder holds, by instance and by mirror, and the images that were built or
 * pulled here. Removes what the user ticks.
 */
export async function freeDiskSpace(reporter: Reporter): Promise<void> {
  const storage = storageFolder();
  const measured = await withNotification(
    vscode.l10n.t('Measuring disk usage of {0}', storage),
    reporter,
    async (_, signal) => ({
      use: await diskUse(storage, { signal }),
      images: await imagesHere(storage, reporter, signal),
    }),
  );
  if (measured === undefined) return;
  const { use, images } = measured;
  try {
    const rows: Row[] = [
      heading(vscode.l10n.t('instances')),
      ...[...use.instances].sort(larger).map(({ id, bytes }) => ({
        label: id,
        description: inMegabytes(bytes),
        detail: vscode.l10n.t('trees of R and R∘X*, cached runs, validation'),
        free: () => freeInstance(storage, id),
      })),
      heading(vscode.l10n.t('mirrors')),
      ...[...use.mirrors].sort(larger).map(({ repo, bytes }) => ({
        label: repo,
        description: inMegabytes(bytes),
        detail: vscode.l10n.t('repository history, fetched again when needed'),
        free: () => freeMirror(storage, repo),
      })),
      ...(use.vectors === 0
        ? []
        : [
            heading(vscode.l10n.t('vectors')),
            {
              label: vscode.l10n.t('vectors of code'),
              description: inMegabytes(use.vectors),
              detail: vscode.l10n.t('embedding them again costs money'),
              free: () => freeVectors(storage),
            },
          ]),
      ...(use.environments === 0
        ? []
        : [
            heading(vscode.l10n.t('virtual environments')),
            {
              label: vscode.l10n.t('virtual environments of instances'),
              description: inMegabytes(use.environments),
              detail: vscode.l10n.t('created again when needed'),
              free: () => freeEnvironments(storage),
            },
          ]),
      ...(images === undefined ? [] : imageRows(images, storage, reporter)),
    ];
    const chosen = await vscode.window.showQuickPick(rows, {
      title: vscode.l10n.t('Free Disk Space: {0} in {1}', inMegabytes(use.total), storage),
      placeHolder: vscode.l10n.t('Select what to delete. Your workspaces and tags are kept'),
      canPickMany: true,
    });
    const ticked = (chosen ?? []).filter((item): item is Freeable => 'free' in item);
    if (ticked.length > 0) await freeAll(ticked, reporter);
  } finally {
    await images?.connection.close();
  }
}

/** Deletes one after the other. Cancelling leaves those that are not begun. */
async function freeAll(ticked: readonly Freeable[], reporter: Reporter): Promise<void> {
  await withNotification(vscode.l10n.t('Freeing disk space'), reporter, async (shown, signal) => {
    for (const { label, description, free } of ticked) {
      throwIfAborted(signal);
      shown.progress(label);
      await free();
      reporter.log(`freed ${label} (${description ?? ''})`);
    }
  });
}

interface ImagesHere {
  readonly connection: DockerConnection;
  readonly images: readonly ImageUse[];
  readonly budgetGb: number;
}

/** The images of the engine; empty when no engine answers, so that the rest still shows. */
async function imagesHere(
  storage: string,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<ImagesHere | undefined> {
  let connection: DockerConnection | undefined;
  try {
    const { host, budgetGb } = dockerSettings.in(engineSettings().values);
    connection = await connect({ host, signal });
    const images = await imageUse(connection, storage);
    return { connection, images, budgetGb };
  } catch (error) {
    await connection?.close();
    if (!(error instanceof HumanError)) throw error;
    reporter.log(`images are not listed: ${error.message}`);
    return undefined;
  }
}

/**
 * Images that others build on come after those, since they can go only once the others are gone.
 */
function imageRows(
  { connection, images, budgetGb }: ImagesHere,
  storage: string,
  reporter: Reporter,
): Row[] {
  if (images.length === 0) return [];
  const total = images.reduce((sum, { bytes }) => sum + bytes, 0);
  const free = async ({ id }: ImageUse): Promise<void> => {
    const { kept } = await removeImages(connection, storage, [id], { reporter });
    const [first] = kept;
    if (first !== undefined) {
      throw new HumanError(
        vscode.l10n.t('Kept the image {0}: {1}', first.image.name, first.why),
        vscode.l10n.t('Close the windows that use it, or also select the images built on it'),
      );
    }
  };
  return [
    heading(
      vscode.l10n.t(
        'images: {0} of {1} allowed',
        inMegabytes(total),
        inMegabytes(budgetGb * 2 ** 30),
      ),
    ),
    ...[...images]
      .sort((one, other) => one.carries.length - other.carries.length || larger(one, other))
      .map((image) => ({
        label:
          image.instance !== ''
            ? image.instance
            : image.repo === ''
              ? image.name
              : `${image.repo} ${image.version}`,
        description: `${inMegabytes(image.bytes)}${image.inUse ? vscode.l10n.t(', in use') : ''}`,
        detail: vscode.l10n.t(
          '{0}, last used {1}',
          whatItIs[image.kind],
          new Date(image.lastUsed).toLocaleString(),
        ),
        free: () => free(image),
      })),
  ];
}

const whatItIs: Readonly<Record<ImageUse['kind'], string>> = {
  instance: 'image of the instance',
  environment: 'environment that instances of this version share',
  pulled: 'prebuilt image; pulled again when needed',
  cache: 'packages that builds share; had again when needed',
};

const heading = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator });

const larger = (a: { bytes: number }, b: { bytes: number }): number => b.bytes - a.bytes;

const inMegabytes = (bytes: number): string =>
  bytes < 1_000_000
    ? `${Math.ceil(bytes / 1000)} kB`
    : bytes < 1_000_000_000
      ? `${(bytes / 1_000_000).toFixed(1)} MB`
      : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
