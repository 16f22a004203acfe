import { join } from 'node:path';
import {
  digestOfPredictions,
  loadPredictions,
  type PredictionFolders,
  type PredictionKind,
} from '../../dataset/predictions';
import { HumanError, type Shard } from '../../domain/work';
import type { Instance, Prediction } from '../../domain/instance';
import type { ResultsPlace } from '../../batch/batchRequest';
import type { Mode } from '../../evaluation/prepareCandidate';
import { createPythonParser, type PythonParser } from '../../python/parser';
import { parseSources, type Sources } from '../../repository/source';
import { type CommandContext } from '../context';
import { openDatasetOption, sourcesFor } from '../options/openDatasetOption';
import type { EngineOptions } from '../options/engineOptions';
import { selectedInstances, type SelectingOptions } from '../options/selectingOptions';

/** The options of `evaluate`. */
export interface EvaluateOptions extends SelectingOptions, EngineOptions {
  dataset: string;
  kind: PredictionKind;
  /** Files, folders, `gold`, `none` or `bundled`. */
  predictions: string[];
  source: string[];
  /** By default derived from memory and cores. */
  workers?: number;
  timeout: number;
  /** Chosen when absent. */
  runId?: string;
  out?: string;
  format: string;
  testsOnly?: boolean;
  mode: Mode;
  /** The most mutants of an instance; true where no limit is set. */
  mutants?: number | true;
  shard?: Shard;
  fresh?: boolean;
  storage: string;
  json?: boolean;
}

/** The input of an evaluation from files and options. */
export interface EvaluationInput {
  readonly instances: readonly Instance[];
  readonly predictions: readonly Prediction[];
  /** The file of each prediction; undefined for those that are made up. */
  readonly origins: readonly (string | undefined)[];
  readonly problems: readonly string[];
  readonly predictionFiles: ResultsPlace['predictions'];
  readonly sources: Sources;
  readonly python: PythonParser;
}

/** @throws HumanError when no instance is selected, or input cannot be read; Cancelled */
export async function readEvaluationInput(
  options: EvaluateOptions,
  context: CommandContext,
  folders: PredictionFolders,
): Promise<EvaluationInput> {
  const dataset = await openDatasetOption(options, context);
  const selected = await selectedInstances(dataset, options, context);
  if (selected.length === 0) {
    throw new HumanError(
      `The selection has no instances of ${options.dataset}`,
      'Run `swt-bench instances` to list all instances, or widen --repo, --filter or --query',
    );
  }
  const instances = await dataset.read(selected.map(({ entry }) => entry.id));
  const from = options.predictions.map((name) =>
    name === 'bundled' ? context.bundled.predictions : name,
  );
  const { predictions, origins, problems } = await loadPredictions(
    from,
    instances,
    dataset,
    options.kind,
    folders,
  );
  for (const problem of problems) {
    const file = from.length > 1 ? '' : `${options.predictions.join(' ')}: `;
    context.stderr(`swt-bench: ${file}${problem}\n`);
  }
  const sources = parseSources(sourcesFor(options, context));
  const python = await createPythonParser((file) => join(context.assets, file));
  const predictionFiles = await Promise.all(
    options.predictions.map((name, index) =>
      digestOfPredictions(name, from[index] ?? name, folders),
    ),
  );
  return { instances, predictions, origins, problems, predictionFiles, sources, python };
}
