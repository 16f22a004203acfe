import { SettingGroup, type SettingTable, type ValuesOf } from '../settings';

/**
 * The settings of the docker engine that a person can change. One that changes what tests do must be
 * listed in {@link settingsOfRuns} as well, and takes effect in `sandbox/container.ts`.
 */
const table = {
  /**
   * Address of the engine (`unix://`, `tcp://`, `ssh://`, `npipe://`). It takes precedence over
   * `DOCKER_HOST`, the current context and the usual sockets.
   */
  host: {
    type: 'string',
    expected:
      'Write an address such as unix:///run/docker.sock, tcp://host:2376 or ssh://user@host',
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
    type: 'string',
    default: 'python:{python}-bookworm',
    expected: 'Write the name of an image, {python} standing for the version',
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
    type: 'string',
    default: 'swebench',
    expected: 'Write a namespace such as swebench, or nothing to pull none',
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
    type: 'integer',
    default: 4096,
    minimum: 64,
    expected: 'Write a whole number of MiB, 64 or more',
    setting: 'limits.memory',
    option: {
      name: 'memory',
      argument: '<size>',
      description: 'memory of each sandbox, such as 4g',
      writing: 'size',
    },
  },
  /** Processors of each sandbox; 0 for no limit. */
  cpus: {
    type: 'number',
    setting: 'limits.cpus',
    default: 0,
    minimum: 0,
    expected: 'Write a number of processors, 0 for no limit',
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
    type: 'integer',
    default: 4096,
    minimum: 16,
    expected: 'Write a whole number of MiB, 16 or more',
    setting: 'limits.disk',
    option: {
      name: 'disk',
      argument: '<size>',
      description: 'what tests, and what builds an environment, may write, such as 4g',
      writing: 'size',
    },
  },
  /** Processes and threads of each sandbox. */
  processes: {
    type: 'integer',
    setting: 'limits.processes',
    default: 512,
    minimum: 16,
    expected: 'Write a whole number, 16 or more',
    option: {
      name: 'processes',
      argument: '<n>',
      description: 'processes and threads of each sandbox',
      writing: 'number',
    },
  },
  /** Minutes that each command of a build may take. */
  buildMinutes: {
    type: 'number',
    setting: 'limits.buildMinutes',
    default: 60,
    minimum: 0.01,
    expected: 'Write a number of minutes, more than 0',
    option: {
      name: 'buildMinutes',
      argument: '<n>',
      description: 'time of each command that builds an environment',
      writing: 'number',
    },
  },
  /** Ids of instances and names of repositories whose tests may use the network. */
  network: {
    type: 'strings',
    default: ['psf/requests'],
    expected: 'Write ids of instances and names of repositories',
    option: {
      name: 'network',
      argument: '<a,b>',
      description: 'instances and repositories whose tests may use the network, or `none`',
      writing: 'list',
    },
  },
  /** GiB that images built here may take. */
  budgetGb: {
    type: 'number',
    default: 50,
    minimum: 1,
    expected: 'Write a number of GiB, 1 or more',
    setting: 'limits.imageSpace',
    option: {
      name: 'imageBudget',
      argument: '<GiB>',
      description: 'what images built here may take; the least recently used go first',
      writing: 'number',
    },
  },
  /** Minutes without a run after which a pair is stopped; 0 for never. */
  idleMinutes: {
    type: 'number',
    setting: 'limits.idleMinutes',
    default: 15,
    minimum: 0,
    expected: 'Write a number of minutes, 0 for never',
  },
} as const satisfies SettingTable;

export const dockerSettings = new SettingGroup('docker', 'swt-bench.docker.', table);

export type DockerSettings = ValuesOf<typeof table>;

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
