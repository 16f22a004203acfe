import { join } from 'node:path';
import type { Instance } from '../../domain/instance';
import { Cancelled, HumanError, throwIfAborted } from '../../domain/humanError';
import { sides, type Side } from '../../domain/outcome';
import { sha256 } from '../../files/sha256';
import type { Trees } from '../../repository/trees';
import { prebuiltName, pythonsOf, usualFolder } from '../containerImage';
import { settingsOfRuns, type DockerSettings } from '../docker/dockerSettings';
import { ImageMissing } from '../docker/images/pull/pullProblem';
import { containerLabels } from '../docker/labels';
import {
  sandboxesOf,
  type Engine,
  type EngineWork,
  type Environment,
  type Machine,
  type Pair,
  type PrepareWork,
  type Sandbox,
  type TestPlace,
  type WorkspaceWork,
} from '../engine';
import { recipeOf } from '../environments/recipes';
import { idleTimer } from '../idleTimer';
import { tracerDigest } from '../local/python';
import { Agent } from '../sandbox/agent';
import { openSandbox, type ContainerSandbox } from '../sandbox/containerSandbox';
import { ContainerWorkspace } from '../sandbox/containerWorkspace';
import { ownFiles } from '../sandbox/ownFiles';
import type { Workspace } from '../workspace';
import { removeAbandonedPods } from './abandonedPods';
import { openCluster, type Cluster } from './cluster';
import type { KubernetesSettings } from './kubernetesSettings';
import { makeNetworkPolicy, notEnforced, reachedByPod } from './networkProbe';
import { namespaceRoom } from './namespaceRoom';
import { NodeClock } from './nodeTime';
import { PodWatch } from './podWatch';
import { prepareImage, type PreparedImage } from './preparedImage';
import { startPod, type SandboxPod } from './sandboxPod';

