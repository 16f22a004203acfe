import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Dataset } from '../dataset/dataset';
import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/work';
import { soundnessOf, type Soundness, type Validation } from '../domain/soundness';
import { keepingNodeSeconds } from '../results/nodeSeconds';
import { environmentReport } from '../results/report';
import { withEngine } from '../engine/sandbox';
import { createPythonParser } from '../python/parser';
import { parseSources } from '../repository/source';
import { describeFlaky, few, oneLine } from '../validation/soundness';
import { validateBatch, type ValidationEntry } from '../validation/validate';
import { EXIT, terminalReporter, type CommandContext } from './context';
import { openDatasetOption, sourcesFor } from './options/openDatasetOption';
import { engineRequest, withEngineOptions, type EngineOptions } from './options/engineOptions';
import { whole } from './options/optionValues';
import {
  selectedInstances,
  withSelectingOptions,
  type SelectingOptions,
} from './options/selectingOptions';
import {
  datasetOption,
  jsonOption,
  sourceOption,
  needsStorage,
  storageOption,
  timeoutOption,
  workersOption,
} from './options/sharedOptions';
import type { ProgramContext, RegisterCommand } from './registerCommand';
import { plural, jsonText, withoutControl } from '../domain/text';

interface ValidateCommandOptions extends SelectingOptions, EngineOptions {
  dataset: string;
  /** Every instance, if no other option selects any. */
  all?: boolean;
  repeat: number;
  source: string[];
  workers: number;
  timeout: number;
  storage: string;
  json?: boolean;
}

/** Registers the command `validate`. */
export const registerValidate: RegisterCommand<ProgramContext> = (command, context, finish) => {
  withEngineOptions(withSelectingOptions(command), context)
    .argument('[ids...]')
    .addOption(datasetOption())
    .option('--all', 'validate the whole dataset if no other option selects instances')
    .option('--repeat <n>', 'number of times to repeat each run', whole, 5)
    .addOption(sourceOption())
    .addOption(
      workersOption('instances at once, each on both sides in parallel').default(
        Math.max(1, Math.floor(cpus().length / 2)),
      ),
    )
    .addOption(timeoutOption('test timeout per side, in seconds'))
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit status: 0 all instances are sound, 1 some are not or could not be validated, 2 invalid usage or input, 130 interrupted (finished results are saved).',
    )
    .action(async (ids: string[], options: ValidateCommandOptions) =>
      finish(await validateCommand(ids, options, context)),
    );
};

/**
 * `swt-bench validate`: whether instances are sound. Each result is stored as soon as it is known.
 */
async function validateCommand(
  named: readonly string[],
  options: ValidateCommandOptions,
  context: ProgramContext,
): Promise<number> {
  const asked = engineRequest(options, context);
  const { storage, repeat } = options;
  const { instances, problems } = await readInstances(named, options, context);
  const sources = parseSources(sourcesFor(options, context));
  const python = await createPythonParser((file) => join(context.assets, file));
  const reporter = terminalReporter(context);
  const { entries, engine } = await withEngine(asked, async (engine) => {
    reporter.log(
      `${plural(instances.length, 'instance')}, ${plural(repeat, 'repetition')}, ${engine.description}`,
    );
    const work = () =>
      validateBatch(
        {
          ...{ instances, engine, python, sources, storage, reporter },
          repetitions: repeat,
          timeoutSeconds: options.timeout,
          workers: options.workers,
          signal: context.signal,
        },
        (entry) => {
          reporter.clear();
          // A batch takes hours, so each result is printed as it comes.
          if (options.json !== true) context.stdout(`${describeEntry(entry).join('\n')}\n`);
        },
      );
    const entries = await keepingNodeSeconds(engine, undefined, { reporter, work });
    return { entries, engine };
  });
  if (options.json === true) {
    const document = {
      engine: engine.name,
      environment: environmentReport(engine.environment),
      results: entries.map(toRow),
    };
    context.data(jsonText(document));
  } else if (entries.length > 1) {
    const left = entries.filter((each) => soundnessIn(each) === 'not validated').length;
    const rest = left === 0 ? '' : `, ${left} not validated`;
    context.stdout(`${entries.filter(isSound).length} of ${entries.length} sound${rest}\n`);
  }
  const unread = options.all === true && problems.length > 0;
  return entries.every(isSound) && !unread ? EXIT.done : EXIT.negative;
}

