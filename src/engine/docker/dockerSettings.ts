import { SettingGroup, type SettingTable, type ValuesOf } from '../settings';

/**
 * The settings of the docker engine that the user can change. One that changes what tests do must be
 * listed in {@link settingsOfRuns} as well, and takes effect in `sandbox/container.ts`.
 */
const table = {
  /**
   * Address of the engine (`unix://`, `tcp://`, `ssh://`, `npipe://`). It takes precedence over
   * `DOCKER_HOST`, the current context and the default sockets.
   */
  host: {
    type: 'string',
    expected: 'Use an address such as unix:///run/docker.sock, tcp://host:2376 or ssh://user@host',
    option: {
      name: 'dockerHost',
      argument: '<address>',
      description: 'engine address (unix, tcp, ssh, npipe)',
      writing: 'text',
      byDefault: '$DOCKER_HOST, the current docker context, or a default socket',
    },
  },
  /**
   * Image that environments are built on; `{python}` stands for the version, such as 3.9.
   * https://hub.docker.com/_/python
   */
  baseImage: {
    type: 'string',
    default: 'python:{python}-bookworm',
    expected: 'Use an image name, with {python} in place of the version',
    option: {
      name: 'baseImage',
      argument: '<name>',
      description: 'base image for environments',
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
    expected: 'Use a namespace such as swebench, or nothing to pull no images',
    option: {
      name: 'prebuilt',
      argument: '<namespace>',
      description: 'registry namespace to pull prebuilt images from, or `none`',
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
    expected: 'Use a whole number of MiB, 64 or more',
    setting: 'limits.memory',
    option: {
      name: 'memory',
      argument: '<size>',
      description: 'memory per sandbox, such as 4g',
      writing: 'size',
    },
  },
  /** Processors of each sandbox; 0 for no limit. */
  cpus: {
    type: 'number',
    setting: 'limits.cpus',
    default: 0,
    minimum: 0,
    expected: 'Use a number of processors, or 0 for no limit',
    option: {
      name: 'cpus',
      argument: '<n>',
      description: 'processors per sandbox',
      writing: 'number',
      byDefault: 'no limit',
    },
  },
  /** MiB that the tests of a sandbox, or the build of an environment, may write. */
  diskMb: {
    type: 'integer',
    default: 4096,
    minimum: 16,
    expected: 'Use a whole number of MiB, 16 or more',
    setting: 'limits.disk',
    option: {
      name: 'disk',
      argument: '<size>',
      description: 'disk space that tests and builds may use, such as 4g',
      writing: 'size',
    },
  },
  /** Processes and threads of each sandbox. */
  processes: {
    type: 'integer',
    setting: 'limits.processes',
    default: 512,
    minimum: 16,
    expected: 'Use a whole number, at least 16',
    option: {
      name: 'processes',
      argument: '<n>',
      description: 'maximum number of processes and threads per sandbox',
      writing: 'number',
    },
  },
  /** Minutes that each command of a build may take. */
  buildMinutes: {
    type: 'number',
    setting: 'limits.buildMinutes',
    default: 60,
    minimum: 0.01,
    expected: 'Use a number of minutes greater than 0',
    option: {
      name: 'buildMinutes',
      argument: '<n>',
      description: 'timeout in minutes for each command that builds an environment',
      writing: 'number',
    },
  },
  /** Ids of instances and names of repositories whose tests may use the network. */
  network: {
    type: 'strings',
    default: ['psf/requests'],
    expected: 'Use instance IDs and repository names',
    option: {
      name: 'network',
      argument: '<a,b>',
      description: 'instances and repositories whose tests may access the network, or `none`',
      writing: 'list',
    },
  },
  /** GiB that images built here may take. */
  budgetGb: {
    type: 'number',
    default: 50,
    minimum: 1,
    expected: 'Use a number of GiB, 1 or more',
    setting: 'limits.imageSpace',
    option: {
      name: 'imageBudget',
      argument: '<GiB>',
      description:
        'disk space in GiB for images built here; the least recently used are removed first',
      writing: 'number',
    },
  },
  /** Minutes without a run after which a pair is stopped; 0 for never. */
  idleMinutes: {
    type: 'number',
    setting: 'limits.idleMinutes',
    default: 15,
    minimum: 0,
    expected: 'Use a number of minutes, or 0 for never',
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