export interface KubernetesOptions {
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
  const machine = await namespaceRoom(cluster, options.shared);
  const { assets } = options;
  const engine = new KubernetesEngine(cluster, options, await ownFiles(assets), [
    await tracerDigest(join(assets, 'tracer')),
    await tracerDigest(join(assets, 'agent')),
  ]);
  return {
    name: 'kubernetes',
    description: `Kubernetes at ${cluster.where}`,
    machine: machine satisfies Machine,
    prepare: (instance, trees, work) => engine.prepare(instance, trees, work),
    nodeSeconds: () => engine.clock.time.seconds,
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

/** Milliseconds during which no pod is sent to a node that lost a sandbox. */
const avoidance = 120_000;

class KubernetesEngine {
  readonly clock = new NodeClock();
  private readonly watch: PodWatch;
  /** Pairs, workspaces and single sandboxes that are open. */
  private readonly opened = new Set<{ dispose(): Promise<void> }>();
  /** Nodes that lost a sandbox, with the time until which they are avoided. */
  private readonly avoided = new Map<string, number>();
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
      (recipeOf(instance.repo, instance.version).network || isNamed(instance, shared.network));
    const place: PlaceOfPods = {
      ...{ instance, trees, hasNetwork },
      images: this.imagesOf(instance),
      acceptsNetwork: isGraded && settings.acceptNetwork,
    };
    // What an image holds is only known in a pod. The first pair takes that pod over.
    let spare: PodSandbox | undefined = await this.openSandbox(place, 'base', work);
    const { image } = spare;
    const first = spare;
    const unused = {
      dispose: async () => {
        idle.end();
        spare = undefined;
        this.opened.delete(unused);
        await first.remove();
      },
    };
    const idle = idleTimer(this.options.shared.idleMinutes, () => void unused.dispose());
    this.opened.add(unused);
    const takeSpare = (): PodSandbox | undefined => {
      const taken = spare;
      idle.end();
      spare = undefined;
      this.opened.delete(unused);
      return taken?.box.agent.isThere === true ? taken : undefined;
    };
    return {
      environment: this.environmentOf(place, image, first.pod),
      openPair: async (opening, asked?: readonly Side[]) => {
        opening.reporter.progress(`${instance.id}: starting the sandboxes`);
        return this.openPair(place, asked ?? sides, opening, takeSpare);
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

  /** The row's own image, else a prebuilt one. */
  private imagesOf(instance: Instance): readonly string[] {
    const { shared } = this.options;
    const own = instance.environment?.image;
    const prebuilt = shared.prebuilt === '' ? [] : [prebuiltName(instance.id, shared.prebuilt)];
    const names = own === undefined ? prebuilt : [own];
    if (names.length === 0) {
      throw new HumanError(
        `There is no image for ${instance.id}: its row names none, and --prebuilt is none`,
        'Name an image in the row, or a namespace with --prebuilt',
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
      pytest: image.pytest,
      tox: image.tox,
      image: pod.image,
      digest: sha256('kubernetes', image.digest, around),
    };
  }

  private async openPair(
    place: PlaceOfPods,
    asked: readonly Side[],
    work: EngineWork,
    takeSpare: () => PodSandbox | undefined,
  ): Promise<Pair> {
    const open = async (side: Side): Promise<PodSandbox> =>
      (side === 'base' ? takeSpare() : undefined) ?? this.openSandbox(place, side, work);
    // Wait for all of them, so that none starts a pod after the others were removed.
    const settled = await Promise.allSettled(asked.map(open));
    const boxes = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const removeAll = async (): Promise<void> => {
      await Promise.all(boxes.map((each) => each.remove()));
    };
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed !== undefined || this.ending.signal.aborted || work.signal?.aborted === true) {
      await removeAll();
      throw failed === undefined ? new Cancelled() : failed.reason;
    }
    return this.pairOf(boxes, removeAll);
  }

  /** A pair that stops its pods after they have been idle for the set time. */
  private pairOf(boxes: readonly PodSandbox[], removeAll: () => Promise<void>): Pair {
    const { idleMinutes } = this.options.shared;
    const end = async (why: string): Promise<void> => {
      for (const { box } of boxes) box.close(why);
      await removeAll();
    };
    const idle = idleTimer(idleMinutes, () => {
      void end(`it was stopped after ${idleMinutes} minutes without a run`);
    });
    const watched = ({ box }: PodSandbox): Sandbox => ({
      side: box.side,
      load: (patch, signal) => idle.during(() => box.load(patch, signal)),
      run: (request) => idle.during(() => box.run(request)),
    });
    const pair: Pair = {
      ...sandboxesOf<Side>(boxes.map(watched)),
      dispose: async () => {
        idle.end();
        this.opened.delete(pair);
        await end('it was removed');
      },
    };
    this.opened.add(pair);
    return pair;
  }

  private async openWorkspace(place: PlaceOfPods, work: WorkspaceWork): Promise<Workspace> {
    if (work.program !== undefined) {
      throw new HumanError(
        'Agents with a program of their own do not run on the kubernetes engine yet',
        'Use --engine docker for them',
      );
    }
    const onR = { ...place, trees: { ...place.trees, fixed: place.trees.base } };
    const { box, pod, remove } = await this.openSandbox(onR, 'base', work);
    const workspace: Workspace = new ContainerWorkspace(box, pod, async () => {
      this.opened.delete(workspace);
      await remove();
    });
    this.opened.add(workspace);
    return workspace;
  }

  /** Opens a sandbox from the first image that exists. */
  private async openSandbox(place: PlaceOfPods, side: Side, work: EngineWork): Promise<PodSandbox> {
    const mustBeClosed = !place.hasNetwork && !place.acceptsNetwork;
    if (mustBeClosed && this.refusal !== undefined) throw this.refusal;
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
    { signal: asked, reporter }: EngineWork,
  ): Promise<PodSandbox> {
    const { instance, trees } = place;
    const { shared } = this.options;
    const ending = this.ending.signal;
    const signal = asked === undefined ? ending : AbortSignal.any([asked, ending]);
    const pod = await this.startPod(image, place, side, { reporter, signal });
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
      const prepared = await this.prepared(agent, pod, place, image).finally(() =>
        signal.removeEventListener('abort', stop),
      );
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
        signal,
      );
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
    work: EngineWork & { readonly signal: AbortSignal },
  ): Promise<SandboxPod> {
    const { shared, settings } = this.options;
    const folder = instance.environment?.folder ?? usualFolder;
    const purpose = { instance: instance.id, repo: instance.repo, side };
    return startPod(
      {
        ...{ cluster: this.cluster, watch: this.watch, files: this.files, image, folder, side },
        settings: { kubernetes: settings, limits: shared },
        pythons: pythonsOf(folder),
        instance: instance.id,
        hasNetwork,
        about: await containerLabels('pair', purpose),
        avoid: this.avoidedNodes(),
        onLoss: (node) => this.avoided.set(node, Date.now() + avoidance),
      },
      work,
    );
  }

  private async prepared(
    agent: Agent,
    pod: SandboxPod,
    place: PlaceOfPods,
    image: string,
  ): Promise<PreparedImage> {
    const { instance, trees } = place;
    const folder = instance.environment?.folder ?? usualFolder;
    const { imageId } = pod;
    const prepared = await prepareImage(agent, { instance, trees, folder, image, imageId });
    if (place.hasNetwork || place.acceptsNetwork) return prepared;
    const reached = await reachedByPod(agent, prepared.python, [[pod.hostAddress, kubeletPort]]);
    if (reached.length > 0) throw (this.refusal = notEnforced(pod.node, reached));
    return prepared;
  }

  /** Nodes that lately lost a sandbox; the cluster may not know yet that they are gone. */
  private avoidedNodes(): string[] {
    const now = Date.now();
    for (const [node, until] of this.avoided) if (until < now) this.avoided.delete(node);
    return [...this.avoided.keys()];
  }
}

/** Every node has a kubelet that listens there. */
const kubeletPort = 10250;

const isNamed = (instance: Instance, names: readonly string[]): boolean =>
  names.some((name) => name === instance.id || name === instance.repo);
