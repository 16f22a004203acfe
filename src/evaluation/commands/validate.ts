import { join } from 'node:path';
import { HumanError } from '../../domain/problem';
import type { Validation } from '../../domain/validation';
import { environmentReport } from '../report';
import { withEngine } from '../../engine/openEngine';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { select } from '../selection';
import { describeFlaky, few, oneLine } from '../soundness';
import { validateBatch, type ValidationEntry } from '../validate';
import {
  chosenIds,
  EXIT,
  openDataset,
  sourcesFor,
  terminalReporter,
  type CommandContext,
  type SelectingOptions,
} from './context';
import { engineRequest, type EngineOptions } from './engineOptions';

export interface ValidateCommandOptions extends SelectingOptions, EngineOptions {
  dataset: string;
  /** Every instance, when nothing else selects any. */
  all?: boolean;
  repeat: number;
  source: string[];
  workers: number;
  timeout: number;
  storage: string;
  json?: boolean;
}

/** `swt-bench validate`: whether instances are sound, kept as each is known. */
export async function validateCommand(
  named: readonly string[],
  options: ValidateCommandOptions,
  context: CommandContext,
): Promise<number> {
  const asked = engineRequest(options, context);
  const ids = [...named, ...(options.ids ?? [])];
  const { repo, filter, exclude, query, triage, storage } = options;
  const narrowed = [repo, filter, exclude, query].some((each) => each !== undefined);
  if (ids.length === 0 && !narrowed && options.all !== true) {
    throw new HumanError(
      'No instance is named, and all of a dataset take hours',
      'Name ids, select with --ids, --repo, --filter, --exclude or --query, or say --all',
    );
  }
  const dataset = await openDataset(options, context);
  const chosen = await chosenIds(
    dataset,
    { ...options, ...(ids.length === 0 ? {} : { ids }) },
    context,
  );
  const selected = await select(dataset, { ...chosen, repo, query, triage }, storage);
  if (selected.length === 0) {
    throw new HumanError(
      `No instance of ${options.dataset} is selected`,
      'Run `swt-bench instances` to see what there is',
    );
  }
  const instances = await dataset.read(selected.map(({ entry }) => entry.id));
  const sources = parseSources(sourcesFor(options, context));
  const python = await createPythonParser((file) => join(context.assets, file));
  const reporter = terminalReporter(context);
  const { entries, engine } = await withEngine(asked, async (engine) => {
    reporter.log(
      `${instances.length} instance${instances.length === 1 ? '' : 's'}, ${options.repeat} repetition${options.repeat === 1 ? '' : 's'}, ` +
        engine.description,
    );
    const entries = await validateBatch(
      {
        instances,
        engine,
        python,
        sources,
        storage,
        repetitions: options.repeat,
        timeoutSeconds: options.timeout,
        workers: options.workers,
        signal: context.signal,
        reporter,
      },
      (entry) => {
        reporter.clear();
        // A batch takes hours: its results are told as they come.
        if (options.json !== true) context.stdout(`${describeEntry(entry).join('\n')}\n`);
      },
    );
    return { entries, engine };
  });
  if (options.json === true) {
    const document = {
      engine: engine.name,
      environment: environmentReport(engine.environment),
      results: entries.map(toRow),
    };
    context.stdout(`${JSON.stringify(document, null, 2)}\n`);
  } else if (entries.length > 1) {
    context.stdout(`${entries.filter(isSound).length} of ${entries.length} sound\n`);
  }
  const unread = options.all === true && dataset.problems.length > 0;
  return entries.every(isSound) && !unread ? EXIT.done : EXIT.negative;
}

const isSound = (entry: ValidationEntry): boolean =>
  'validation' in entry && entry.validation.reasons.length === 0;

/** One line, and below it the reasons and what else is to be known. */
function describeEntry(entry: ValidationEntry): string[] {
  if (!('validation' in entry)) return [`${entry.id}  ✗ not validated: ${oneLine(entry.failure)}`];
  const { id, reasons, repetitions, seconds, golden, flaky, disagreement, source, remarks } =
    entry.validation;
  const counts = Object.entries(golden).map(([transition, count]) => `${count} ${transition}`);
  const parts = [
    reasons.length === 0
      ? '✓ sound'
      : `✗ not sound: ${reasons.map((reason) => reason.kind).join(', ')}`,
    ...(counts.length === 0 ? [] : [`golden tests ${counts.join(', ')}`]),
    `${repetitions} repetition${repetitions === 1 ? '' : 's'} in ${seconds.toFixed(1)} s`,
  ];
  const notes = [
    ...reasons.flatMap((reason) =>
      reason.kind === 'flaky' && flaky.length > 0
        ? flaky.map((test) => `flaky: ${describeFlaky(test)}`)
        : [`${reason.kind}: ${reason.explanation}`],
    ),
    ...(disagreement === undefined ? [] : describeDisagreement(disagreement)),
    ...(source === undefined ? [] : [`note: R was made from the ${source}, not the base commit`]),
    ...(remarks ?? []).map((remark) => `note: ${remark}`),
  ];
  return [`${id}  ${parts.join('  ·  ')}`, ...notes.map((note) => `    ${printable(note)}`)];
}

function describeDisagreement({
  listedOnly,
  seenOnly,
}: NonNullable<Validation['disagreement']>): string[] {
  const line = (what: string, tests: readonly string[]): string[] =>
    tests.length === 0 ? [] : [`note: ${tests.length} ${what}: ${few(tests)}`];
  return [
    ...line('in FAIL_TO_PASS of the row, but not seen to go F→P', listedOnly),
    ...line('seen to go F→P, but not in FAIL_TO_PASS of the row', seenOnly),
  ];
}

/** Names of tests come from tested code and must not drive the terminal. */
const printable = (text: string): string =>
  // eslint-disable-next-line no-control-regex -- these are what is to be removed
  text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');

/** An entry of `results` in the JSON document. */
function toRow(entry: ValidationEntry): Record<string, unknown> {
  if (!('validation' in entry))
    return { id: entry.id, sound: null, error: entry.failure, reasons: [] };
  const { validation, environment } = entry;
  return {
    id: validation.id,
    sound: validation.reasons.length === 0,
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
