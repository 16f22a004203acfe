import * as vscode from 'vscode';
import type { Instance } from '../../domain/instance';
import { publishedImage, devContainerFile, dockerSettings } from '../../engine/docker';
import type { EngineWork } from '../../engine/engine';
import { runsInContainers } from '../../engine/engines';
import type { Reporter } from '../../domain/work';
import type { Trees } from '../../repository/trees';
import { writeDevContainer } from '../../repository/workspace';
import { withNotification } from '../shell/progress';
import type { OpenInstance } from './openInstance';
import { engineSettings, storageFolder } from '../shell/settings';
import { devContainerImage } from '../../environments/environments';

/** Writes the dev container of the open instance and shows it. */
export async function addDevContainer(open: OpenInstance, reporter: Reporter): Promise<void> {
  const place = await withNotification(
    vscode.l10n.t('Dev container of {0}', open.marker.id),
    reporter,
    async (shown, signal) => {
      const instance = await open.instance();
      const work = { reporter: shown, signal };
      const trees = await open.trees();
      const text = await devContainerText(instance, trees, work, open.folder.uri);
      await open.keepForContainer();
      return writeDevContainer(open.folder.uri.fsPath, trees.base, text);
    },
  );
  if (place === undefined) return;
  await vscode.window.showTextDocument(vscode.Uri.joinPath(open.folder.uri, place));
}

/**
 * The dev container on the docker engine's image if that engine is set, else on a published image.
 *
 * @throws HumanError when the image is unavailable, Cancelled
 */
export async function devContainerText(
  instance: Instance,
  trees: Trees,
  work: EngineWork,
  scope?: vscode.Uri,
): Promise<string> {
  const { name, values } = engineSettings(scope);
  const settings = dockerSettings.in(values);
  const image = runsInContainers(name)
    ? await devContainerImage({ instance, trees, settings, storage: storageFolder() }, work)
    : publishedImage(instance);
  return devContainerFile(instance, image);
}
