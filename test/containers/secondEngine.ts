import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { plainDocker } from './dockerForTests';
import { skipSuite } from './skipping';

/** A Docker engine for one test, which may kill it. */
export interface SecondEngine {
  readonly docker: Dockerode;
  readonly host: string;
  readonly socket: string;
  /** Starts it, unless it runs already. */
  start(): Promise<void>;
  /** Kills it with `SIGKILL`; its containers keep running until it starts again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Copies an image from the engine that tests use. */
  load(image: string): Promise<void>;
  /** Stops it and removes all its files. */
  dispose(): Promise<void>;
}

/** Why no second engine can run here; undefined when one can. */
export function whyNoSecondEngine(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root can start one';
  const isThere = (name: string): boolean => spawnSync('which', [name]).status === 0;
  const missing = ['dockerd', 'unshare'].filter((name) => !isThere(name));
  return missing.length === 0 ? undefined : `${missing.join(' and ')} cannot be run`;
}

const mountedBelow = (folder: string): string[] =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
    .filter((path) => path.startsWith(`${folder}/`))
    .reverse();

/**
 * A running second engine with the images that the engine of the tests has built for an instance.
 * Skips the suite where it cannot run. For the `before` of a suite.
 */
export async function secondEngineFor(
  context: Mocha.Context,
  instance: string,
): Promise<SecondEngine> {
  const why = whyNoSecondEngine();
  if (why !== undefined) skipSuite(context, why);
  const second = await secondEngine();
  await second.start();
  // It has no network to build with.
  const images = await plainDocker.listImages({
    filters: { label: [`swt-bench.instance=${instance}`] },
  });
  for (const tag of images.flatMap(({ RepoTags }) => RepoTags ?? [])) await second.load(tag);
  return second;
}

/** An engine without a network, in folders of its own. It is not running yet. */
export async function secondEngine(): Promise<SecondEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'swt-engine-'));
  const socket = join(folder, 'docker.sock');
  const host = `unix://${socket}`;
  const docker = new Dockerode({ socketPath: socket });
  const log = join(folder, 'log');
  let child: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, 'exit');
    ending.kill(signal);
    await ended;
  };
  const engine: SecondEngine = {
    docker,
    host,
    socket,
    async start() {
      if (child !== undefined) return;
      const out = openSync(log, 'a');
      // It gets a network namespace of its own: without a bridge, dockerd would remove the bridge
      // of the main engine.
      child = spawn(
        'unshare',
        [
          ...['--net', '--', 'dockerd', '--bridge=none', '--iptables=false', `--host=${host}`],
          ...[`--data-root=${join(folder, 'data')}`, `--exec-root=${join(folder, 'exec')}`],
          `--pidfile=${join(folder, 'pid')}`,
        ],
        { stdio: ['ignore', out, out] },
      );
      for (let waited = 0; ; waited += 100) {
        const answers = await docker.ping().then(
          () => true,
          () => false,
        );
        if (answers) return;
        if (waited > 600_000 || child.exitCode !== null || child.signalCode !== null) {
          throw new Error(`dockerd did not start: ${readFileSync(log, 'utf8').slice(-500)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async kill() {
      await end('SIGKILL');
      // Its containerd ends a moment later, and the next engine would take it for alive.
      const pidFile = join(folder, 'exec', 'containerd', 'containerd.pid');
      const pid = Number(readFileSync(pidFile, 'utf8'));
      // It may end without a parent that collects it.
      const isAlive = (): boolean => {
        const stat = `/proc/${pid}/stat`;
        return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, 'utf8'));
      };
      if (isAlive()) process.kill(pid, 'SIGKILL');
      while (isAlive()) await new Promise((resolve) => setTimeout(resolve, 20));
      await rm(pidFile, { force: true });
    },
    stop: () => end('SIGTERM'),
    async load(image) {
      const archive = await plainDocker.getImage(image).get();
      const progress = await docker.loadImage(archive);
      progress.resume();
      await once(progress, 'end');
    },
    async dispose() {
      // Containers outlive a killed engine, and the next engine finds them.
      if (child === undefined) await engine.start();
      for (const { Id } of await docker.listContainers({ all: true })) {
        await docker.getContainer(Id).remove({ force: true });
      }
      await end('SIGTERM');
      for (const mounted of mountedBelow(folder)) spawnSync('umount', ['--lazy', mounted]);
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
  return engine;
}
