import { join } from 'node:path';
import { retryingMemoOf, Cancelled, throwIfAborted } from '../../domain/work';
import { sha256 } from '../../files/digest';
import type { Instance } from '../../domain/instance';
import { sides, type Side } from '../../domain/outcome';
import type { Trees } from '../../repository/trees';
import type { Engine, Environment, Pair, PrepareWork, TestPlace, WorkspaceWork } from '../engine';
import type { Workspace } from '../sandbox/workspace';
import { tracerDigest } from '../local/python';
import { removeAbandonedContainers } from './sandbox/abandonedContainers';
import { connect, type DockerConnection } from './connection/connect';
import { startContainer, type RunningContainer } from './sandbox/container';
import { ownFiles } from '../sandbox/programArchive';
import { MemoryGate } from './sandbox/memoryGate';
import { openSandbox, type ContainerSandbox } from '../sandbox/containerSandbox';
import { sandboxRepository, type SandboxRepository } from '../sandbox/sandboxRepository';
import { ContainerWorkspace } from '../sandbox/containerWorkspace';
import { warmPair } from '../sandbox/warmPair';
import { mayStartAhead } from '../runners/runners';
import { makeProgramVolume, removeAbandonedVolumes, removeVolume } from './sandbox/programVolume';
import { settingsOfRuns, type DockerSettings } from './dockerSettings';
import type { EnvironmentMaker, InstanceImage } from '../environmentMaker';

