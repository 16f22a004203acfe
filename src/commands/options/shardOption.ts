import { InvalidArgumentError, Option } from 'commander';
import { shardText, type Shard } from '../../domain/work';

/** The option `--shard` of commands whose work several machines can share. */
export const shardOption = (): Option =>
  new Option(
    '--shard <i/n>',
    'run only part i of n, split by instance; `auto` reads both numbers from a Slurm array, `auto/n` reads i from a Slurm array or an indexed Kubernetes Job',
  ).argParser((value) => parseShard(value, process.env));

/** What tells a process its place in an array of jobs. */
type ArrayVariables = Readonly<Record<string, string | undefined>>;

/**
 * The shard that an option names.
 *
 * @param value `2/4` (from 1), `auto/4` or `auto`
 * @param variables `JOB_COMPLETION_INDEX` of an indexed Job of Kubernetes (from 0), or
 *   `SLURM_ARRAY_TASK_ID` with `SLURM_ARRAY_TASK_MIN`, `SLURM_ARRAY_TASK_STEP` and
 *   `SLURM_ARRAY_TASK_COUNT` of a Slurm array
 * @throws InvalidArgumentError
 */
export function parseShard(value: string, variables: ArrayVariables): Shard {
  const parts = /^(?:auto|(\d{1,6}))(?:\/(\d{1,6}))?$/.exec(value);
  if (parts === null) {
    throw new InvalidArgumentError('Write the part and the number of parts, such as 2/4.');
  }
  const [, asked, all] = parts;
  if (asked !== undefined && all === undefined) {
    throw new InvalidArgumentError(`Write the number of parts too, such as ${asked}/4.`);
  }
  const count = all === undefined ? slurmCount(variables) : Number(all);
  const number = asked === undefined ? indexIn(variables) + 1 : Number(asked);
  if (count < 1 || number < 1 || number > count) {
    throw new InvalidArgumentError(
      `${shardText({ number, count })} is not a part. Parts are numbered from 1 to the number of parts.`,
    );
  }
  return { number, count };
}

/** Place of this process in its array of jobs, from 0. */
function indexIn(variables: ArrayVariables): number {
  const job = numberIn(variables, 'JOB_COMPLETION_INDEX');
  if (job !== undefined) return job;
  const task = numberIn(variables, 'SLURM_ARRAY_TASK_ID');
  if (task !== undefined) {
    const first = numberIn(variables, 'SLURM_ARRAY_TASK_MIN') ?? 0;
    return (task - first) / (numberIn(variables, 'SLURM_ARRAY_TASK_STEP') ?? 1);
  }
  throw new InvalidArgumentError(
    'Neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set here. Write the number, such as 2/4.',
  );
}

function slurmCount(variables: ArrayVariables): number {
  const count = numberIn(variables, 'SLURM_ARRAY_TASK_COUNT');
  if (count !== undefined) return count;
  throw new InvalidArgumentError(
    'SLURM_ARRAY_TASK_COUNT is not set here. Write the number of parts, such as auto/4.',
  );
}

/** @throws InvalidArgumentError where the variable holds no number */
function numberIn(variables: ArrayVariables, name: string): number | undefined {
  const value = variables[name];
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new InvalidArgumentError(`${name} is ${JSON.stringify(value)}, which is not a number.`);
}
