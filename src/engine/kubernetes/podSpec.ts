import { randomBytes } from 'node:crypto';
import type { V1Pod, V1Toleration } from '@kubernetes/client-node';
import type { Side } from '../../domain/outcome';
import { labels } from '../docker/labels';
import type { DockerSettings } from '../docker/dockerSettings';
import { programFolder } from '../engine';
import type { KubernetesSettings } from './kubernetesSettings';
import { pythonText } from '../pythonProgram';

/** Label of pods whose network is closed; the network policy selects it. */
export const closedLabel = 'swt-bench.network';

/** Name of the container of a sandbox. */
export const containerName = 'sandbox';

/** Name of the container that takes the program of an agent, and ends before the sandbox starts. */
export const programContainer = 'program';

/** Name of the machine that tests see, since the pod's own name differs between the sides. */
export const hostName = 'sandbox';

/** Settings of pods: limits are those of the docker engine. */
export interface PodSettings {
  readonly kubernetes: KubernetesSettings;
  readonly limits: Pick<DockerSettings, 'memoryMb' | 'cpus' | 'diskMb'>;
}

export interface PodRequest {
  readonly settings: PodSettings;
  readonly image: string;
  /** Interpreters of the image, in the order in which they are tried. */
  readonly pythons: readonly string[];
  readonly side: Side;
  readonly instance: string;
  readonly hasNetwork: boolean;
  /** What `containerLabels` says of the pod; only `made` and `kind` become labels. */
  readonly about: Readonly<Record<string, string>>;
  /** Nodes that lately lost a sandbox. */
  readonly avoid: readonly string[];
  /** Bytes of a program that the pod takes before its sandbox starts; undefined for none. */
  readonly programBytes?: number | undefined;
}

/** Seconds after which a pod ends whatever happens: more than the longest agent and its tests. */
const longestSeconds = 24 * 3600;

/** A command that runs a program of Python with the first interpreter that the image has. */
export const withPython = (
  pythons: readonly string[],
  program: string,
  ...args: readonly string[]
): string[] => [...['sh', '-c', findPython, pythons.join(':'), program, ...args]];

const findPython = `IFS=:; for python in $0; do found=$(command -v "$python") && unset IFS && exec "$found" -I -S -c "$@"; done; echo "no Python: $0" >&2; exit 127`;

/** Capabilities as in a container of the docker engine. */
const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETUID', 'SETGID'];

/** Processors of a pod for which none are set: requests must equal limits. */
const defaultProcessors = 1;

const mebibyte = 2 ** 20;

/** What one sandbox requests, which is also its limit. */
export const podSizes = ({ memoryMb, cpus, diskMb }: PodSettings['limits']) => ({
  processors: cpus > 0 ? cpus : defaultProcessors,
  memoryBytes: memoryMb * mebibyte,
  diskBytes: (2 * diskMb + 1024) * mebibyte,
});

