import { basename, resolve } from 'node:path';
import { HumanError } from '../../domain/work';
import { wordForShell } from '../../engine/programs';
import { EXIT } from '../context';
import { whole } from '../options/optionValues';
import type { ProgramContext, RegisterCommand } from '../registerCommand';
import { mergeText, readShardedCommand, type ShardedCommand } from './shardedCommand';
import { slurmScript } from './slurmScript';

interface ShardsOptions {
  readonly slurm?: number;
  readonly kubernetes?: number;
  readonly atOnce?: number;
  readonly name?: string;
  readonly program?: string;
  readonly image?: string;
  readonly claim?: string;
  readonly mount: string;
  readonly secret?: string;
  readonly serviceAccount?: string;
}

/** Registers the command `shards`. */
export const registerShards: RegisterCommand<ProgramContext> = (command, context, finish) => {
  command
    .argument('<command...>', '`evaluate`, `generate` or `repair`, with its own options')
    .passThroughOptions()
    .option('--slurm <n>', 'an array of n jobs, for sbatch', whole)
    .option('--kubernetes <n>', 'an indexed Job of n pods, for kubectl create', whole)
    .option('--at-once <n>', 'jobs at the same time (default: all)', whole)
    .option('--name <name>', 'name of the jobs (default: from --out of the command)')
    .option(
      '--program <text>',
      'how a node calls this program, as text for a shell (default: slurm: this one; kubernetes: swt-bench)',
    )
    .option('--image <image>', 'kubernetes: image with this program')
    .option('--claim <name>', 'kubernetes: claim of a volume for datasets and results')
    .option('--mount <path>', 'kubernetes: where the pods have that volume', '/work')
    .option('--secret <name>', 'kubernetes: secret with the keys of models, as variables')
    .option(
      '--service-account <name>',
      'kubernetes: account that may make pods, for --engine kubernetes',
    )
    .addHelpText(
      'after',
      '\nEach shard writes into a folder of its own beside --out of the command.' +
        '\nExit status: 0 the jobs are printed, 2 wrong usage.',
    )
    .action(async (words: string[], options: ShardsOptions) =>
      finish(await shardsCommand(words, options, context)),
    );
};

/**
 * `swt-bench shards`: prints a script for `sbatch` or a manifest for `kubectl create`, and tells
 * what merges the shards.
 *
 * @returns the exit status
 * @throws HumanError when the options or the command cannot be used
 */
async function shardsCommand(
  words: readonly string[],
  options: ShardsOptions,
  context: ProgramContext,
): Promise<number> {
  const { slurm, kubernetes } = options;
  const count = slurm ?? kubernetes;
  if (count === undefined || (slurm !== undefined && kubernetes !== undefined)) {
    throw new HumanError(
      'shards prints the jobs of one system',
      'Write --slurm N or --kubernetes N, with the number of shards',
    );
  }
  const command = await readShardedCommand(words, context);
  const program = options.program ?? (slurm === undefined ? 'swt-bench' : thisProgram());
  const shared = {
    ...{ count, program, atOnce: options.atOnce },
    jobName: options.name ?? usualName(command),
  };
  checkName(shared.jobName);
  if (slurm === undefined) {
    const pods = podOptions(options);
    // Imported here, since no other command writes YAML.
    const { kubernetesJob } = await import('./kubernetesJob');
    context.data(kubernetesJob(command, { ...shared, ...pods }));
  } else {
    context.data(slurmScript(command, { ...shared, folder: process.cwd() }));
  }
  const { budget } = command;
  if (budget !== undefined) {
    context.stderr(
      `swt-bench: --budget holds for each shard: all ${count} may spend up to $${(budget * count).toFixed(2)}\n`,
    );
  }
  context.stderr(`swt-bench: afterwards: ${mergeText(command, program)}\n`);
  return EXIT.done;
}

/** How this process was started, for nodes that see the same files. */
const thisProgram = (): string =>
  [process.execPath, resolve(__dirname, 'cli.js')].map(wordForShell).join(' ');

/** @throws HumanError when an option is missing that only Kubernetes needs */
function podOptions({ image, claim, mount, secret, serviceAccount }: ShardsOptions) {
  if (image === undefined || claim === undefined) {
    throw new HumanError(
      'Pods need an image with this program, and a volume for datasets and results',
      'Name them with --image and --claim',
    );
  }
  if (!mount.startsWith('/') || mount === '/') {
    throw new HumanError(`--mount ${mount} is no folder for a volume`, 'Name it as /work is named');
  }
  return { image, claim, mount, secret, serviceAccount };
}

/** A name that both systems accept: `swt-bench-` and what `--out` is called. */
function usualName({ out }: ShardedCommand): string {
  const plain = basename(out)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return `swt-bench-${plain}`.slice(0, 52).replace(/-+$/, '');
}

/**
 * A label of DNS (RFC 1123) with room for what an indexed Job appends to the names of its pods.
 *
 * @throws HumanError
 */
function checkName(name: string): void {
  if (/^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/.test(name)) return;
  throw new HumanError(
    `${name} cannot be a name of jobs`,
    'Write at most 52 small letters, digits and hyphens with --name',
  );
}
