import { join } from 'node:path';
import type { Instance } from '../../domain/instance';
import { Cancelled, HumanError, throwIfAborted } from '../../domain/work';
import { sides, type Side } from '../../domain/outcome';
import { sha256 } from '../../files/digest';
import type { Trees } from '../../repository/trees';
import { prebuiltName, pythonsOf, defaultFolder } from '../docker/containerImage';
import { settingsOfRuns, type DockerSettings } from '../docker/dockerSettings';
import { ImageMissing } from '../docker/images/pull/pullProblem';
import { containerLabels } from '../docker/labels';
import type {
  Engine,
  EngineWork,
  Environment,
  Machine,
  Pair,
  PrepareWork,
  TestPlace,
  WorkspaceWork,
} from '../engine';
import { idleTimer, warmPair } from '../sandbox/warmPair';
import { tracerDigest } from '../local/python';
import { Agent } from '../sandbox/agent';
import { openSandbox, type ContainerSandbox } from '../sandbox/containerSandbox';
import { ContainerWorkspace } from '../sandbox/containerWorkspace';
import { ownFiles } from '../sandbox/programArchive';
import { sandboxRepository } from '../sandbox/sandboxRepository';
import type { Workspace } from '../sandbox/workspace';
import { removeAbandonedPods } from './abandonedPods';
import { AvoidedNodes, NodeClock } from './nodes';
import { openCluster, type Cluster } from './cluster';
import type { KubernetesSettings } from './kubernetesSettings';
import { makeNetworkPolicy, notEnforced, reachedByPod, tryToReach } from './networkProbe';
import { namespaceCapacity } from './namespaceCapacity';
import { PodTurns, type Opening, type Placing } from './podTurns';
import { PodWatch, type AwaitedPod } from './podWatch';
import { prepareImage, type PreparedImage } from './preparedImage';
import { startPod, type SandboxPod } from './sandboxPod';
import type { EnvironmentMaker } from '../environmentMaker';

interface KubernetesOptions {
  readonly environments: EnvironmentMaker;
  /** Folder that contains `tracer/` and `agent/`. */
  readonly assets: string;
  readonly settings: KubernetesSettings;
  /** Limits of sandboxes, prebuilt images and the network, which both platforms share. */
  readonly shared: DockerSettings;
}

/**
 * Runs tests in pods of a Kubernetes cluster, one for each side. Pods that killed processes left
 * are removed first.
 *
 * @throws HumanError when there is no cluster or it does not allow what is needed
 */
export async function kubernetesEngine(options: KubernetesOptions): Promise<Engine> {
  const cluster = await openCluster(options.settings);
  await removeAbandonedPods(cluster);
  await makeNetworkPolicy(cluster);
  const machine = await namespaceCapacity(cluster, options.shared);
  const { assets } = options;
  const engine = new KubernetesEngine(cluster, options, await ownFiles(assets), [
    await tracerDigest(join(assets, 'tracer')),
    await tracerDigest(join(assets, 'agent')),
  ]);
  return {
    name: 'kubernetes',
    description: `Kubernetes at ${cluster.where}`,
    machine: machine satisfies Machine,
    sandboxBytes: options.shared.memoryMb * 2 ** 20,
    prepare: (instance, trees, work) => engine.prepare(instance, trees, work),
    nodeSeconds: () => engine.clock.seconds,
    dispose: () => engine.dispose(),
  };
}

/** A sandbox with its pod. */
interface PodSandbox {
  readonly box: ContainerSandbox;
  readonly pod: SandboxPod;
  readonly image: PreparedImage;
  readonly remove: () => Promise<void>;
}

/** Sandboxes that no pair has taken over yet. */
interface Spares {
  /** Gives the sandbox of a side away, if it is still there. */
  take(side: Side): PodSandbox | undefined;
  /** Removes those that nobody took. */
  dispose(): Promise<void>;
}

/** What the pods of an instance have in common. */
interface PlaceOfPods {
  readonly instance: Instance;
  readonly trees: Trees;
  /** Names of images, the first of which that exists is used. */
  readonly images: readonly string[];
  readonly hasNetwork: boolean;
  /** Whether tests may be run although their network is not closed. */
  readonly acceptsNetwork: boolean;
}

