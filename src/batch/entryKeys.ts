import { sha256OfJson } from '../files/digest';
import { version as productVersion } from '../../package.json';
import { withoutPassword } from '../repository/git';
import { shardKey } from '../results/lockedRunFolder';
import { reportVersion } from '../results/reportSchema';
import { shardText } from '../domain/work';
import type { BatchRequest } from './batchRequest';

type Asked = Pick<
  BatchRequest,
  | 'instances'
  | 'predictions'
  | 'engine'
  | 'sources'
  | 'mode'
  | 'format'
  | 'testsOnly'
  | 'timeoutSeconds'
  | 'mutants'
  | 'shard'
>;

/**
 * For each prediction, a digest of all that its entry depends on. That is the row, the candidate,
 * the options, the source of R, the environment as far as it is known in advance, and this program.
 */
export function entryKeys(request: Asked): string[] {
  const rows = new Map(
    request.instances.map((instance) => [
      instance.id,
      sha256OfJson([
        instance,
        request.sources.get(instance.repo) ?? request.sources.get('*') ?? '',
      ]),
    ]),
  );
  const common = [
    ...[productVersion, reportVersion, request.mode, request.format],
    ...[request.testsOnly === true, request.timeoutSeconds],
    ...[request.engine.name, request.engine.environment?.digest ?? ''],
    ...(request.mutants === undefined ? [] : ['mutants', request.mutants.limit]),
  ];
  return request.predictions.map((each) =>
    sha256OfJson([
      ...[...common, rows.get(each.instanceId) ?? '', each.patch, each.cost ?? {}],
      ...(each.oracle === true ? ['oracle'] : []),
      ...(each.trajectoryFindings === undefined ? [] : [each.trajectoryFindings]),
    ]),
  );
}

/**
 * Digests that must be equal for a run to resume, by the words that name them in a refusal. Those of
 * a shard are those of its whole run, and its place in it.
 */
export function sameness(request: Asked): Readonly<Record<string, string>> {
  const { sources, shard } = request;
  const { instances, predictions } = shard?.whole ?? request;
  return {
    'the instances or their rows': sha256OfJson(instances),
    'the predictions': sha256OfJson(
      predictions.map(({ instanceId, model, sample = 1, patch }) => [
        instanceId,
        model,
        sample,
        patch,
      ]),
    ),
    '--mode': request.mode,
    '--format': request.format,
    '--tests-only': String(request.testsOnly === true),
    '--timeout': String(request.timeoutSeconds),
    '--engine': request.engine.name,
    ...(request.mutants === undefined ? {} : { '--mutants': String(request.mutants.limit) }),
    ...(shard === undefined ? {} : { [shardKey]: shardText(shard) }),
    '--source':
      [...sources]
        .map(([repo, where]) => `${repo === '*' ? '' : `${repo}=`}${withoutPassword(where)}`)
        .sort()
        .join(' ') || 'GitHub',
  };
}
