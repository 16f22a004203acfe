import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { redactKeys } from '../../engine/keysInUse';
import type { Dataset } from '../../dataset/dataset';
import { predictionFolders } from '../../dataset/predictionFolders';
import {
  digestOfPredictions,
  idsOfPredictions,
  isBuiltIn,
  loadPredictions,
} from '../../dataset/predictions';
import { Cancelled, HumanError, throwIfAborted, type Reporter } from '../../domain/work';
import type { Instance, Prediction } from '../../domain/instance';
import type { Denominator } from '../../study/entrySchema';
import { openEngine, type EngineRequest } from '../../engine/sandbox';
import { engines } from '../../engine/engines';
import { planText } from '../../batch/progressText';
import { runBatch } from '../../batch/runBatch';
import { workersFor } from '../../batch/workersFor';
import { keepingNodeSeconds, nodesOfRun } from '../../results/nodeSeconds';
import { runFolder } from '../../results/runFolder';
import { runStore } from '../../evaluation/testRun';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { withTrajectoryFindings } from '../../trajectory/withTrajectoryFindings';
import { distOf } from '../instance/warmSession';
import { afterAWhile } from '../shell/progress';
import { iconBeside } from '../shell/draw';
import { commandIds } from '../shell/names';
import type { Catalogue } from '../instances/catalogue';
import { engineSettingsOfListed } from '../instances/validateInstances';
import { shortDatasetName } from '../../study/entry';
import { storageFolder, timeoutSeconds } from '../shell/settings';
import {
  denominatorChoices,
  denominatorQuestion,
  type DenominatorChoice,
  type PossibleDenominators,
} from './denominatorChoices';
import { datasetOfPredictions, type PossibleDataset } from './datasetOfPredictions';
import type { RunLibrary } from './library';
import { furtherFormats } from '../../patch/patchFormats';
import { environments } from '../../environments/environments';

/** The parameters of a batch. Code that runs the command can pass them instead of the user. */
export interface BatchChoice {
  /** Files and folders, or `gold`, `none`, `bundled`. */
  readonly predictions: readonly string[];
  readonly ids: readonly string[];
  /** What the user chose the ids by. */
  readonly denominator?: Denominator;
  readonly runId: string;
}

/** What batches need of the window. */
interface BatchParts {
  readonly extensionPath: string;
  /** What the predictions are about. The catalogue may be reading another by now. */
  readonly of: Pick<PossibleDataset, 'name' | 'dataset'>;
  readonly library: RunLibrary;
  readonly reporter: Reporter;
  readonly sources: readonly string[];
}

interface Item extends vscode.QuickPickItem {
  choose(): Promise<readonly string[] | undefined>;
}

/**
 * Asks what to evaluate, and finds the dataset that it is about; undefined when the user cancels.
 *
 * @param possible datasets of the window
 */
export async function askForBatch(
  catalogue: Catalogue,
  possible: readonly PossibleDataset[],
  extensionPath: string,
): Promise<{ readonly choice: BatchChoice; readonly of: PossibleDataset } | undefined> {
  const title = vscode.l10n.t('Evaluate Predictions');
  const predictions = await askForPredictions(possible, title);
  if (predictions === undefined || predictions.length === 0) return undefined;
  const files = filesOf(predictions, extensionPath);
  const of = await datasetOfPredictions(possible, files, title);
  if (of === undefined) return undefined;
  const chosen = await askForInstances(catalogue, of, { title, files });
  if (chosen === undefined) return undefined;
  const { ids, denominator } = chosen;
  const runId = await vscode.window.showInputBox({
    title: vscode.l10n.t('Evaluate Predictions ({0})', shortDatasetName(of.name)),
    prompt: vscode.l10n.t("Run name. Reuse an unfinished run's name to resume it."),
    value: nameOf(predictions, of.name),
    validateInput: (text) => (text.trim() === '' ? vscode.l10n.t('Enter a run name') : undefined),
    ignoreFocusOut: true,
  });
  if (runId === undefined) return undefined;
  return { choice: { predictions, ids, denominator, runId: runId.trim() }, of };
}