/** The pod of one sandbox. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ */
export function podSpec(request: PodRequest): V1Pod {
  const { settings, side, instance, hasNetwork, about, avoid, programBytes } = request;
  const { kubernetes, limits } = settings;
  const safe = instance
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  const temporary = Math.min(limits.diskMb, Math.floor(limits.memoryMb / 2));
  const { processors, diskBytes } = podSizes(limits);
  const resources = {
    memory: `${limits.memoryMb}Mi`,
    cpu: String(processors),
    'ephemeral-storage': `${Math.ceil((diskBytes + (programBytes ?? 0)) / mebibyte)}Mi`,
  };
  const ofBoth = {
    ...{ image: request.image, args: [], workingDir: '/' },
    resources: { requests: resources, limits: resources },
    securityContext: {
      ...{ runAsUser: 0, runAsGroup: 0, allowPrivilegeEscalation: false },
      capabilities: { drop: ['ALL'], add: capabilities },
    },
  };
  const program = { name: programContainer, mountPath: programFolder };
  return {
    metadata: {
      name: `swt-bench-${safe.replace(/^-|-$/g, '')}-${side}-${randomBytes(4).toString('hex')}`,
      labels: {
        [labels.made]: about[labels.made] ?? '1',
        [labels.kind]: about[labels.kind] ?? 'pair',
        [closedLabel]: hasNetwork ? 'open' : 'closed',
      },
      annotations: { ...about },
    },
    spec: {
      restartPolicy: 'Never',
      hostname: hostName,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      activeDeadlineSeconds: longestSeconds,
      terminationGracePeriodSeconds: 1,
      ...(hasNetwork ? {} : { dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'] } }),
      securityContext: {
        seccompProfile: { type: 'RuntimeDefault' },
        // Shared memory (System V) is freed with the last process that uses it.
        sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }],
      },
      ...placement(kubernetes, avoid),
      // Another container writes the program, so that the sandbox cannot, whatever its user.
      ...(programBytes !== undefined && {
        initContainers: [
          {
            ...{ ...ofBoth, name: programContainer, volumeMounts: [program] },
            command: withPython(request.pythons, pythonText('await_program.py')),
          },
        ],
      }),
      containers: [
        {
          ...{ ...ofBoth, name: containerName },
          command: withPython(request.pythons, pythonText('first_process.py')),
          volumeMounts: [
            { name: 'temporary', mountPath: '/tmp' },
            ...(programBytes === undefined ? [] : [{ ...program, readOnly: true }]),
          ],
        },
      ],
      volumes: [
        { name: 'temporary', emptyDir: { medium: 'Memory', sizeLimit: `${temporary}Mi` } },
        ...(programBytes === undefined ? [] : [{ name: programContainer, emptyDir: {} }]),
      ],
    },
  };
}

/** Where a pod may run, and who may pull its image. */
function placement(
  kubernetes: KubernetesSettings,
  avoid: readonly string[],
): Partial<NonNullable<V1Pod['spec']>> {
  const selector = Object.fromEntries(kubernetes.nodeSelector.map(keyAndValue));
  const key = 'kubernetes.io/hostname';
  const elsewhere = [{ matchExpressions: [{ key, operator: 'NotIn', values: [...avoid] }] }];
  return {
    imagePullSecrets: kubernetes.pullSecrets.map((name) => ({ name })),
    ...(kubernetes.nodeSelector.length > 0 && { nodeSelector: selector }),
    ...(kubernetes.priorityClass !== undefined && {
      priorityClassName: kubernetes.priorityClass,
    }),
    ...(avoid.length > 0 && {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: elsewhere },
        },
      },
    }),
    tolerations: [...kubernetes.tolerations.map(toleration), ...impatience],
  };
}

/** A pod on a node that is gone has nothing to wait for. */
const impatience: V1Toleration[] = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 20,
}));

/** `key=value:Effect`, `key:Effect`, `key=value` or `key`. */
function toleration(written: string): V1Toleration {
  const [whole = '', effect] = written.split(':');
  const [key, value] = keyAndValue(whole);
  return {
    key,
    ...(whole.includes('=') ? { operator: 'Equal', value } : { operator: 'Exists' }),
    ...(effect !== undefined && { effect }),
  };
}

function keyAndValue(written: string): [string, string] {
  const at = written.indexOf('=');
  return at < 0 ? [written, ''] : [written.slice(0, at), written.slice(at + 1)];
}

/**
 * The name under which nodes pull an image: the first rule whose beginning fits replaces it. A name
 * without a registry is on Docker Hub.
 *
 * @param mirrors rules such as `docker.io/=mirror.example.org/hub/`
 */
export function mirrored(image: string, mirrors: readonly string[]): string {
  const first = image.split('/')[0] ?? '';
  const isFull = image.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  const full = isFull ? image : `docker.io/${image.includes('/') ? '' : 'library/'}${image}`;
  for (const [from, to] of mirrors.map(keyAndValue)) {
    if (full.startsWith(from)) return to + full.slice(from.length);
  }
  return image;
}
