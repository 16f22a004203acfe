import { containerEngine } from '../../engine/engines';
import { wordForShell } from '../../engine/programs';
import { mergeText, shardLines, type ShardedCommand } from './shardedCommand';

/** What the jobs of an array of Slurm are made of. */
interface SlurmRequest {
  /** Number of all shards. */
  readonly count: number;
  /** How many run at the same time; all where it is undefined. */
  readonly atOnce: number | undefined;
  /** How a node calls the command line, as text for a shell. */
  readonly program: string;
  /** Absolute path of the folder in which the command was written, for its relative paths. */
  readonly folder: string;
  readonly jobName: string;
}

/**
 * The script of an array of jobs for `sbatch` (Slurm 20.11 and later). What it leaves open, such as
 * partition, memory and time, are options of `sbatch`, which take precedence over the script's.
 */
export function slurmScript(command: ShardedCommand, request: SlurmRequest): string {
  const { count, atOnce, program, folder, jobName } = request;
  const array = `1-${count}${atOnce === undefined ? '' : `%${atOnce}`}`;
  const ownPodman = command.engine === containerEngine && !command.namesEngineAddress;
  const storage = '"${TMPDIR:-/tmp}/swt-bench-$(id -u)"';
  return [
    '#!/bin/bash',
    `#SBATCH --job-name=${jobName}`,
    `#SBATCH --array=${array}`,
    '#SBATCH --nodes=1',
    '#SBATCH --ntasks=1',
    `#SBATCH --chdir=${wordForShell(folder)}`,
    `#SBATCH --output=${jobName}-%A_%a.log`,
    '# A job that lost its node resumes where it stopped.',
    '#SBATCH --requeue',
    '#SBATCH --open-mode=append',
    '# Before the time limit, the command stops its tests and saves finished results.',
    '#SBATCH --signal=B:TERM@120',
    '#',
    '# When all jobs have finished, this merges the shards and lists missing ones:',
    `#   ${mergeText(command, program)}`,
    'set -eu',
    ...(ownPodman ? podmanLines : []),
    'shard=$SLURM_ARRAY_TASK_ID',
    ...(command.namesStorage
      ? []
      : ["# Uses the node's own disk, because locks on a shared file system may not work."]),
    ...shardLines(command, count, program, command.namesStorage ? [] : ['--storage', storage]),
    'exit "$status"',
    '',
  ].join('\n');
}

/** Podman without privileges, which speaks the protocol of Docker on a socket of this job. */
const podmanLines: readonly string[] = [
  "# The node's Podman runs the containers.",
  'engine=$(mktemp -d)',
  'podman system service --time 0 "unix://$engine/podman.sock" > "$engine/podman.log" 2>&1 &',
  'podman=$!',
  `trap 'kill "$podman" || true; rm -rf "$engine"' EXIT`,
  'for try in $(seq 100); do',
  '  if [ -S "$engine/podman.sock" ]; then break; fi',
  '  if ! kill -0 "$podman" 2> /dev/null; then',
  '    cat "$engine/podman.log" >&2',
  '    exit 69',
  '  fi',
  '  sleep 0.3',
  'done',
  'export DOCKER_HOST="unix://$engine/podman.sock"',
];
