import { version as productVersion } from '../../package.json';
import { factsOf, type RunManifest } from '../results/runFolder';
import type { Prediction } from '../domain/instance';
import type { BatchRequest, ResultsPlace, ShardOfRun } from './batchRequest';
import { sameness } from './entryKeys';

/** The manifest of a run, but for what writing it adds. */
export const manifestOf = (
  request: Parameters<typeof sameness>[0] &
    Pick<BatchRequest, 'instances' | 'predictions' | 'shard'>,
  place: ResultsPlace,
  candidates: number,
): Omit<RunManifest, 'version' | 'created' | 'digest'> => ({
  run: place.runId,
  product: productVersion,
  dataset: place.dataset,
  mode: request.mode,
  format: request.format,
  testsOnly: request.testsOnly === true,
  timeoutSeconds: request.timeoutSeconds,
  engine: request.engine.description,
  instances: request.instances.map(factsOf),
  ...(place.denominator !== undefined && { denominator: place.denominator }),
  models: modelsOf(request.predictions),
  predictions: place.predictions.map((each) => ({ ...each })),
  candidates,
  same: { ...sameness(request) },
  ...(request.shard !== undefined && { shard: shardOfManifest(request.shard) }),
});

const modelsOf = (predictions: readonly Prediction[]): string[] => [
  ...new Set(predictions.map((each) => each.model)),
];

/** What `merge` needs to know of the whole run. */
function shardOfManifest({ number, count, whole }: ShardOfRun): NonNullable<RunManifest['shard']> {
  const ids = new Set(whole.instances.map(({ id }) => id));
  return {
    ...{ number, count },
    run: {
      instances: whole.instances.map(factsOf),
      models: modelsOf(whole.predictions),
      candidates: whole.predictions.filter(({ instanceId }) => ids.has(instanceId)).length,
    },
  };
}
