import * as vscode from 'vscode';
import { openDataset, type Dataset } from '../../dataset/dataset';
import { predictionFolders } from '../../dataset/predictionFolders';
import { idsOfPredictions, isBuiltIn } from '../../dataset/predictions';
import { Cancelled, messageOf, type Reporter } from '../../domain/work';
import { shortDatasetName } from '../../study/entry';
import { readMarker } from '../../repository/workspace';
import { bundledDataset, storageFolder } from '../shell/settings';
import type { Instances } from '../instances/instances';
import { afterAWhile } from '../shell/progress';
import { datasetsInQuestion } from './denominatorChoices';

/** A dataset that predictions may be about. */
export interface PossibleDataset {
  /** The name that reports know it by: a path, an address, or `bundled`. */
  readonly name: string;
  readonly dataset: Dataset;
  /** Where R of the open instance came from, as `--source` arguments; empty for the setting's. */
  readonly sources: readonly string[];
  /** What the window has it from. */
  readonly from: 'open instance' | 'setting';
}

/**
 * The datasets of this window: that of the open instance, and that of the Instances view.
 *
 * @throws HumanError when there is none, Cancelled
 */
export async function possibleDatasets(
  instances: Instances,
  extensionPath: string,
  reporter: Reporter,
): Promise<readonly PossibleDataset[]> {
  const own = await datasetOfOpen(extensionPath, reporter);
  try {
    const dataset = await instances.dataset();
    const name = instances.catalogue.datasetName;
    const set = { name, dataset, sources: [], from: 'setting' } as const;
    return own === undefined || own.dataset.path === dataset.path ? [set] : [own, set];
  } catch (error) {
    if (own === undefined || error instanceof Cancelled) throw error;
    reporter.log(messageOf(error));
    return [own];
  }
}

async function datasetOfOpen(
  extensionPath: string,
  reporter: Reporter,
): Promise<PossibleDataset | undefined> {
  for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
    const marker = await readMarker(uri.fsPath);
    if (marker === undefined) continue;
    const { dataset: name, sources } = marker;
    const path = name === 'bundled' ? bundledDataset(extensionPath) : name;
    try {
      const title = vscode.l10n.t('Reading {0}', name);
      const dataset = await afterAWhile(title, (signal) =>
        openDataset(path, { storage: storageFolder(), reporter, signal }),
      );
      return { name, dataset, sources, from: 'open instance' };
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      reporter.log(messageOf(error));
    }
  }
  return undefined;
}

/**
 * The dataset that predictions are about: the only one that has an instance of them, else the one
 * that the user chooses. Undefined when the user cancels.
 *
 * @param files files and folders of predictions; `gold` and `none` are about any dataset
 */
export async function datasetOfPredictions(
  possible: readonly PossibleDataset[],
  files: readonly string[],
  title: string,
): Promise<PossibleDataset | undefined> {
  const counted = await Promise.all(
    possible.map(async (each) => ({ ...each, predicted: await predictedIn(each.dataset, files) })),
  );
  const inQuestion = datasetsInQuestion(counted);
  if (inQuestion.length < 2) return inQuestion[0];
  const chosen = await vscode.window.showQuickPick(
    inQuestion.map((each) => ({
      label: shortDatasetName(each.name),
      description:
        each.from === 'setting'
          ? vscode.l10n.t('dataset of the Instances view')
          : vscode.l10n.t('dataset of the open instance'),
      detail:
        each.predicted === undefined
          ? vscode.l10n.t('{0} instances', each.dataset.entries.length)
          : vscode.l10n.t(
              '{0} instances, {1} with a prediction',
              each.dataset.entries.length,
              each.predicted,
            ),
      dataset: each,
    })),
    { title, placeHolder: vscode.l10n.t('Dataset of the predictions'), ignoreFocusOut: true },
  );
  return chosen?.dataset;
}

/** How many instances of a dataset have a prediction; undefined where all of them stand for one. */
async function predictedIn(
  dataset: Dataset,
  files: readonly string[],
): Promise<number | undefined> {
  if (files.some(isBuiltIn)) return undefined;
  const ids = await afterAWhile(vscode.l10n.t('Reading the predictions'), (signal) =>
    idsOfPredictions(files, dataset, { signal, folders: predictionFolders }),
  );
  return new Set(ids).size;
}
