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
    .option('--slurm <n>', 'print an array of n jobs for sbatch', whole)
    .option('--kubernetes <n>', 'print an indexed Job of n pods for kubectl create', whole)
    .option('--at-once <n>', 'maximum number of jobs at the same time (default: all)', whole)
    .option('--name <name>', "job name (default: from the command's --out)")
    .option(
      '--program <text>',
      'shell text that starts this program on a node (default: slurm: this one; kubernetes: swt-bench)',
    )
    .option('--image <image>', 'kubernetes: image with this program')
    .option('--claim <name>', 'kubernetes: volume claim for datasets and results')
    .option('--mount <path>', 'kubernetes: mount path of that volume', '/work')
    .option('--secret <name>', 'kubernetes: secret with API keys as variables')
    .option(
      '--service-account <name>',
      'kubernetes: service account that may create pods, for --engine kubernetes',
    )
    .addHelpText(
      'after',
      "\nEach shard writes to its own folder next to the command's --out." +
        '\nExit status: 0 the jobs were printed, 2 invalid usage.',
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
      'shards prints jobs for one system',
      'Use either --slurm N or --kubernetes N, where N is the number of shards',
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
      `swt-bench: --budget applies to each shard: all ${count} together may spend up to $${(budget * count).toFixed(2)}\n`,
    );
  }
  context.stderr(`swt-bench: when all jobs have finished, run: ${mergeText(command, program)}\n`);
  return EXIT.done;
}

/** How this process was started, for nodes that see the same files. */
const thisProgram = (): string =>
  [process.execPath, resolve(__dirname, 'cli.js')].map(wordForShell).join(' ');

/** @throws HumanError when an option is missing that only Kubernetes needs */
function podOptions({ image, claim, mount, secret, serviceAccount }: ShardsOptions) {
  if (image === undefined || claim === undefined) {
    throw new HumanError(
      'Pods need an image with this program and a volume for datasets and results',
      'Specify them with --image and --claim',
    );
  }
  if (!mount.startsWith('/') || mount === '/') {
    throw new HumanError(
      `--mount ${mount} is not a valid mount path`,
      'Use an absolute path, such as /data',
    );
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
    `${name} is not a valid job name`,
    'Use at most 52 lowercase letters, digits and hyphens with --name',
  );
}