/** @throws HumanError when no option selects instances, none is selected, or one cannot be read */
async function readInstances(
  named: readonly string[],
  options: ValidateCommandOptions,
  context: CommandContext,
): Promise<{ readonly instances: Instance[]; readonly problems: Dataset['problems'] }> {
  const ids = [...named, ...(options.ids ?? [])];
  const { repo, filter, exclude, query } = options;
  const narrowed = [repo, filter, exclude, query].some((each) => each !== undefined);
  if (ids.length === 0 && !narrowed && options.all !== true) {
    throw new HumanError(
      'No instances are selected, and validating a whole dataset takes hours',
      'Specify IDs, select with --ids, --repo, --filter, --exclude or --query, or use --all',
    );
  }
  const dataset = await openDatasetOption(options, context);
  const selected = await selectedInstances(
    dataset,
    { ...options, ...(ids.length === 0 ? {} : { ids }) },
    context,
  );
  if (selected.length === 0) {
    throw new HumanError(
      `The selection has no instances of ${options.dataset}`,
      'Run `swt-bench instances` to list all instances',
    );
  }
  const instances = await dataset.read(selected.map(({ entry }) => entry.id));
  return { instances, problems: dataset.problems };
}

const soundnessIn = (entry: ValidationEntry): Soundness =>
  'validation' in entry ? soundnessOf(entry.validation) : 'not validated';

const isSound = (entry: ValidationEntry): boolean => soundnessIn(entry) === 'sound';

/** One line, followed by the reasons and further remarks. */
function describeEntry(entry: ValidationEntry): string[] {
  if (!('validation' in entry)) return [`${entry.id}  ✗ not validated: ${oneLine(entry.failure)}`];
  if (soundnessOf(entry.validation) === 'not validated')
    return describeUnvalidated(entry.validation);
  const { id, reasons, repetitions, seconds, golden, flaky, disagreement, source, remarks } =
    entry.validation;
  const counts = Object.entries(golden).map(([transition, count]) => `${count} ${transition}`);
  const parts = [
    reasons.length === 0
      ? '✓ sound'
      : `✗ not sound: ${reasons.map((reason) => reason.kind).join(', ')}`,
    ...(counts.length === 0 ? [] : [`golden tests ${counts.join(', ')}`]),
    `${plural(repetitions, 'repetition')} in ${seconds.toFixed(1)} s`,
  ];
  const notes = [
    ...reasons.flatMap((reason) =>
      reason.kind === 'flaky' && flaky.length > 0
        ? flaky.map((test) => `flaky: ${describeFlaky(test)}`)
        : [`${reason.kind}: ${reason.explanation}`],
    ),
    ...(disagreement === undefined ? [] : describeDisagreement(disagreement)),
    ...(source === undefined
      ? []
      : [`note: R was created from the ${source}, not the base commit`]),
    ...(remarks ?? []).map((remark) => `note: ${remark}`),
  ];
  return [`${id}  ${parts.join('  ·  ')}`, ...notes.map((note) => `    ${withoutControl(note)}`)];
}

/** What ran says nothing of the instance, so that no count is shown. */
const describeUnvalidated = ({ id, reasons }: Validation): string[] => [
  `${id}  ? not validated: ${reasons.map(({ kind }) => kind).join(', ')}`,
  ...reasons.map(({ explanation }) => `    ${withoutControl(explanation)}`),
];

function describeDisagreement({
  listedOnly,
  seenOnly,
}: NonNullable<Validation['disagreement']>): string[] {
  const line = (what: string, tests: readonly string[]): string[] =>
    tests.length === 0 ? [] : [`note: ${tests.length} ${what}: ${few(tests)}`];
  return [
    ...line("listed in the row's FAIL_TO_PASS but did not go F→P", listedOnly),
    ...line("went F→P but not listed in the row's FAIL_TO_PASS", seenOnly),
  ];
}

/** An entry of `results` in the JSON document. */
function toRow(entry: ValidationEntry): Record<string, unknown> {
  if (!('validation' in entry))
    return { id: entry.id, sound: null, error: entry.failure, reasons: [] };
  const { validation, environment } = entry;
  return {
    id: validation.id,
    sound: soundnessIn(entry) === 'not validated' ? null : isSound(entry),
    reasons: validation.reasons,
    repetitions: validation.repetitions,
    date: validation.date,
    seconds: validation.seconds,
    source: validation.source ?? null,
    environment: environmentReport(environment),
    flaky: validation.flaky,
    golden: validation.golden,
    base: validation.base,
    added: validation.added,
    removed: validation.removed,
    base_coverage: validation.baseCoverage ?? null,
    FAIL_TO_PASS: validation.failToPass ?? [],
    disagreement:
      validation.disagreement === undefined
        ? null
        : {
            listed_only: validation.disagreement.listedOnly,
            seen_only: validation.disagreement.seenOnly,
          },
    remarks: validation.remarks ?? [],
  };
}
