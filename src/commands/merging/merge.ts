import { jsonText, plural } from '../../domain/text';
import { HumanError } from '../../domain/work';
import type { MergedPredictions } from '../../method/generating';
import type { MergedRun } from '../../results/mergeShards';
import { EXIT, type CommandContext } from '../context';
import { jsonOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';

interface MergeOptions {
  readonly out: string;
  readonly json?: boolean;
}

/** Registers the command `merge`. */
export const registerMerge: RegisterCommand = (command, context, finish) => {
  command
    .argument('<dir...>', 'folders of results or predictions written with --shard')
    .requiredOption('--out <dir>', 'folder for the merged run; you can add more shards later')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nTo run what is missing, repeat the original command with the same --out and without --shard.' +
        '\nExit status: 0 the run is complete, 1 shards or results are missing, 2 invalid usage or input, 130 interrupted.',
    )
    .action(async (dirs: string[], options: MergeOptions) =>
      finish(await mergeCommand(dirs, options, context)),
    );
};

/**
 * `swt-bench merge`: merges all shards in the folders, of evaluations, of judged code patches, and
 * of predictions.
 *
 * @returns the exit status
 * @throws HumanError when there is no shard, or shards are not of one run; Cancelled
 */
async function mergeCommand(
  dirs: readonly string[],
  { out, json }: MergeOptions,
  { stdout, data, stderr, signal }: CommandContext,
): Promise<number> {
  const { mergeShards, testRuns } = await import('../../results/mergeShards');
  const { judgedRuns } = await import('../../repair/judgedRun');
  const { mergePredictions } = await import('../../method/generating');
  const request = { dirs, out, signal };
  const runs = [
    ...(await mergeShards(testRuns, request)),
    ...(await mergeShards(judgedRuns, request)),
  ];
  const predictions = await mergePredictions(dirs, out, signal);
  if (runs.length + predictions.length === 0) {
    throw new HumanError(
      `No shards found in ${dirs.join(', ')}`,
      'Specify folders that `evaluate`, `generate` or `repair` wrote with --shard',
    );
  }
  for (const { problems } of [...runs, ...predictions]) {
    for (const problem of problems) stderr(`swt-bench: ${problem}\n`);
  }
  if (json === true) data(jsonText({ runs, predictions }));
  else stdout([...runs.map(textOfRun), ...predictions.map(textOfPredictions)].join(''));
  const isWhole =
    runs.every((each) => each.missing.length === 0 && each.finished === each.candidates) &&
    predictions.every((each) => each.missing.length === 0 && each.predicted === each.instances);
  return isWhole ? EXIT.done : EXIT.negative;
}

const textOfRun = (merged: MergedRun): string =>
  textOf(merged, {
    head: `${merged.run}: ${merged.finished} of ${plural(merged.candidates, 'candidate')}`,
    repeated: `${plural(merged.repeated, 'duplicate result')}`,
  });

const textOfPredictions = (merged: MergedPredictions): string =>
  textOf(merged, {
    head: `${merged.path}: ${merged.predicted} of ${plural(merged.instances, 'instance')} have a prediction`,
    repeated: `${plural(merged.repeated, 'duplicate prediction')}`,
  });

function textOf(
  { missing, count, repeated, written }: MergedRun | MergedPredictions,
  texts: { readonly head: string; readonly repeated: string },
): string {
  const shards =
    missing.length === 0
      ? `all ${count} shards`
      : `${count - missing.length} of ${count} shards; missing: ${missing.join(', ')}`;
  return [
    `${texts.head}, ${shards}`,
    ...(repeated === 0 ? [] : [texts.repeated]),
    ...written.map((path) => `written: ${path}`),
    '',
  ].join('\n');
}
