import { SettingGroup, type SettingTable, type ValuesOf } from '../settings';

const pair = /^[^=,\s]+=[^,\s]*$/;

/**
 * The settings of the kubernetes engine that a person can change. Memory, processors, disk, prebuilt
 * images, the network and the idle time are those of the docker engine.
 */
const table = {
  /** Context of the kubeconfig. */
  context: {
    type: 'string',
    expected: 'Write the name of a context, as `kubectl config get-contexts` lists them',
    option: {
      name: 'kubeContext',
      argument: '<name>',
      description: 'context of the kubeconfig',
      writing: 'text',
      byDefault: 'the current one, or that of the pod that this runs in',
    },
  },
  /** Namespace of the pods. */
  namespace: {
    type: 'string',
    pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    expected: 'Write the name of a namespace: small letters, digits and hyphens',
    option: {
      name: 'namespace',
      argument: '<name>',
      description: 'namespace of the pods',
      writing: 'text',
      byDefault: 'that of the context',
    },
  },
  /** Beginnings of image names, with what nodes use instead: `docker.io/=mirror.example.org/hub/`. */
  mirrors: {
    type: 'strings',
    default: [],
    pattern: pair,
    expected: 'Write rules such as docker.io/=mirror.example.org/hub/',
    option: {
      name: 'mirror',
      argument: '<from=to,…>',
      description: 'beginnings of image names, and what replaces them',
      writing: 'list',
      byDefault: 'none',
    },
  },
  /** Names of secrets that images are pulled with. */
  pullSecrets: {
    type: 'strings',
    default: [],
    pattern: /./,
    expected: 'Write names of secrets in the namespace',
    option: {
      name: 'pullSecret',
      argument: '<a,b>',
      description: 'secrets that images are pulled with',
      writing: 'list',
      byDefault: 'those of the service account',
    },
  },
  /** Labels of the nodes that pods may use, as `key=value`. */
  nodeSelector: {
    type: 'strings',
    default: [],
    pattern: pair,
    expected: 'Write labels such as pool=tests',
    option: {
      name: 'nodeSelector',
      argument: '<key=value,…>',
      description: 'labels of the nodes that pods may use',
      writing: 'list',
      byDefault: 'any node',
    },
  },
  /** Taints that pods bear, as `key=value:Effect`, `key:Effect` or `key`. */
  tolerations: {
    type: 'strings',
    default: [],
    pattern: /^[^=:,\s]+(=[^:,\s]*)?(:[A-Za-z]+)?$/,
    expected: 'Write taints such as tests=only:NoSchedule',
    option: {
      name: 'toleration',
      argument: '<key=value:Effect,…>',
      description: 'taints of nodes that pods may use nevertheless',
      writing: 'list',
      byDefault: 'none',
    },
  },
  /** Priority class of the pods. */
  priorityClass: {
    type: 'string',
    pattern: /./,
    expected: 'Write the name of a priority class',
    option: {
      name: 'priorityClass',
      argument: '<name>',
      description: 'priority class of the pods',
      writing: 'text',
      byDefault: "the cluster's own",
    },
  },
  /** Minutes that a pod may wait for a node and its image. */
  pendingMinutes: {
    type: 'number',
    default: 60,
    minimum: 0.01,
    expected: 'Write a number of minutes, more than 0',
    option: {
      name: 'pendingMinutes',
      argument: '<n>',
      description: 'time that a pod may wait for room and for its image',
      writing: 'number',
      byDefault: '60',
    },
  },
  /** Whether tests are graded although the cluster does not keep their pods from the network. */
  acceptNetwork: {
    type: 'boolean',
    default: false,
    expected: 'Write true or false',
    option: {
      name: 'acceptNetwork',
      argument: '',
      description: 'grade tests although no network policy is enforced',
      writing: 'switch',
      byDefault: 'refuse',
    },
  },
} as const satisfies SettingTable;

export const kubernetesSettings = new SettingGroup('kubernetes', 'swt-bench.kubernetes.', table);

export type KubernetesSettings = ValuesOf<typeof table>;
