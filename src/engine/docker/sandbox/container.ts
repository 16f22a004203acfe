import { randomBytes } from 'node:crypto';
import type Dockerode from 'dockerode';
import type { Side } from '../../../domain/outcome';
import { programFolder } from '../../engine';
import { throwIfAborted } from '../../../domain/work';
import { attachProgram } from '../attachedProgram';
import {
  type AttachedProgram,
  firstFrame,
  openAgentProtocol,
  type AgentProtocol,
} from '../../sandbox/agentProtocol';
import { removeNow } from './abandonedContainers';
import { tarOf, type ArchiveEntry } from '../../sandbox/archive';
import { agentFolder } from '../../sandbox/programArchive';
import type { Loss } from '../../sandbox/agent';
import { pythonText } from '../../pythonProgram';
import { engineProblem, type DockerConnection } from '../connection/connect';
import type { InstanceImage } from '../../environmentMaker';
import { containerLabels } from '../labels';
import { tracerFolder } from '../../sandbox/containerSandbox';
import type { DockerSettings } from '../dockerSettings';

/**
 * Capabilities of the agent beyond those of an ordinary process. Tests get none of them, unless
 * they must run as root.
 */
const agentCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETUID', 'SETGID'];

interface ContainerRequest {
  readonly connection: DockerConnection;
  readonly image: InstanceImage;
  readonly instance: string;
  readonly repo: string;
  readonly side: Side;
  readonly settings: DockerSettings;
  readonly hasNetwork: boolean;
  readonly files: readonly ArchiveEntry[];
  /** Name of a volume that the container has at `programFolder`, only to read. */
  readonly programVolume?: string | undefined;
}

/**
 * Containers that could not be removed because their engine was gone. They are tried again, since
 * it may be back.
 */
const leftOver = new Set<Dockerode.Container>();

/** A running container and its agent. */
export interface RunningContainer {
  readonly wire: AgentProtocol;
  /** Starts a program beside the agent, as root. */
  attach(argv: readonly string[]): Promise<AttachedProgram>;
  /** Why the agent is gone, as far as the engine knows; never throws. */
  whyLost(): Promise<Loss | undefined>;
  /** Removes the container with everything that runs in it; never throws. */
  remove(): Promise<void>;
}

/**
 * Starts a container with the agent in it and with limits on memory and processes. The container
 * has no network, no privileges and no folder of this machine. Nothing is left behind on failure.
 *
 * @throws HumanError when the engine does not do it, Cancelled
 */
export async function startContainer(
  request: ContainerRequest,
  signal?: AbortSignal,
): Promise<RunningContainer> {
  const { connection, image } = request;
  const { docker } = connection;
  throwIfAborted(signal);
  let container: Dockerode.Container | undefined;
  const remove = async (): Promise<void> => {
    const made = container;
    if (made !== undefined) await removeNow(made).catch(() => leftOver.add(made));
  };
  for (const each of [...leftOver]) {
    leftOver.delete(each);
    await removeNow(each).catch(() => leftOver.add(each));
  }
  try {
    const made = await docker.createContainer({
      ...(await containerOptions(request)),
      name: nameFor(request),
    });
    container = made;
    throwIfAborted(signal);
    await made.putArchive(await tarOf(request.files), { path: '/' });
    await made.start();
    throwIfAborted(signal);
    const program = await attachProgram(made, [
      ...[image.python, '-I', '-B', `${agentFolder}/swt_agent.py`],
      JSON.stringify({ folder: image.folder, user: image.user, tracer: tracerFolder, beats: true }),
    ]);
    const wire = openAgentProtocol(program, true);
    await firstFrame(wire, signal);
    return {
      wire,
      attach: (argv) => attachProgram(made, argv),
      whyLost: () => whyLost(made),
      remove: async () => {
        wire.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    const doing = `starting a sandbox for ${request.instance} from ${image.name}`;
    throw engineProblem(error, connection, doing);
  }
}

/** What the engine says of a container whose agent is gone: nothing when it runs or is not known. */
async function whyLost(container: Dockerode.Container): Promise<Loss | undefined> {
  const state = await container
    .inspect()
    .then(({ State }) => State)
    .catch(() => undefined);
  if (state?.OOMKilled === true && !state.Running) return { ending: 'out of memory' };
  return state === undefined || state.Running
    ? undefined
    : { why: `its container ended with status ${state.ExitCode}` };
}

const nameFor = ({ instance, side }: ContainerRequest): string =>
  `swt-bench-${instance.replace(/[^A-Za-z0-9_.-]/g, '-')}-${side}-${randomBytes(4).toString('hex')}`;

/**
 * The control group of a container is named by its number, which /proc/self/cgroup would show. The
 * client's types lack this option:
 * https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container
 */
const ownControlGroup: object = { CgroupnsMode: 'private' };

async function containerOptions(
  request: ContainerRequest,
): Promise<Dockerode.ContainerCreateOptions> {
  const { image, settings, programVolume } = request;
  const memory = settings.memoryMb * 2 ** 20;
  const temporary = Math.min(settings.diskMb, Math.floor(settings.memoryMb / 2));
  return {
    Image: image.id,
    Entrypoint: [image.python, '-I', '-S', '-c', pythonText('first_process.py')],
    Cmd: [],
    User: '0',
    WorkingDir: '/',
    // By default the engine derives the host name from the container's number, which differs
    // between the sides.
    Hostname: 'sandbox',
    Labels: await containerLabels('pair', {
      instance: request.instance,
      repo: request.repo,
      side: request.side,
    }),
    // Some engines wait for a container to stop even when told to remove it by force.
    StopTimeout: 1,
    NetworkDisabled: !request.hasNetwork,
    HostConfig: {
      NetworkMode: request.hasNetwork ? 'bridge' : 'none',
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: settings.processes,
      ...(settings.cpus > 0 ? { NanoCpus: Math.round(settings.cpus * 1e9) } : {}),
      ...ownControlGroup,
      SecurityOpt: ['no-new-privileges'],
      CapDrop: ['ALL'],
      CapAdd: agentCapabilities,
      // Many test suites compile programs there and run them.
      Tmpfs: { '/tmp': `rw,exec,nosuid,nodev,size=${temporary}m,mode=1777` },
      ...(programVolume !== undefined && {
        Mounts: [{ Type: 'volume', Source: programVolume, Target: programFolder, ReadOnly: true }],
      }),
      LogConfig: { Type: 'none', Config: {} },
      // Shared memory (System V) is freed with the last process that uses it. Otherwise it would
      // outlive a run.
      Sysctls: { 'kernel.shm_rmid_forced': '1' },
    },
  };
}
