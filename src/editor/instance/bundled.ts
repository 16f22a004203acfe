import { join } from 'node:path';
import * as vscode from 'vscode';
import { openDataset } from '../../dataset/dataset';
import { loadPredictions } from '../../dataset/predictions';
import type { Prediction } from '../../domain/instance';
import { HumanError, type Reporter } from '../../domain/work';
import { furtherFormats } from '../../patch/patchFormats';
import { toUnified } from '../../patch/toUnified';
import { parseUnified } from '../../patch/parseUnified';
import { prepareWorkspace } from '../instances/prepareWorkspace';
import { customDiffLanguage } from '../shell/names';
import { withNotification } from '../shell/progress';
import { bundledDataset, bundledSource, storageFolder } from '../shell/settings';
import type { FilesOfR, InstanceSource } from './instanceRoles';

const bundledPredictions = (extension: string): string =>
  join(extension, 'media', 'sample', 'predictions.jsonl');

/** Creates the workspace of the bundled instance, unless it exists, and opens it. */
export async function openBundledInstance(
  context: vscode.ExtensionContext,
  reporter: Reporter,
): Promise<void> {
  const folder = await withNotification(
    vscode.l10n.t('Preparing the bundled instance'),
    reporter,
    async (shown, signal) => {
      const dataset = await openDataset(bundledDataset(context.extensionPath), {
        storage: storageFolder(),
        reporter: shown,
        signal,
      });
      const [instance] = await dataset.read(dataset.entries.map((entry) => entry.id));
      if (instance === undefined) {
        throw new HumanError(
          vscode.l10n.t('The bundled instance is missing'),
          vscode.l10n.t('Reinstall the extension'),
        );
      }
      const request = {
        instance,
        dataset: 'bundled',
        sources: [],
        makeFrom: [bundledSource(context.extensionPath)],
        workspaces: join(context.globalStorageUri.fsPath, 'workspaces'),
        secrets: context.secrets,
      };
      return prepareWorkspace(request, shown, signal);
    },
  );
  if (folder === undefined) return;
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder));
}

/** The candidates that come with the bundled instance. */
export async function bundledCandidates(
  extension: string,
  open: InstanceSource,
): Promise<readonly Prediction[]> {
  const instance = await open.instance();
  const { predictions } = await loadPredictions(bundledPredictions(extension), [instance], {
    entries: [instance],
    problems: [],
  });
  return predictions;
}

/**
 * Lets a newcomer choose a bundled candidate and puts it into the workspace. It replaces the
 * author's edits, as one edit that Undo reverts.
 */
export async function applyBundledCandidate(
  extension: string,
  open: InstanceSource & FilesOfR,
  chosen?: string,
): Promise<void> {
  const predictions = await bundledCandidates(extension, open);
  const name = chosen ?? (await askForCandidate(predictions.map((each) => each.model)));
  if (name === sample) return showSample(predictions);
  const prediction = predictions.find((each) => each.model === name);
  if (prediction === undefined) return;

  const converted = await toUnified(prediction.patch, {
    format: 'auto',
    tree: { read: (path) => open.fileOfR(path) },
    python: await open.python(),
    formats: furtherFormats,
  });
  const failed = converted.diagnostics.find((each) => each.severity === 'error');
  if (failed !== undefined || converted.files.size === 0) {
    const why = failed?.message ?? 'it changes nothing';
    throw new HumanError(
      vscode.l10n.t('{0} does not apply to R ({1})', prediction.model, why),
      vscode.l10n.t('Choose another candidate'),
    );
  }
  await replaceEdits(open, converted.files);
}

/** Stands for the candidate in the custom format as text. */
const sample = Symbol('sample');

async function askForCandidate(models: readonly string[]): Promise<string | symbol | undefined> {
  const items = [
    ...models.map((label) => ({ label, is: label })),
    { label: '', kind: vscode.QuickPickItemKind.Separator, is: undefined },
    {
      label: vscode.l10n.t('Open Sample Custom Diff'),
      description: vscode.l10n.t('as text, without applying it'),
      is: sample,
    },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Apply Bundled Candidate'),
    placeHolder: vscode.l10n.t('Replaces your edits; Undo restores them'),
  });
  return chosen?.is;
}

/** Opens the candidate in the custom format as a new document. */
async function showSample(predictions: readonly { model: string; patch: string }[]): Promise<void> {
  const document = await vscode.workspace.openTextDocument({
    language: customDiffLanguage,
    content: predictions.find(({ model }) => model === 'custom-format')?.patch ?? '',
  });
  await vscode.window.showTextDocument(document, { preview: false });
}

/** Reverts the author's edits to R and adds `files`, in one workspace edit, and saves. */
async function replaceEdits(
  open: FilesOfR,
  files: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  const uriOf = (path: string): vscode.Uri => vscode.Uri.joinPath(open.folder.uri, path);
  const wanted = new Map(files);
  for (const file of parseUnified(await open.candidatePatch()).files) {
    const path = file.newPath ?? file.oldPath;
    if (path !== null && !wanted.has(path)) wanted.set(path, await open.fileOfR(path));
  }
  for (const [path, content] of wanted) {
    const uri = uriOf(path);
    if (content === undefined) {
      edit.deleteFile(uri, { ignoreIfNotExists: true });
    } else if (await exists(uri)) {
      const document = await vscode.workspace.openTextDocument(uri);
      edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), content);
    } else {
      edit.createFile(uri, { contents: Buffer.from(content), ignoreIfExists: false });
    }
  }
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new HumanError(
      vscode.l10n.t('Could not apply the candidate to the workspace'),
      vscode.l10n.t('Close its files and try again'),
    );
  }
  for (const path of wanted.keys()) {
    const document = vscode.workspace.textDocuments.find(
      (each) => each.uri.toString() === uriOf(path).toString(),
    );
    await document?.save();
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
}
