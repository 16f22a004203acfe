import type { Instance, Prediction } from '../domain/instance';
import type { Shard } from '../domain/work';
import { inGroups } from './plan';

/** The instances of a run with their candidates. */
export interface InstancesAndPredictions<Candidate = Prediction> {
  readonly instances: readonly Instance[];
  readonly predictions: readonly Candidate[];
}

/**
 * The instances of one shard, in the order of `instances`. Shards are cut from the order in which a
 * batch takes instances up, so that those of one environment stay together. All runs of an instance
 * are in one shard: its base and golden tests run once. The cut depends on nothing but the
 * arguments, so that each machine computes the same.
 *
 * @param candidates how many candidates an instance has. Shards get about the same number of them,
 *   where base and golden runs count as one more.
 */
export function instancesOfShard(
  instances: readonly Instance[],
  shard: Shard,
  candidates: (id: string) => number = () => 0,
): Instance[] {
  const weightOf = ({ id }: Instance): number => 1 + candidates(id);
  const total = instances.reduce((sum, instance) => sum + weightOf(instance), 0);
  const mine = new Set<string>();
  let before = 0;
  for (const instance of inGroups(instances)) {
    const weight = weightOf(instance);
    const middle = before + weight / 2;
    if (Math.floor((middle * shard.count) / total) === shard.number - 1) mine.add(instance.id);
    before += weight;
  }
  return instances.filter(({ id }) => mine.has(id));
}

/** The part of a run that one shard evaluates; see {@link instancesOfShard}. */
export function partOfShard<Candidate extends { readonly instanceId: string }>(
  { instances, predictions }: InstancesAndPredictions<Candidate>,
  shard: Shard,
): InstancesAndPredictions<Candidate> {
  const counts = new Map<string, number>();
  for (const { instanceId } of predictions) {
    counts.set(instanceId, (counts.get(instanceId) ?? 0) + 1);
  }
  const part = instancesOfShard(instances, shard, (id) => counts.get(id) ?? 0);
  const ids = new Set(part.map(({ id }) => id));
  return {
    instances: part,
    predictions: predictions.filter(({ instanceId }) => ids.has(instanceId)),
  };
}
