import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Instance } from '../../domain/instance';
import { HumanError, type Reporter } from '../../domain/work';
import { updateState } from '../../repository/instanceState';
import { sourceOf, parseSources } from '../../repository/source';
import { prepareTrees, remarkOn } from '../../repository/trees';
import { makeWorkspace, writeDevContainer, writeWindowTitle } from '../../repository/workspace';
import { devContainerText } from '../instance/addDevContainer';
import { storeInstance } from '../instance/instanceOrigin';
import { messageInEditor } from '../shell/inTermsOfSettings';
import { storageFolder, writesDevContainer } from '../shell/settings';
import { withoutLinkMarkup } from '../shell/plainText';

interface OpenRequest {
  readonly instance: Instance;
  /** The dataset for the marker of the workspace: a path, an address, or `bundled`. */
  readonly dataset: string;
  /** `--source` arguments for the marker. */
  readonly sources: readonly string[];
  /** `--source` arguments that R is made from now; the bundled instance has its own. */
  readonly makeFrom: readonly string[];
  /** Folder of the workspaces. */
  readonly workspaces: string;
  /** Stores an instance for its dev container. */
  readonly secrets: vscode.SecretStorage;
}

/**
 * Creates the workspace of an instance, unless it exists, and returns its folder. R∘X* is in the
 * storage folder, outside the workspace.
 *
 * @throws HumanError, Cancelled
 */
export async function prepareWorkspace(
  request: OpenRequest,
  reporter: Reporter,
  signal?: AbortSignal,
): Promise<string> {
  const { instance, dataset, sources, makeFrom } = request;
  const storage = storageFolder();
  const source = await sourceOf(instance, parseSources(makeFrom));
  const trees = await prepareTrees(instance, source, storage, { reporter, signal });
  const remark = remarkOn(trees);
  if (remark !== undefined) {
    reporter.log(`${instance.id}: ${remark}`);
    void vscode.window.showWarningMessage(withoutLinkMarkup(`${instance.id}: ${remark}`));
  }
  reporter.progress('making the workspace');
  const folder = join(request.workspaces, instance.id);
  await vscode.workspace.fs.createDirectory(vscode.Uri.file(request.workspaces));
  await makeWorkspace(instance, trees, { dataset, sources }, folder);
  await writeWindowTitle(folder, trees.base, instance.id);
  if (writesDevContainer()) {
    try {
      const text = await devContainerText(instance, trees, { reporter, signal });
      await writeDevContainer(folder, trees.base, text);
      if (dataset !== 'bundled') await storeInstance(request.secrets, instance, trees.source);
    } catch (error) {
      // Without an image there is no dev container, but the instance can still open.
      if (!(error instanceof HumanError)) throw error;
      const text = messageInEditor(error);
      reporter.log(text);
      void vscode.window.showWarningMessage(withoutLinkMarkup(text));
    }
  }
  await updateState(storage, instance.id, (state) => ({
    ...state,
    openedAt: new Date().toISOString(),
  }));
  return folder;
}