interface DockerOptions {
  readonly environments: EnvironmentMaker;
  /** The storage folder, for records of images and logs of their builds. */
  readonly storage: string;
  /** Folder that contains `tracer/` and `agent/`. */
  readonly assets: string;
  readonly settings: DockerSettings;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether the user waits for runs, so that each is prepared before it is asked for. */
  readonly isAwaited?: boolean | undefined;
  /** Seconds from which on loading R ahead of a run is worth it. */
  readonly warmFrom?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs tests in containers. Each side has one container, which stays warm between runs. It has
 * resource limits, and no network, privileges or files of this machine. Containers left by killed
 * processes are removed first.
 *
 * @throws HumanError when no engine can be found, Cancelled
 */
export async function dockerEngine(options: DockerOptions): Promise<Engine> {
  const { settings, assets, env = process.env } = options;
  const connection = await connect({
    ...(settings.host === undefined ? {} : { host: settings.host }),
    env,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  await removeAbandonedContainers(connection);
  await removeAbandonedVolumes(connection);
  const engine = new DockerEngine(connection, options, env, await ownFiles(assets), [
    await tracerDigest(join(assets, 'tracer')),
    await tracerDigest(join(assets, 'agent')),
  ]);
  // A plain object, because callers derive engines from it by spreading.
  return {
    name: 'docker',
    description: describe(connection),
    machine: { cores: connection.processors, memoryBytes: connection.memoryBytes },
    sandboxBytes: options.settings.memoryMb * mebibyte,
    prepare: (instance, trees, work) => engine.prepare(instance, trees, work),
    dispose: () => engine.dispose(),
  };
}

class DockerEngine {
  /**
   * Two sandboxes at their limit can always run together where the limit is at most half of the
   * machine's memory.
   */
  private readonly gate: MemoryGate;
  /** Pairs and workspaces that are open. */
  private readonly opened = new Set<{ dispose(): Promise<void> }>();
  /** Names of volumes with programs of agents, by their folders. */
  private readonly volumes = new Map<string, Promise<string>>();
  private isWarned = false;
  private disposed = false;

  /**
   * @param files files to put into each container
   * @param own digests of the tracer and the agent
   */
  constructor(
    private readonly connection: DockerConnection,
    private readonly options: DockerOptions,
    private readonly env: NodeJS.ProcessEnv,
    private readonly files: Awaited<ReturnType<typeof ownFiles>>,
    private readonly own: readonly string[],
  ) {
    this.gate = new MemoryGate(connection.memoryBytes);
  }

  async prepare(instance: Instance, trees: Trees, work: PrepareWork): Promise<TestPlace> {
    this.warnOfMissingLimits(work);
    const { connection, env } = this;
    const { environments, settings, storage } = this.options;
    const image = await environments.instanceImage(
      { connection, instance, trees, settings, storage, env },
      work,
    );
    // Models never get a network, whatever a recipe or a setting says: the answer could be found
    // there.
    const withNetwork =
      (work.audience ?? 'grading') === 'grading' &&
      (environments.surroundings(instance).network || isNamed(instance, settings.network));
    return {
      environment: environmentOf(image, [this.own, settings, withNetwork]),
      openPair: async (opening, asked?: readonly Side[]) => {
        if (this.disposed) throw new Cancelled();
        opening.reporter.progress(`${instance.id}: starting sandboxes`);
        const request = { instance, trees, image, withNetwork };
        const pair = await this.openPair(request, asked ?? sides, opening.signal);
        if (this.disposed) {
          await pair.dispose();
          throw new Cancelled();
        }
        this.opened.add(pair);
        return pair;
      },
      openWorkspace: async (opening) => {
        if (this.disposed) throw new Cancelled();
        opening.reporter.progress(`${instance.id}: starting a workspace on R`);
        const onR = { ...trees, fixed: trees.base };
        const request = { instance, trees: onR, image, withNetwork };
        const workspace = await this.openWorkspace(request, opening);
        if (this.disposed) {
          await workspace.dispose();
          throw new Cancelled();
        }
        return workspace;
      },
    };
  }

  private async openWorkspace(
    request: PairRequest,
    { program, signal }: WorkspaceWork,
  ): Promise<Workspace> {
    const programVolume =
      program === undefined ? undefined : await this.volumeOf(program, request.image, signal);
    const started = await this.start({ ...request, programVolume }, 'base', signal);
    const { container } = started;
    try {
      const sandbox = await this.openSandbox(request, 'base', started, signal);
      const workspace: Workspace = new ContainerWorkspace(sandbox, container, async () => {
        this.opened.delete(workspace);
        await container.remove();
      });
      this.opened.add(workspace);
      return workspace;
    } catch (error) {
      await container.remove();
      throw error;
    }
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    await Promise.all([...this.opened].map((each) => each.dispose()));
    for (const volume of this.volumes.values()) {
      const name = await volume.catch(() => undefined);
      if (name !== undefined) await removeVolume(this.connection, name);
    }
    await this.connection.close();
  }

  private warnOfMissingLimits({ reporter }: PrepareWork): void {
    const { missingLimits, address } = this.connection;
    if (missingLimits.length === 0 || this.isWarned) return;
    this.isWarned = true;
    reporter.log(
      `The engine at ${address} does not enforce limits on ${missingLimits.join(', ')}: tests can use all of the machine's resources`,
    );
  }

  private async openPair(
    request: PairRequest,
    asked: readonly Side[],
    signal: AbortSignal | undefined,
  ): Promise<Pair> {
    const started: RunningContainer[] = [];
    const removeAll = async (): Promise<void> => {
      await Promise.all(started.map((each) => each.remove()));
    };
    const open = async (side: Side): Promise<ContainerSandbox> => {
      const one = await this.start(request, side, signal);
      started.push(one.container);
      return this.openSandbox(request, side, one, signal);
    };
    // Wait for all of them, so that none starts a container after the others were removed.
    const opened = await Promise.allSettled(asked.map(open));
    const failed = opened.find((each) => each.status === 'rejected');
    if (failed !== undefined) {
      await removeAll();
      throw failed.reason;
    }
    const boxes = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const { idleMinutes } = this.options.settings;
    const pair = warmPair(boxes, idleMinutes, removeAll, (each) => this.opened.delete(each));
    try {
      throwIfAborted(signal);
    } catch (error) {
      await pair.dispose();
      throw error;
    }
    return pair;
  }

  /** The volume of an agent's program, which is made once. */
  private volumeOf(
    folder: string,
    { id }: InstanceImage,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    return retryingMemoOf(this.volumes, folder, () =>
      makeProgramVolume(this.connection, folder, id, signal),
    );
  }

  private async start(
    { instance, trees, image, withNetwork, programVolume }: PairRequest,
    side: Side,
    signal: AbortSignal | undefined,
  ): Promise<Started> {
    const { tag } = this.options.environments.surroundings(instance);
    const repository = sandboxRepository(trees[side], tag, signal);
    // Where the container does not start, nobody asks for it.
    repository.catch(() => undefined);
    const container = await startContainer(
      {
        connection: this.connection,
        image,
        instance: instance.id,
        repo: instance.repo,
        side,
        settings: this.options.settings,
        hasNetwork: withNetwork,
        files: this.files,
        programVolume,
      },
      signal,
    );
    return { container, repository };
  }

  private openSandbox(
    { trees, image }: PairRequest,
    side: Side,
    { container, repository }: Started,
    signal: AbortSignal | undefined,
  ): Promise<ContainerSandbox> {
    const { diskMb, memoryMb } = this.options.settings;
    return openSandbox(
      {
        side,
        tree: trees[side],
        other: trees[side === 'base' ? 'fixed' : 'base'],
        image,
        wire: container.wire,
        address: this.connection.address,
        diskBytes: diskMb * mebibyte,
        kill: () => void container.remove(),
        whyLost: () => container.whyLost(),
        admit: (each) => this.gate.admit(memoryMb * mebibyte, each),
        mayStartAhead:
          this.options.isAwaited === true
            ? (plan) => mayStartAhead(plan, described(image))
            : undefined,
        warmFrom: this.options.warmFrom,
      },
      () => repository,
      signal,
    );
  }
}

/** A container, and the repository for it, which is made meanwhile. */
interface Started {
  readonly container: RunningContainer;
  readonly repository: Promise<SandboxRepository>;
}

interface PairRequest {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly image: InstanceImage;
  readonly withNetwork: boolean;
  readonly programVolume?: string | undefined;
}

const describe = ({ product, version, address }: DockerConnection): string =>
  `${product === 'podman' ? 'Podman' : 'Docker Engine'} ${version} at ${address}`;

const mebibyte = 2 ** 20;

const isNamed = (instance: Instance, names: readonly string[]): boolean =>
  names.some((name) => name === instance.id || name === instance.repo);

const described = ({ pythonVersion, name }: InstanceImage) => ({
  description: `CPython ${pythonVersion} in ${name}`,
  pythonVersion,
});

/**
 * @param around everything else that a run may depend on: the tracer and the agent, limits, the
 * network
 */
function environmentOf(
  image: InstanceImage,
  [own, settings, network]: readonly [readonly string[], DockerSettings, boolean],
): Environment {
  const around = JSON.stringify([own, network, ...settingsOfRuns(settings)]);
  return {
    ...described(image),
    interpreter: image.python,
    packages: image.packages,
    image: image.name,
    movedDay: image.moved,
    digest: sha256(image.digest, around),
  };
}
