import { z } from 'zod';

/**
 * How a command line writes a value: `size` in MiB or as `4g`, `list` as words between commas. For
 * `list` and `text or none`, `none` stands for an empty value.
 */
type Writing = 'text' | 'number' | 'size' | 'list' | 'text or none';

/**
 * One setting of the docker engine. All code that reads, checks, offers or passes on settings uses
 * this.
 */
interface DockerSetting {
  readonly schema: z.ZodType;
  /** What to write instead of a value that cannot be used. */
  readonly expected: string;
  /** Name of the setting of the editor, without its prefix `swt-bench.docker.`. */
  readonly setting: string;
  /** The option of the command line; undefined for settings that only the editor has. */
  readonly option?: {
    /** In camel case: `dockerHost` for `--docker-host`. */
    readonly name: string;
    readonly argument: string;
    readonly description: string;
    readonly writing: Writing;
    /** The default in words, where the value alone would not explain it. */
    readonly byDefault?: string;
  };
}

/**
 * In the order of the options. A setting that changes what tests do must be listed in {@link
 * settingsOfRuns} as well, and takes effect in `sandbox/container.ts`.
 */
const table = {
  /**
   * Address of the engine (`unix://`, `tcp://`, `ssh://`, `npipe://`). It takes precedence over
   * `DOCKER_HOST`, the current context and the usual sockets.
   */
  host: {
    schema: z.string().optional(),
    expected:
      'Write an address such as unix:///run/docker.sock, tcp://host:2376 or ssh://user@host',
    setting: 'host',
    option: {
      name: 'dockerHost',
      argument: '<address>',
      description: 'address of the engine (unix, tcp, ssh, npipe)',
      writing: 'text',
      byDefault: '$DOCKER_HOST, else the current docker context, else the usual sockets',
    },
  },
  /**
   * Image that environments are built on; `{python}` stands for the version, such as 3.9.
   * https://hub.docker.com/_/python
   */
  baseImage: {
    schema: z.string().default('python:{python}-bookworm'),
    expected: 'Write the name of an image, {python} standing for the version',
    setting: 'baseImage',
    option: {
      name: 'baseImage',
      argument: '<name>',
      description: 'image that environments are built on',
      writing: 'text',
    },
  },
  /**
   * The namespace that prebuilt images of SWE-bench are pulled from, after its registry where that
   * is not Docker Hub. When empty, none are pulled.
   */
  prebuilt: {
    schema: z.string().default('swebench'),
    expected: 'Write a namespace such as swebench, or nothing to pull none',
    setting: 'prebuilt',
    option: {
      name: 'prebuilt',
      argument: '<namespace>',
      description: 'where prebuilt images are pulled from, `none` for nowhere',
      writing: 'text or none',
    },
  },
  /**
   * MiB of memory of each sandbox, temporary files included, and of each build of an environment.
   */
  memoryMb: {
    schema: z.number().int().min(64).default(4096),
    expected: 'Write a whole number of MiB, 64 or more',
    setting: 'memory',
    option: {
      name: 'memory',
      argument: '<size>',
      description: 'memory of each sandbox, such as 4g',
      writing: 'size',
    },
  },
  /** Processors of each sandbox; 0 for no limit. */
  cpus: {
    schema: z.number().min(0).default(0),
    expected: 'Write a number of processors, 0 for no limit',
    setting: 'cpus',
    option: {
      name: 'cpus',
      argument: '<n>',
      description: 'processors of each sandbox',
      writing: 'number',
      byDefault: 'no limit',
    },
  },
  /** MiB that the tests of a sandbox, or the build of an environment, may write. */
  diskMb: {
    schema: z.number().int().min(16).default(4096),
    expected: 'Write a whole number of MiB, 16 or more',
    setting: 'disk',
    option: {
      name: 'disk',
      argument: '<size>',
      description: 'what tests, and what builds an environment, may write, such as 4g',
      writing: 'size',
    },
  },
  /** Processes and threads of each sandbox. */
  processes: {
    schema: z.number().int().min(16).default(512),
    expected: 'Write a whole number, 16 or more',
    setting: 'processes',
    option: {
      name: 'processes',
      argument: '<n>',
      description: 'processes and threads of each sandbox',
      writing: 'number',
    },
  },
  /** Minutes that each command of a build may take. */
  buildMinutes: {
    schema: z.number().min(0.01).default(60),
    expected: 'Write a number of minutes, more than 0',
    setting: 'buildMinutes',
    option: {
      name: 'buildMinutes',
      argument: '<n>',
      description: 'time of each command that builds an environment',
      writing: 'number',
    },
  },
  /** Ids of instances and names of repositories whose tests may use the network. */
  network: {
    schema: z.array(z.string()).default(['psf/requests']),
    expected: 'Write ids of instances and names of repositories',
    setting: 'network',
    option: {
      name: 'network',
      argument: '<a,b>',
      description: 'instances and repositories whose tests may use the network, or `none`',
      writing: 'list',
    },
  },
  /** GiB that images built here may take. */
  budgetGb: {
    schema: z.number().min(1).default(50),
    expected: 'Write a number of GiB, 1 or more',
    setting: 'budget',
    option: {
      name: 'imageBudget',
      argument: '<GiB>',
      description: 'what images built here may take; the least recently used go first',
      writing: 'number',
    },
  },
  /** Minutes without a run after which a pair is stopped; 0 for never. */
  idleMinutes: {
    schema: z.number().min(0).default(15),
    expected: 'Write a number of minutes, 0 for never',
    setting: 'idleMinutes',
  },
} as const satisfies Readonly<Record<string, DockerSetting>>;

