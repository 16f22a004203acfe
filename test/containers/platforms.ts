import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  baseImage,
  containersOf,
  killWhatRuns,
  needDocker,
  plainDocker,
  removeImagesOf,
} from './dockerForTests';

/** A platform on which the command line runs sandboxes. */
export interface Platform {
  readonly name: 'docker' | 'kubernetes';
  /** Skips a suite where the platform is missing. */
  need(suite: Mocha.Context): Promise<void>;
  /** Fields of the row of an instance. */
  readonly row: object;
  /** Options of the command line. */
  readonly options: readonly string[];
  /** Variables by which the command line finds the platform, besides those of every program. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of the sandboxes of an instance. */
  sandboxes(instance: string): Promise<string[]>;
  /** Names of what is kept of programs of agents beside sandboxes. */
  volumes(): Promise<string[]>;
  /** Kills the sandbox of an instance in which a program runs, as soon as it does. */
  kill(instance: string, program: string): Promise<void>;
  /** Removes what is left of an instance. */
  clean(instance: string): Promise<void>;
}

const variables = (name: string): Record<string, string> => {
  const value = process.env[name];
  return value === undefined ? {} : { [name]: value };
};

const docker: Platform = {
  name: 'docker',
  need: (suite) => needDocker(suite),
  row: {},
  options: ['--base-image', baseImage],
  environment: variables('DOCKER_HOST'),
  sandboxes: (instance) => containersOf(instance),
  async volumes() {
    const { Volumes } = await plainDocker.listVolumes({
      filters: { label: ['swt-bench.kind=program'] },
    });
    return (Volumes ?? []).map(({ Name }) => Name);
  },
  async kill(instance, program) {
    // A container that is only being made cannot be asked.
    while (
      await killWhatRuns(instance, program).then(
        () => false,
        () => true,
      )
    );
  },
  clean: (instance) => removeImagesOf(instance),
};

/** @param image for the pods, which has pytest */
const kubernetes = (image: string): Platform => ({
  name: 'kubernetes',
  need: () => Promise.resolve(),
  row: { image },
  options: ['--cpus', '0.5', '--pending-minutes', '10'],
  environment: variables('KUBECONFIG'),
  sandboxes: podsOf,
  volumes: () => Promise.resolve([]),
  async kill(instance, program) {
    const look = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '`;
    for (;;) {
      for (const pod of await podsOf(instance)) {
        const shown = await kubectl('exec', pod, '--', 'sh', '-c', look).catch(() => '');
        if (!shown.includes(program)) continue;
        await kubectl('delete', 'pod', pod, '--grace-period', '0', '--force');
        return;
      }
      await sleep(200);
    }
  },
  clean: () => Promise.resolve(),
});

/** Docker, and a cluster where its variable names an image for the pods. */
export const platformsHere: readonly Platform[] = [
  docker,
  ...[process.env['SWT_BENCH_CLUSTER_IMAGE']].flatMap((image) =>
    image === undefined ? [] : [kubernetes(image)],
  ),
];

/** Names of the pods of an instance that nobody has removed. */
export async function podsOf(instance: string): Promise<string[]> {
  const { items } = JSON.parse(
    await kubectl('get', 'pods', '-l', 'swt-bench.made=1', '-o', 'json'),
  ) as {
    readonly items: readonly {
      readonly metadata: {
        readonly name: string;
        /** Set once the pod is to be removed, which its node then does. */
        readonly deletionTimestamp?: string;
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
    }[];
  };
  return items
    .filter(
      ({ metadata: { deletionTimestamp, labels, annotations } }) =>
        deletionTimestamp === undefined &&
        Object.values({ ...labels, ...annotations }).includes(instance),
    )
    .map(({ metadata }) => metadata.name);
}

async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('kubectl', args, { maxBuffer: 1 << 26 });
  return stdout;
}
