import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The programs of Debian's packages munge, slurmctld, slurmd and slurm-client. */
export const slurmPrograms = ['munged', 'slurmctld', 'slurmd', 'sbatch', 'scontrol', 'squeue'];

/** A job of an array, as `scontrol` shows it. */
export interface SlurmJob {
  readonly task: string;
  readonly state: string;
  readonly node: string;
  readonly restarts: number;
}

/** A Slurm of this machine, with nodes that are processes here. Needs the rights of root. */
export class SlurmCluster {
  private readonly daemons = new Map<string, ChildProcess>();

  private constructor(private readonly folder: string) {}

  /**
   * @param folder an empty folder with a short path, since sockets lie in it
   * @param nodes names of the nodes
   */
  static async start(folder: string, nodes: readonly string[]): Promise<SlurmCluster> {
    const cluster = new SlurmCluster(folder);
    for (const name of ['state', 'log', 'run', ...nodes]) await mkdir(join(folder, name));
    await writeFile(join(folder, 'munge.key'), randomBytes(128));
    await chmod(join(folder, 'munge.key'), 0o600);
    await writeFile(join(folder, 'slurm.conf'), await configuration(folder, nodes));
    await cluster.daemon('munged', 'munged', [
      ...['--foreground', '--force', `--key-file=${join(folder, 'munge.key')}`],
      ...[`--socket=${join(folder, 'munge.socket')}`, `--pid-file=${join(folder, 'munge.pid')}`],
      ...[`--log-file=${join(folder, 'log', 'munge')}`, `--seed-file=${join(folder, 'seed')}`],
    ]);
    await cluster.daemon('slurmctld', 'slurmctld', ['-D']);
    for (const node of nodes) await cluster.startNode(node);
    return cluster;
  }

  startNode(node: string): Promise<void> {
    return this.daemon(node, 'slurmd', ['-D', '-N', node]);
  }

  /**
   * Kills a node as a power cut does: its daemon, the daemons of its jobs, and their processes, in
   * this order, so that nothing tells the controller that a job has ended.
   */
  async killNode(node: string): Promise<void> {
    const all = await processes();
    const ofJobs = all.filter(({ environment }) =>
      environment.includes(`SLURMD_NODENAME=${node}\0`),
    );
    const parents = new Set(ofJobs.map(({ parent }) => parent));
    const daemons = all.filter(
      ({ pid, command }) =>
        command.startsWith(`slurmd -D -N ${node}`) ||
        (parents.has(pid) && command.startsWith('slurmstepd')),
    );
    for (const { pid } of [...daemons, ...ofJobs]) kill(pid);
  }

  /** Runs a program of Slurm's client, and returns what it prints. */
  async client(program: string, ...args: string[]): Promise<string> {
    const { stdout } = await execute(program, args, { env: this.environment() });
    return stdout;
  }

  async jobs(): Promise<SlurmJob[]> {
    const text = await this.client('scontrol', '--oneliner', 'show', 'job').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line.includes('ArrayTaskId='))
      .map((line) => {
        const of = (name: string): string => new RegExp(`\\b${name}=(\\S*)`).exec(line)?.[1] ?? '';
        const [task, state, node] = [of('ArrayTaskId'), of('JobState'), of('NodeList')];
        return { task, state, node, restarts: Number(of('Restarts')) };
      });
  }

  async stop(): Promise<void> {
    for (const job of new Set((await this.client('squeue', '-h', '-o', '%F')).split('\n'))) {
      if (job !== '') await this.client('scancel', job).catch(() => undefined);
    }
    for (const [name, child] of [...this.daemons].reverse()) {
      if (name !== 'munged' && name !== 'slurmctld') await this.killNode(name);
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }

  private environment(): NodeJS.ProcessEnv {
    return { ...process.env, SLURM_CONF: join(this.folder, 'slurm.conf') };
  }

  private async daemon(name: string, program: string, args: string[]): Promise<void> {
    const child = spawn(program, args, {
      env: this.environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log = join(this.folder, 'log', `${name}.out`);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => appendFileSync(log, chunk));
    }
    this.daemons.set(name, child);
    await once(child, 'spawn');
    await this.untilReady(name, child);
  }

  private async untilReady(name: string, child: ChildProcess): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      if (name === 'munged') {
        const args = ['-n', '-S', join(this.folder, 'munge.socket')];
        return (await execute('munge', args).catch(() => undefined)) !== undefined;
      }
      const text = await this.client('scontrol', '--oneliner', 'show', 'nodes').catch(() => '');
      if (name === 'slurmctld') return text !== '';
      const line = text.split('\n').find((each) => each.startsWith(`NodeName=${name} `)) ?? '';
      return /State=(IDLE|MIXED|ALLOCATED) /.test(line);
    };
    while (!(await isReady())) {
      if (child.exitCode !== null) {
        const said = await readFile(join(this.folder, 'log', `${name}.out`), 'utf8');
        throw new Error(`${name} ended with ${child.exitCode}: ${said.slice(-2000)}`);
      }
      await sleep(200);
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly environment: string;
}

/** All processes of this machine (proc(5)). */
async function processes(): Promise<RunningProcess[]> {
  const found: RunningProcess[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string): Promise<string> =>
      readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
    const status = await read('stat');
    const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
    const command = (await read('cmdline')).replaceAll('\0', ' ');
    found.push({ pid: Number(name), parent, command, environment: await read('environ') });
  }
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** slurm.conf(5) of a cluster whose nodes are all on this host. */
async function configuration(folder: string, nodes: readonly string[]): Promise<string> {
  const ports: number[] = [];
  for (let n = 0; n <= nodes.length; n++) ports.push(await freePort());
  return [
    ...['ClusterName=test', `SlurmctldHost=${hostname()}(127.0.0.1)`, 'SlurmUser=root'],
    ...['AuthType=auth/munge', `AuthInfo=socket=${join(folder, 'munge.socket')}`],
    ...['CredType=cred/munge', `SlurmctldPort=${ports[0]}`],
    ...[`StateSaveLocation=${join(folder, 'state')}`, `SlurmdSpoolDir=${join(folder, '%n')}`],
    ...[`SlurmctldPidFile=${join(folder, 'run', 'ctld')}`],
    ...[`SlurmdPidFile=${join(folder, 'run', '%n')}`],
    ...[`SlurmctldLogFile=${join(folder, 'log', 'ctld')}`, 'SlurmctldDebug=info'],
    ...[`SlurmdLogFile=${join(folder, 'log', '%n')}`, 'SlurmdDebug=info'],
    ...['ProctrackType=proctrack/linuxproc', 'TaskPlugin=task/none', 'MpiDefault=none'],
    ...['SelectType=select/cons_tres', 'SelectTypeParameters=CR_Core', 'ReturnToService=2'],
    ...['SlurmdParameters=config_overrides', 'SwitchType=switch/none'],
    // A dead node is noticed, and its jobs start again, within the test's patience.
    ...['SlurmdTimeout=10', 'KillWait=5', 'BatchStartTimeout=10', 'MinJobAge=3600'],
    'SchedulerParameters=requeue_setup_env_fail,bf_interval=5,sched_interval=5',
    ...nodes.map(
      (name, at) =>
        `NodeName=${name} NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${ports[at + 1]} CPUs=2 RealMemory=1000`,
    ),
    `PartitionName=all Nodes=${nodes.join(',')} Default=YES MaxTime=INFINITE State=UP`,
    '',
  ].join('\n');
}