async function choosePredictions(
  kind: Pick<vscode.OpenDialogOptions, 'canSelectFiles' | 'canSelectFolders'>,
): Promise<string[] | undefined> {
  const found = await vscode.window.showOpenDialog({
    ...kind,
    canSelectMany: true,
    title: vscode.l10n.t('Predictions to Evaluate'),
    openLabel: vscode.l10n.t('Evaluate'),
  });
  return found?.map((uri) => uri.fsPath);
}

/** Asks for files and folders of predictions, or what stands for them. */
async function askForPredictions(
  possible: readonly PossibleDataset[],
  title: string,
): Promise<readonly string[] | undefined> {
  const items: Item[] = [
    {
      label: '$(file) ' + vscode.l10n.t('Files…'),
      description: vscode.l10n.t('JSON or JSONL, plain or gzipped, or inspect_ai logs'),
      choose: () => choosePredictions({ canSelectFiles: true }),
    },
    {
      // A dialog of Windows and Linux selects either files or folders.
      label: '$(folder) ' + vscode.l10n.t('Folders…'),
      description: vscode.l10n.t('Harbor jobs, or submissions to a leaderboard'),
      choose: () => choosePredictions({ canSelectFiles: false, canSelectFolders: true }),
    },
    {
      label: '$(verified) ' + vscode.l10n.t('Golden Tests'),
      description: vscode.l10n.t("evaluates each instance's golden tests"),
      choose: async () => ['gold'],
    },
    {
      label: '$(circle-slash) ' + vscode.l10n.t('No Candidate'),
      description: vscode.l10n.t('runs the existing tests only'),
      choose: async () => ['none'],
    },
    ...(possible.some(({ name }) => name === 'bundled')
      ? [
          {
            label: '$(package) ' + vscode.l10n.t('Bundled Candidates'),
            description: vscode.l10n.t('included in the extension'),
            choose: async () => ['bundled'],
          },
        ]
      : []),
  ];
  const chosen = await vscode.window.showQuickPick(items.map(iconBeside), {
    title,
    placeHolder: vscode.l10n.t(
      'Predictions for {0}',
      possible.map(({ name }) => shortDatasetName(name)).join(', '),
    ),
    ignoreFocusOut: true,
  });
  return chosen?.choose();
}

/** Asks which instances rates are shares of, unless only one answer is possible. */
async function askForInstances(
  catalogue: Catalogue,
  { dataset, from }: PossibleDataset,
  { title, files }: { readonly title: string; readonly files: readonly string[] },
): Promise<DenominatorChoice | undefined> {
  const possible: PossibleDenominators = {
    all: dataset.entries.map(({ id }) => id),
    ...(from === 'setting' && catalogue.isFiltered
      ? { listed: catalogue.entries().map(({ id }) => id) }
      : {}),
    ...(files.some(isBuiltIn) ? {} : { predicted: await predicted(files, dataset) }),
  };
  const choices = denominatorChoices(possible);
  if (choices.length < 2) return choices[0];
  return vscode.window.showQuickPick(choices, {
    title,
    placeHolder: denominatorQuestion(possible),
    ignoreFocusOut: true,
  });
}

/** Ids that files have predictions for. Those of an agent may hold gigabytes. @throws Cancelled */
function predicted(files: readonly string[], dataset: Dataset): Promise<readonly string[]> {
  return afterAWhile(vscode.l10n.t('Reading the predictions'), (signal) =>
    idsOfPredictions(files, dataset, { signal, folders: predictionFolders }),
  );
}

function nameOf(predictions: readonly string[], dataset: string): string {
  const [first = ''] = predictions.map((each) =>
    basename(each).replace(/\.(json|jsonl|eval)(\.gz)?$/, ''),
  );
  const of = shortDatasetName(dataset).replace(/\.(json|jsonl|parquet)(\.gz)?$/, '');
  return first === of ? first : `${first}-${of}`;
}

/**
 * Evaluates predictions in the background of the window. The Runs view and the dashboard show the
 * progress, and can pause and cancel the batch.
 *
 * @returns the folder of the run; undefined when it was cancelled
 * @throws HumanError
 */
