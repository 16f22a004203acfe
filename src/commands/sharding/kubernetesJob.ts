import { posix } from 'node:path';
import { stringify } from 'yaml';
import { HumanError } from '../../domain/work';
import { mergeText, shardLines, shardsFolder, type ShardedCommand } from './shardedCommand';

/** What the pods of an indexed Job are made of. */
interface JobRequest {
  /** Number of all shards. */
  readonly count: number;
  /** How many run at the same time; all where it is undefined. */
  readonly atOnce: number | undefined;
  /** How the image calls the command line, as text for a shell. */
  readonly program: string;
  readonly jobName: string;
  /** Image with the command line. */
  readonly image: string;
  /** Claim of a volume that many pods may write, with datasets and results. */
  readonly claim: string;
  /** Absolute path of that volume in the pods. */
  readonly mount: string;
  /** Name of a secret with the keys of models, as variables. */
  readonly secret: string | undefined;
  /** Service account that may make pods, for the engine kubernetes. */
  readonly serviceAccount: string | undefined;
}

/** How often a shard is started again after a fault. */
const retries = 3;

/**
 * The manifest of an indexed Job (Kubernetes 1.33 and later, by `backoffLimitPerIndex`), for
 * `kubectl create`. Relative paths of the command are relative to the volume.
 *
 * @throws HumanError when the results are not on the volume
 */
export function kubernetesJob(command: ShardedCommand, request: JobRequest): string {
  const { count, atOnce, program, jobName, mount } = request;
  const place = posix.resolve(mount, shardsFolder(command));
  if (!place.startsWith(`${posix.resolve(mount)}/`)) {
    throw new HumanError(
      `${command.out} is not on the volume that pods mount at ${mount}`,
      `Specify a folder below ${mount} with --out, or another --mount`,
    );
  }
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName },
    spec: {
      completionMode: 'Indexed',
      completions: count,
      parallelism: Math.min(atOnce ?? count, count),
      backoffLimitPerIndex: retries,
      podFailurePolicy: {
        rules: [
          // The loss of a node is nobody's fault.
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          // Wrong usage stays wrong.
          { action: 'FailIndex', onExitCodes: { operator: 'In', values: [2] } },
        ],
      },
      template: { spec: podOf(command, request) },
    },
  };
  return [
    '# When all pods have finished, this merges the shards and lists missing ones:',
    `#   ${mergeText(command, program)}`,
    stringify(job, { lineWidth: 0 }),
  ].join('\n');
}

function podOf(command: ShardedCommand, request: JobRequest): object {
  const { count, program, image, claim, mount, secret, serviceAccount } = request;
  const lines = [
    'set -eu',
    'shard=$((JOB_COMPLETION_INDEX + 1))',
    ...shardLines(command, count, program),
    'exit "$status"',
    '',
  ];
  return {
    restartPolicy: 'Never',
    // The command stops its tests and keeps what is done.
    terminationGracePeriodSeconds: 120,
    ...(serviceAccount === undefined
      ? { automountServiceAccountToken: false }
      : { serviceAccountName: serviceAccount }),
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'shard',
        image,
        command: ['sh', '-c', lines.join('\n')],
        workingDir: mount,
        ...(secret !== undefined && { envFrom: [{ secretRef: { name: secret } }] }),
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'work', mountPath: mount }],
      },
    ],
    volumes: [{ name: 'work', persistentVolumeClaim: { claimName: claim } }],
  };
}