type Table = typeof table;

/** The settings of the docker engine that a person can change. */
export const dockerSettings = z.object(
  Object.fromEntries(Object.entries(table).map(([key, { schema }]) => [key, schema])) as {
    -readonly [Key in keyof Table]: Table[Key]['schema'];
  },
);

export type DockerSettings = z.infer<typeof dockerSettings>;

/** Everything known of each setting besides its value, by its name. */
export const dockerSettingTable: Readonly<Record<keyof DockerSettings, DockerSetting>> = table;

export const dockerSettingNames = Object.keys(table) as readonly (keyof DockerSettings)[];

/** Names of the options as the parser of the command line gives them. */
export type DockerOptionName = Extract<
  Table[keyof Table],
  { readonly option: unknown }
>['option']['name'];

/** A setting with its option. */
export interface DockerOption extends NonNullable<DockerSetting['option']> {
  readonly key: keyof DockerSettings;
  readonly name: DockerOptionName;
  /** Such as `--docker-host`. */
  readonly flag: string;
}

/** The settings that have an option, in the order of `--help`. */
export const dockerOptions: readonly DockerOption[] = dockerSettingNames.flatMap((key) => {
  const { option } = dockerSettingTable[key];
  if (option === undefined) return [];
  const name = option.name as DockerOptionName;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return [{ ...option, key, name, flag }];
});

/** The id of a setting in VS Code, such as `swt-bench.docker.memory`. */
export const dockerSettingId = (key: keyof DockerSettings): string =>
  `swt-bench.docker.${dockerSettingTable[key].setting}`;

/** Names the setting and the option that raise a limit: `swt-bench.docker.memory (--memory)`. */
export function whereToRaise(limit: keyof DockerSettings): string {
  const option = dockerOptions.find(({ key }) => key === limit);
  const inEditor = dockerSettingId(limit);
  return option === undefined ? inEditor : `${inEditor} (${option.flag})`;
}

/**
 * The settings that the result of a test may depend on. They are part of the key of every kept run.
 * A changed order or an added setting therefore invalidates all kept runs.
 */
export const settingsOfRuns = ({
  memoryMb,
  processes,
  diskMb,
  cpus,
}: DockerSettings): readonly unknown[] => [memoryMb, processes, diskMb, cpus];

/** Writes a value as its option takes it. */
export function asArgument(value: unknown, writing: Writing): string {
  const text = Array.isArray(value) ? value.join(',') : String(value);
  switch (writing) {
    case 'text':
    case 'number':
      return text;
    case 'size':
      return `${text}m`;
    case 'list':
    case 'text or none':
      return text === '' ? 'none' : text;
  }
}
