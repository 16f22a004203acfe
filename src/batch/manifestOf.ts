import packageJson from '../../package.json';
import { factsOf, type RunManifest } from '../results/manifest';
import type { BatchRequest, ResultsPlace } from './batchRequest';
import { sameness } from './entryKeys';

/** The manifest of a run, but for what writing it adds. */
export const manifestOf = (
  request: Parameters<typeof sameness>[0] & Pick<BatchRequest, 'instances' | 'predictions'>,
  place: ResultsPlace,
  candidates: number,
): Omit<RunManifest, 'version' | 'created' | 'digest'> => ({
  run: place.runId,
  product: packageJson.version,
  dataset: place.dataset,
  mode: request.mode,
  format: request.format,
  testsOnly: request.testsOnly === true,
  timeoutSeconds: request.timeoutSeconds,
  engine: request.engine.description,
  instances: request.instances.map(factsOf),
  models: [...new Set(request.predictions.map((each) => each.model))],
  predictions: place.predictions.map((each) => ({ ...each })),
  candidates,
  same: { ...sameness(request) },
});
