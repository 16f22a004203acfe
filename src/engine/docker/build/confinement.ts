import type Dockerode from 'dockerode';
import { dockerSettings, type DockerSettings } from '../dockerSettings';
import { pythonText } from '../../pythonProgram';

/** The limits of a build: those of a sandbox, and the time for each command. */
export type BuildLimits = Pick<
  DockerSettings,
  'memoryMb' | 'processes' | 'cpus' | 'diskMb' | 'buildMinutes'
>;

/**
 * Whose code a container runs. `system`: Debian's package manager and programs of the base image, with a
 * network. `foreign`: code of repositories and of their requirements, without a network.
 */
export type ConfinedRuns = 'system' | 'foreign';

/**
 * The user that runs foreign code, which is also the user of tests. It has no rights over files of
 * root.
 */
export const foreignUser = 1000;

/**
 * Capabilities of root in a container; foreign code has none of them. Root changes owners of files
 * and runs commands as another user. A package manager also sets the permissions of programs.
 */
const capabilities: Readonly<Record<ConfinedRuns, readonly string[]>> = {
  foreign: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETUID', 'SETGID'],
  system: [
    ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETUID', 'SETGID'],
    ...['FSETID', 'SETFCAP', 'SYS_CHROOT'],
  ],
};

/** The limits and rights of a container that builds. */
export function confinement(runs: ConfinedRuns, limits: BuildLimits): Dockerode.HostConfig {
  const memory = limits.memoryMb * 2 ** 20;
  const file = fileBytes(limits);
  return {
    Init: true,
    ...(runs === 'foreign' ? { NetworkMode: 'none' } : {}),
    Memory: memory,
    MemorySwap: memory,
    PidsLimit: limits.processes,
    ...(limits.cpus > 0 ? { NanoCpus: Math.round(limits.cpus * 1e9) } : {}),
    SecurityOpt: ['no-new-privileges'],
    CapDrop: ['ALL'],
    CapAdd: [...capabilities[runs]],
    Ulimits: [
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'fsize', Soft: file, Hard: file },
    ],
    LogConfig: { Type: 'none', Config: {} },
    Sysctls: { 'kernel.shm_rmid_forced': '1' },
  };
}

/**
 * Bytes of the largest file. This is a little above the limit on the disk, so that the report names
 * that limit.
 */
const fileBytes = ({ diskMb }: BuildLimits): number => (diskMb + 64) * 2 ** 20;

/** Why the supervisor ended a command, by its exit status; no other program uses these. */
const endings = {
  201: 'time',
  202: 'disk',
  203: 'memory',
  204: 'processes',
  205: 'unstoppable',
} as const;

/** The limit that foreign code reached. */
export type LimitHit = (typeof endings)[keyof typeof endings] | 'output';

export const limitHit = (status: number): LimitHit | undefined =>
  (endings as Readonly<Record<number, LimitHit>>)[status];

/** Describes the limit that was reached, and what the user can do about it. */
export function limitWords(
  hit: LimitHit,
  limits: BuildLimits,
): { readonly what: string; readonly todo: string } {
  const raise = (limit: keyof BuildLimits): string =>
    `If it needs more, raise ${dockerSettings.whereToRaise(limit)}`;
  switch (hit) {
    case 'time':
      return {
        what: `it was stopped after ${limits.buildMinutes} minutes`,
        todo: raise('buildMinutes'),
      };
    case 'disk':
      return {
        what: `it was stopped because it wrote more than ${limits.diskMb} MiB`,
        todo: raise('diskMb'),
      };
    case 'memory':
      return {
        what: `it ran out of memory (${limits.memoryMb} MiB)`,
        todo: raise('memoryMb'),
      };
    case 'processes':
      return {
        what: `it exceeded the limit of ${limits.processes} processes`,
        todo: raise('processes'),
      };
    case 'output':
      return {
        what: 'its output exceeded the limit',
        todo: 'Check its output',
      };
    case 'unstoppable':
      return {
        what: 'it left processes running that cannot be stopped',
        todo: 'Restart the engine and try again',
      };
  }
}

/**
 * The command that runs foreign code as {@link foreignUser}, with limits on time and output, and
 * ends all of its processes. Root runs this command, with an interpreter that foreign code cannot
 * overwrite.
 *
 * @param python the interpreter of the base image
 */
export const supervised = (
  python: string,
  argv: readonly string[],
  limits: BuildLimits,
): string[] => [
  ...[python, '-I', '-S', '-c', pythonText('confine.py')],
  JSON.stringify({
    user: foreignUser,
    seconds: limits.buildMinutes * 60,
    disk: limits.diskMb * 2 ** 20,
  }),
  ...argv,
];
