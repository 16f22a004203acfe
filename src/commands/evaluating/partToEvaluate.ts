import type { ShardOfRun } from '../../batch/batchRequest';
import { partOfShard, type InstancesAndPredictions } from '../../batch/partOfShard';
import type { Prediction } from '../../domain/instance';
import { plural } from '../../domain/text';
import { type Reporter, shardText, type Shard } from '../../domain/work';

/** What a command evaluates: a whole run, or one shard of it. */
interface PartToEvaluate extends InstancesAndPredictions {
  readonly shard: ShardOfRun | undefined;
}

/** The part of a run that `--shard` names, or all of it; says how much that is. */
export function partToEvaluate(
  instances: PartToEvaluate['instances'],
  predictions: readonly Prediction[],
  asked: Shard | undefined,
  reporter: Pick<Reporter, 'log'>,
): PartToEvaluate {
  const whole = { instances, predictions };
  if (asked === undefined) return { ...whole, shard: undefined };
  const part = partOfShard(whole, asked);
  const of = `${part.instances.length} of ${plural(instances.length, 'instance')}`;
  reporter.log(`shard ${shardText(asked)}: ${of}`);
  return { ...part, shard: { ...asked, whole } };
}
