import { z } from 'zod';

/** How a command line writes a value: `list` as words between commas. */
type Writing = 'text' | 'number' | 'list' | 'switch';

/** One setting of the kubernetes engine. All code that reads, checks or offers settings uses this. */
interface KubernetesSetting {
  readonly schema: z.ZodType;
  /** What to write instead of a value that cannot be used. */
  readonly expected: string;
  readonly option: {
    /** In camel case: `kubeContext` for `--kube-context`. */
    readonly name: string;
    readonly argument: string;
    readonly description: string;
    readonly writing: Writing;
    readonly byDefault: string;
  };
}

const pair = /^[^=,\s]+=[^,\s]*$/;

/**
 * In the order of the options. The name of a setting in the editor is `swt-bench.kubernetes.` and
 * its key. Memory, processors, disk, prebuilt images, the network and the idle time are those of
 * the docker engine.
 */
const table = {
  /** Context of the kubeconfig. */
  context: {
    schema: z.string().optional(),
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
    schema: z
      .string()
      .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
      .optional(),
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
    schema: z.array(z.string().regex(pair)).default([]),
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
    schema: z.array(z.string().min(1)).default([]),
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
    schema: z.array(z.string().regex(pair)).default([]),
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
    schema: z.array(z.string().regex(/^[^=:,\s]+(=[^:,\s]*)?(:[A-Za-z]+)?$/)).default([]),
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
    schema: z.string().min(1).optional(),
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
    schema: z.number().min(0.01).default(60),
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
    schema: z.boolean().default(false),
    expected: 'Write true or false',
    option: {
      name: 'acceptNetwork',
      argument: '',
      description: 'grade tests although no network policy is enforced',
      writing: 'switch',
      byDefault: 'refuse',
    },
  },
} as const satisfies Readonly<Record<string, KubernetesSetting>>;

type Table = typeof table;

/** The settings of the kubernetes engine that a person can change. */
export const kubernetesSettings = z.object(
  Object.fromEntries(Object.entries(table).map(([key, { schema }]) => [key, schema])) as {
    -readonly [Key in keyof Table]: Table[Key]['schema'];
  },
);

export type KubernetesSettings = z.infer<typeof kubernetesSettings>;

export const kubernetesSettingTable: Readonly<Record<keyof KubernetesSettings, KubernetesSetting>> =
  table;

export const kubernetesSettingNames = Object.keys(table) as readonly (keyof KubernetesSettings)[];

/** The id of a setting in VS Code, such as `swt-bench.kubernetes.namespace`. */
export const kubernetesSettingId = (key: keyof KubernetesSettings): string =>
  `swt-bench.kubernetes.${key}`;

/** The flag of the option of a setting, such as `--kube-context`. */
export const kubernetesFlag = (key: keyof KubernetesSettings): string =>
  `--${table[key].option.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Names of the options as the parser of the command line gives them. */
export type KubernetesOptionName = Table[keyof Table]['option']['name'];