export async function evaluatePredictions(
  choice: BatchChoice,
  parts: BatchParts,
): Promise<string | undefined> {
  const { library, reporter } = parts;
  if (choice.ids.length === 0) {
    throw new HumanError(
      vscode.l10n.t('No instance to evaluate'),
      vscode.l10n.t('Choose a dataset in the Instances view, or widen its filter'),
    );
  }
  const storage = storageFolder();
  const assets = distOf(parts.extensionPath);
  const settings = await engineSettingsOfListed(choice.ids);
  const out = library.batchFolder;
  const place = runFolder(out, choice.runId);
  // From the batch on, its row in the Runs view cancels it.
  const title = vscode.l10n.t('Preparing to evaluate {0}', choice.runId);
  const { instances, predictions, python, engine } = await afterAWhile(title, (signal) =>
    prepared(choice, parts, { ...settings, engines, environments, storage, assets, signal }),
  );
  try {
    const batch = runBatch(
      {
        instances,
        predictions,
        engine,
        python,
        store: runStore(storage),
        sources: parseSources(parts.sources),
        storage,
        workers: workersFor(engine),
        timeoutSeconds: timeoutSeconds(),
        format: 'auto',
        formats: furtherFormats,
        mode: 'unit-test',
        fresh: false,
        results: {
          out,
          runId: choice.runId,
          dataset: parts.of.name,
          ...(choice.denominator === undefined ? {} : { denominator: choice.denominator }),
          predictions: await Promise.all(choice.predictions.map(digested)),
        },
        reporter: { log: (line) => reporter.log(line), progress: () => undefined },
      },
      {
        onPlan: (counts) => reporter.log(planText(counts, engine.description)),
        onProgress: () => library.tell(place),
      },
    );
    await keepingNodeSeconds(engine, nodesOfRun(place), {
      reporter,
      work: () => library.follow(place, batch),
    });
    return place;
  } catch (error) {
    if (error instanceof Cancelled) return undefined;
    throw error;
  } finally {
    await engine.dispose();
  }
}

/** What a batch needs before it begins. @throws HumanError, Cancelled */
async function prepared(
  choice: BatchChoice,
  parts: BatchParts,
  request: EngineRequest & { readonly signal: AbortSignal },
) {
  const { signal, assets } = request;
  const instances = await parts.of.dataset.read(choice.ids);
  throwIfAborted(signal);
  const predictions = await chosenPredictions(choice, instances, parts, signal);
  const python = await createPythonParser((name) => join(assets, name));
  const engine = await openEngine(request);
  // After a cancellation nobody else disposes of it.
  if (signal.aborted) await engine.dispose();
  return { instances, predictions, python, engine };
}

/** Reads the predictions, and tells the user how many are left out. */
async function chosenPredictions(
  choice: BatchChoice,
  instances: readonly Instance[],
  { of: { dataset }, extensionPath, reporter }: BatchParts,
  signal: AbortSignal,
): Promise<readonly Prediction[]> {
  const from = filesOf(choice.predictions, extensionPath);
  const { predictions, origins, problems } = await loadPredictions(
    from,
    instances,
    dataset,
    'tests',
    predictionFolders,
  );
  for (const problem of problems) reporter.log(`${choice.runId}: ${problem}`);
  if (problems.length > 0) void tellSkipped(problems.length);
  return withTrajectoryFindings(predictions, origins, { redact: redactKeys, reporter, signal });
}

async function tellSkipped(count: number): Promise<void> {
  const showLog = vscode.l10n.t('Show Log');
  const chosen = await vscode.window.showWarningMessage(
    count === 1
      ? vscode.l10n.t('Skipped 1 invalid prediction.')
      : vscode.l10n.t('Skipped {0} invalid predictions.', count),
    showLog,
  );
  if (chosen === showLog) await vscode.commands.executeCommand(commandIds.showLog);
}

/** The chosen predictions as files; `gold` and `none` stay. */
const filesOf = (names: readonly string[], extension: string): string[] =>
  names.map((name) =>
    name === 'bundled' ? join(extension, 'media', 'sample', 'predictions.jsonl') : name,
  );

async function digested(name: string): Promise<{ from: string; sha256?: string }> {
  if (name === 'bundled') return { from: name };
  return digestOfPredictions(name, name, predictionFolders);
}