/** One opening of a sandbox, as part of an attempt to open several. */
interface PlacedWork extends WorkspaceWork {
  readonly placing: Placing;
  /** `performance.now()` when waiting for room and for the image is over. */
  readonly until: number;
  /** What was reported about waiting so far. */
  readonly reported: AwaitedPod['reported'];
}

class KubernetesEngine {
  readonly clock = new NodeClock();
  private readonly watch: PodWatch;
  /** Pairs, workspaces and single sandboxes that are open. */
  private readonly opened = new Set<{ dispose(): Promise<void> }>();
  private readonly avoided = new AvoidedNodes();
  private readonly turns = new PodTurns();
  private readonly spares = new Set<Spares>();
  private readonly ending = new AbortController();
  /** The refusal of the cluster, once a pod has reached what it must not: no further pod is tried. */
  private refusal: HumanError | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: KubernetesOptions,
    private readonly files: Awaited<ReturnType<typeof ownFiles>>,
    private readonly own: readonly string[],
  ) {
    this.watch = new PodWatch(cluster, {
      pendingMinutes: options.settings.pendingMinutes,
      memoryMb: options.shared.memoryMb,
    });
  }

  async prepare(instance: Instance, trees: Trees, work: PrepareWork): Promise<TestPlace> {
    const { shared, settings } = this.options;
    const isGraded = (work.audience ?? 'grading') === 'grading';
    // Models never get a network, whatever a recipe or a setting says.
    const hasNetwork =
      isGraded &&
      (this.options.environments.surroundings(instance).network ||
        isNamed(instance, shared.network));
    const place: PlaceOfPods = {
      ...{ instance, trees, hasNetwork },
      images: this.imagesOf(instance),
      acceptsNetwork: isGraded && settings.acceptNetwork,
    };
    // What an image holds is only known in a pod. The first pair takes over what is opened here: both
    // pods where a grade follows, since one after the other would take twice as long.
    const opened = await this.openTogether(place, isGraded ? sides : ['base'], work);
    const spares = await this.sparesOf(opened);
    const [first] = opened;
    return {
      environment: this.environmentOf(place, first.image, first.pod),
      openPair: async (opening, asked?: readonly Side[]) => {
        opening.reporter.progress(`${instance.id}: starting sandboxes`);
        return this.openPair(place, asked ?? sides, opening, spares);
      },
      openWorkspace: async (opening) => {
        opening.reporter.progress(`${instance.id}: starting a workspace on R`);
        return this.openWorkspace(place, opening);
      },
    };
  }

  async dispose(): Promise<void> {
    this.ending.abort();
    await Promise.all([...this.opened].map((each) => each.dispose()));
  }

  /**
   * Keeps sandboxes for the first pair, until they have been idle for the set time or their room is
   * needed.
   */
  private async sparesOf(opened: readonly PodSandbox[]): Promise<Spares> {
    const left = new Map(opened.map((each) => [each.box.side, each]));
    const forget = (): void => {
      idle.end();
      this.opened.delete(spares);
      this.spares.delete(spares);
    };
    const spares: Spares = {
      take: (side) => {
        const taken = left.get(side);
        left.delete(side);
        if (left.size === 0) forget();
        return taken?.box.agent.isThere === true ? taken : undefined;
      },
      dispose: async () => {
        const unused = [...left.values()];
        left.clear();
        forget();
        await Promise.all(unused.map((each) => each.remove()));
      },
    };
    const idle = idleTimer(this.options.shared.idleMinutes, () => void spares.dispose());
    await this.kept(spares);
    this.spares.add(spares);
    return spares;
  }

  /** The row's own image, else a prebuilt one. */
  private imagesOf(instance: Instance): readonly string[] {
    const { shared } = this.options;
    const own = instance.environment?.image;
    const prebuilt = shared.prebuilt === '' ? [] : [prebuiltName(instance.id, shared.prebuilt)];
    const names = own === undefined ? prebuilt : [own];
    if (names.length === 0) {
      throw new HumanError(
        `There is no image for ${instance.id}: its row has none, and --prebuilt is none`,
        'Specify an image in the row, or a namespace with --prebuilt',
      );
    }
    return names;
  }

  private environmentOf(place: PlaceOfPods, image: PreparedImage, pod: SandboxPod): Environment {
    const { shared } = this.options;
    const around = JSON.stringify([this.own, place.hasNetwork, ...settingsOfRuns(shared)]);
    return {
      description: `CPython ${image.pythonVersion} in ${pod.image}`,
      interpreter: image.python,
      pythonVersion: image.pythonVersion,
      packages: image.packages,
      image: pod.image,
      digest: sha256('kubernetes', image.digest, around),
    };
  }

  private async openPair(
    place: PlaceOfPods,
    asked: readonly Side[],
    work: EngineWork,
    spares: Spares,
  ): Promise<Pair> {
    const opened = await this.openTogether(place, asked, work, spares);
    // A pair of one side does not need the other one.
    await spares.dispose();
    const removeAll = async (): Promise<void> => {
      await Promise.all(opened.map((each) => each.remove()));
    };
    const boxes = opened.map(({ box }) => box);
    const { idleMinutes } = this.options.shared;
    const pair = warmPair(boxes, idleMinutes, removeAll, (each) => this.opened.delete(each));
    return this.kept(pair);
  }

  /** Remembers what is open. @throws Cancelled when the engine has ended meanwhile */
  private async kept<T extends { dispose(): Promise<void> }>(opened: T): Promise<T> {
    if (this.ending.signal.aborted) {
      await opened.dispose();
      throw new Cancelled();
    }
    this.opened.add(opened);
    return opened;
  }

  /**
   * Opens a sandbox for each of these sides, all or none.
   *
   * @param spares sandboxes that are open already
   */
  private async openTogether(
    place: PlaceOfPods,
    asked: readonly Side[],
    work: WorkspaceWork,
    spares?: Spares,
  ): Promise<[PodSandbox, ...PodSandbox[]]> {
    const { reporter } = work;
    const ending = this.ending.signal;
    const signal = work.signal === undefined ? ending : AbortSignal.any([work.signal, ending]);
    const until = performance.now() + this.options.settings.pendingMinutes * 60_000;
    const reported = { progress: '', isLogged: false };
    const open =
      (side: Side): Opening<PodSandbox> =>
      async (placing) =>
        spares?.take(side) ?? this.openSandbox(place, side, { ...work, until, reported, placing });
    const opened = await this.turns.open(asked.map(open), {
      signal,
      remove: (each) => each.remove(),
      onQueued: () => reporter.progress(`${place.instance.id}: waiting for other pods to start`),
      onReleased: () =>
        reporter.log(
          `${place.instance.id}: no room for the second pod of the pair; released the first one and trying both again`,
        ),
      // The session that keeps a spare may wait for this very room.
      onShort: () => this.spares.forEach((each) => void each.dispose()),
    });
    return opened as [PodSandbox, ...PodSandbox[]];
  }

  private async openWorkspace(place: PlaceOfPods, work: WorkspaceWork): Promise<Workspace> {
    const onR = { ...place, trees: { ...place.trees, fixed: place.trees.base } };
    const [{ box, pod, remove }] = await this.openTogether(onR, ['base'], work);
    const workspace: Workspace = new ContainerWorkspace(box, pod, async () => {
      this.opened.delete(workspace);
      await remove();
    });
    return this.kept(workspace);
  }

  /** Opens a sandbox from the first image that exists. */
  private async openSandbox(place: PlaceOfPods, side: Side, work: PlacedWork): Promise<PodSandbox> {
    if (mustBeClosed(place) && this.refusal !== undefined) throw this.refusal;
    let missing: ImageMissing | undefined;
    for (const image of place.images) {
      try {
        return await this.openFrom(image, place, side, work);
      } catch (error) {
        if (!(error instanceof ImageMissing)) throw error;
        work.reporter.log(error.message);
        missing ??= error;
      }
    }
    throw missing ?? new Error('there is always an image to try');
  }

  private async openFrom(
    image: string,
    place: PlaceOfPods,
    side: Side,
    work: PlacedWork,
  ): Promise<PodSandbox> {
    const { instance, trees } = place;
    const { shared } = this.options;
    const { reporter, placing } = work;
    const { signal } = placing;
    // Packed while the pod starts.
    const tag = this.options.environments.surroundings(instance).tag;
    const repository = sandboxRepository(trees[side], tag, signal);
    // Thrown where it is needed.
    repository.catch(() => undefined);
    const pod = await this.startPod(image, place, side, work);
    const stopClock = this.clock.start(pod.node, pod.since);
    const remove = async (): Promise<void> => {
      stopClock();
      await pod.remove();
    };
    try {
      reporter.progress(`${instance.id}: preparing its pod on node ${pod.node}`);
      const parts = {
        side,
        wire: pod.wire,
        address: this.cluster.where,
        kill: () => void remove(),
        whyLost: () => pod.whyLost(),
      };
      const stop = (): void => pod.wire.close();
      signal.addEventListener('abort', stop, { once: true });
      const agent = new Agent(parts);
      const targets = [[pod.hostAddress, kubeletPort]] as const;
      if (mustBeClosed(place)) await tryToReach(agent, targets);
      const prepared = await this.prepared(agent, pod, place, image).finally(() =>
        signal.removeEventListener('abort', stop),
      );
      // Once more, since the network of a pod may open only after its start.
      if (mustBeClosed(place)) await tryToReach(agent, targets, 0.5);
      const box = await openSandbox(
        {
          ...parts,
          tree: trees[side],
          other: trees[side === 'base' ? 'fixed' : 'base'],
          image: prepared,
          diskBytes: shared.diskMb * 2 ** 20,
          // Requests equal limits, so the memory of a pod is its own.
          admit: () => Promise.resolve(() => undefined),
        },
        () => repository,
        signal,
      );
      const reached = mustBeClosed(place) ? await reachedByPod(box.agent, targets) : [];
      if (reached.length > 0) throw (this.refusal = notEnforced(pod.node, reached));
      return { box, pod, image: prepared, remove };
    } catch (error) {
      await remove();
      throwIfAborted(signal);
      throw error;
    }
  }

  private async startPod(
    image: string,
    { instance, hasNetwork }: PlaceOfPods,
    side: Side,
    { reporter, until, reported, program, placing }: PlacedWork,
  ): Promise<SandboxPod> {
    const { shared, settings } = this.options;
    const folder = instance.environment?.folder ?? defaultFolder;
    const purpose = { instance: instance.id, repo: instance.repo, side };
    return startPod(
      {
        ...{ cluster: this.cluster, watch: this.watch, files: this.files, image, folder, side },
        settings: { kubernetes: settings, limits: shared },
        pythons: pythonsOf(folder),
        instance: instance.id,
        hasNetwork,
        about: await containerLabels('pair', purpose),
        ...{ avoided: this.avoided, until, reported, program, onPlaced: placing.placed },
      },
      { reporter, signal: placing.signal },
    );
  }

  private async prepared(
    agent: Agent,
    pod: SandboxPod,
    place: PlaceOfPods,
    image: string,
  ): Promise<PreparedImage> {
    const { instance, trees } = place;
    const folder = instance.environment?.folder ?? defaultFolder;
    const { imageId } = pod;
    const { environments } = this.options;
    const preparing = { environments, instance, trees, folder, image, imageId };
    return prepareImage(agent, preparing);
  }
}

/** Whether the sandboxes of a place may reach nothing. */
const mustBeClosed = ({ hasNetwork, acceptsNetwork }: PlaceOfPods): boolean =>
  !hasNetwork && !acceptsNetwork;

/** Every node has a kubelet that listens there. */
const kubeletPort = 10250;

const isNamed = (instance: Instance, names: readonly string[]): boolean =>
  names.some((name) => name === instance.id || name === instance.repo);
