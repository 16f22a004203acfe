import { SettingGroup, type SettingTable, type ValuesOf } from '../settings';

const pair = /^[^=,\s]+=[^,\s]*$/;

/**
 * The settings of the kubernetes engine that the user can change. Memory, processors, disk, prebuilt
 * images, the network and the idle time are those of the docker engine.
 */
const table = {
  /** Context of the kubeconfig. */
  context: {
    type: 'string',
    expected: 'Use a context name that `kubectl config get-contexts` lists',
    option: {
      name: 'kubeContext',
      argument: '<name>',
      description: 'kubeconfig context',
      writing: 'text',
      byDefault: "the current context, or the pod's own cluster",
    },
  },
  /** Namespace of the pods. */
  namespace: {
    type: 'string',
    pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    expected: 'Use lowercase letters, digits and hyphens',
    option: {
      name: 'namespace',
      argument: '<name>',
      description: 'namespace for the pods',
      writing: 'text',
      byDefault: "the context's namespace",
    },
  },
  /** Beginnings of image names, with what nodes use instead: `docker.io/=mirror.example.org/hub/`. */
  mirrors: {
    type: 'strings',
    default: [],
    pattern: pair,
    expected: 'Use rules such as docker.io/=mirror.example.org/hub/',
    option: {
      name: 'mirror',
      argument: '<from=to,…>',
      description: 'image name prefixes and their replacements',
      writing: 'list',
      byDefault: 'none',
    },
  },
  /** Names of secrets for pulling images. */
  pullSecrets: {
    type: 'strings',
    default: [],
    pattern: /./,
    expected: 'Use names of secrets in the namespace',
    option: {
      name: 'pullSecret',
      argument: '<a,b>',
      description: 'secrets for pulling images',
      writing: 'list',
      byDefault: "the service account's secrets",
    },
  },
  /** Labels of the nodes that pods may use, as `key=value`. */
  nodeSelector: {
    type: 'strings',
    default: [],
    pattern: pair,
    expected: 'Use labels such as pool=tests',
    option: {
      name: 'nodeSelector',
      argument: '<key=value,…>',
      description: 'labels of nodes that pods may run on',
      writing: 'list',
      byDefault: 'any node',
    },
  },
  /** Taints that pods bear, as `key=value:Effect`, `key:Effect` or `key`. */
  tolerations: {
    type: 'strings',
    default: [],
    pattern: /^[^=:,\s]+(=[^:,\s]*)?(:[A-Za-z]+)?$/,
    expected: 'Use taints such as tests=only:NoSchedule',
    option: {
      name: 'toleration',
      argument: '<key=value:Effect,…>',
      description: 'node taints that pods tolerate',
      writing: 'list',
      byDefault: 'none',
    },
  },
  /** Priority class of the pods. */
  priorityClass: {
    type: 'string',
    pattern: /./,
    expected: 'Use the name of a priority class',
    option: {
      name: 'priorityClass',
      argument: '<name>',
      description: 'priority class of the pods',
      writing: 'text',
      byDefault: "the cluster's default",
    },
  },
  /** Minutes that a pod may wait for a node and its image. */
  pendingMinutes: {
    type: 'number',
    default: 60,
    minimum: 0.01,
    expected: 'Use a number of minutes greater than 0',
    option: {
      name: 'pendingMinutes',
      argument: '<n>',
      description: 'minutes that a pod may wait for room and for its image',
      writing: 'number',
      byDefault: '60',
    },
  },
  /** Whether tests are graded although the cluster does not keep their pods from the network. */
  acceptNetwork: {
    type: 'boolean',
    default: false,
    expected: 'Use true or false',
    option: {
      name: 'acceptNetwork',
      argument: '',
      description: 'grade tests even if the cluster enforces no network policies',
      writing: 'switch',
      byDefault: 'refuse',
    },
  },
} as const satisfies SettingTable;

export const kubernetesSettings = new SettingGroup('kubernetes', 'swt-bench.kubernetes.', table);

export type KubernetesSettings = ValuesOf<typeof table>;
