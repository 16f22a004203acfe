import { layOut, plural, jsonText, withoutControl } from '../domain/text';
import { HumanError } from '../domain/work';
import { repairName } from '../study/resolution';
import { withEngine } from '../engine/sandbox';
import { workersFor } from '../batch/workersFor';
import { runStore } from '../evaluation/testRun';
import { judgeRepairs } from '../repair/judgeRepairs';
import { judgedDocument, type JudgedDocument } from '../repair/judgedRepairsSchema';
import { defaultJudgedRun } from '../repair/judgedRun';
import type { JudgedBatch } from '../repair/judgeRequest';
import type { RepairHooks } from '../repair/repairPool';
import { judgedFolder } from '../results/judged';
import { keepingNodeSeconds, nodesOfRun } from '../results/nodeSeconds';
import { factsOf } from '../results/runFolder';
import { batchProgressHooks } from './evaluating/batchProgress';
import { EXIT, terminalReporter } from './context';
import type { ProgramContext } from './registerCommand';
import { engineRequest } from './options/engineOptions';
import type { EvaluateOptions, EvaluationInput } from './evaluating/evaluationInput';
import { partToEvaluate } from './evaluating/partToEvaluate';
import { withFilesOfRepair } from './evaluating/rankedPredictions';

/**
 * `swt-bench evaluate --kind repair`: judges code patches as SWE-bench does, and by the recorded
 * outcomes.
 *
 * @param readInput reads the files that the options name
 * @returns the exit status
 * @throws HumanError when input or options cannot be used; Cancelled
 */
export async function evaluateRepairs(
  options: EvaluateOptions,
  context: ProgramContext,
  readInput: () => Promise<EvaluationInput>,
): Promise<number> {
  checkOptions(options);
  const asked = engineRequest(options, context);
  const { problems, sources, python, ...input } = await readInput();
  const reporter = terminalReporter(context);
  const found = await withFilesOfRepair(input.predictions, input.origins, {
    ...{ instances: input.instances, signal: context.signal, reporter },
  });
  const part = partToEvaluate(input.instances, found, options.shard, reporter);
  const { instances, predictions: repairs, shard } = part;
  const { document, written } = await withEngine(asked, async (engine) => {
    const workers = options.workers ?? workersFor(engine);
    const means = `${plural(workers, 'worker')}, ${engine.description}`;
    const hooks = batchProgressHooks(context, reporter, means);
    const { out, storage, timeout: timeoutSeconds, format, dataset } = options;
    const fresh = options.fresh === true;
    const request = {
      ...{ instances, repairs, engine, python, sources, storage, workers, timeoutSeconds },
      ...{ format, fresh, shard, signal: context.signal, reporter: hooks.reporter },
      formats: context.formats,
      store: runStore(storage, { fresh }),
    };
    const run = options.runId ?? (await defaultJudgedRun(out, request));
    const results = { out, runId: run, dataset, predictions: input.predictionFiles };
    const documentOf = (batch: Pick<JudgedBatch, 'judged' | 'reused'>): JudgedDocument =>
      judgedDocument(batch, {
        ...{ run, problems, engine: engine.description, instances: instances.map(factsOf) },
      });
    const onPlan: RepairHooks['onPlan'] = ({ candidates, instances: count }) =>
      reporter.log(`${plural(candidates, 'prediction')} on ${plural(count, 'instance')}; ${means}`);
    const work = (): Promise<JudgedBatch> =>
      judgeRepairs(
        { ...request, ...(out === undefined ? {} : { results: { ...results, out } }) },
        (judged) => jsonText(documentOf(judged)),
        { onProgress: hooks.onProgress, onPlan },
      );
    const used = out === undefined ? undefined : nodesOfRun(judgedFolder(out, run));
    const batch = await keepingNodeSeconds(engine, used, { reporter, work });
    return { document: documentOf(batch), written: batch.written };
  });
  reporter.clear();
  if (options.json === true) context.data(jsonText(document));
  else context.stdout(textOf(document, written));
  const hindered = document.results.filter(({ hindrance }) => hindrance !== undefined);
  for (const { instance, failure } of hindered) {
    context.stderr(`swt-bench: ${instance}: ${failure ?? ''}\n`);
  }
  return hindered.length > 0 || problems.length > 0 ? EXIT.negative : EXIT.done;
}

/** @throws HumanError for options that only tests have */
function checkOptions({ mode, testsOnly, predictions }: EvaluateOptions): void {
  const wrong =
    mode === 'reproduction-script'
      ? '--mode reproduction-script'
      : testsOnly === true
        ? '--tests-only'
        : predictions.includes('bundled')
          ? '--predictions bundled'
          : undefined;
  if (wrong !== undefined) {
    throw new HumanError(`${wrong} applies to tests, not to code patches`, 'Use only one of them');
  }
}

function textOf({ results, rates }: JudgedDocument, written: readonly string[]): string {
  const rows = results.map((each) => {
    const { tests, strict, status, location } = each;
    const passing = (group: { success: number; failure: number } | undefined): string =>
      group === undefined ? '–' : `${group.success}/${group.success + group.failure}`;
    return [
      each.instance,
      repairName(each),
      `${status === 'resolved' ? '✓' : '✗'} ${status}`,
      passing(tests?.FAIL_TO_PASS),
      passing(tests?.PASS_TO_PASS),
      strict === undefined ? '–' : strict.reason,
      location === undefined ? '–' : placesOf(location),
    ];
  });
  const head = ['Instance', 'Patch', 'SWE-bench', 'F2P', 'P2P', 'Strictly', 'Edits places of X*'];
  const remarks = [
    ...results.flatMap((each) =>
      [
        each.failure,
        each.appliedWith === undefined ? undefined : `applied with \`${each.appliedWith}\``,
        each.difference,
      ].flatMap((remark) =>
        remark === undefined ? [] : [`${each.instance}, ${repairName(each)}: ${remark}`],
      ),
    ),
    ...new Set(results.flatMap(remarksOnInstance)),
    // They may quote lines of a patch.
  ].map(withoutControl);
  const totals = rates.map(
    ({ name, resolved, strictlyResolved, selected }) =>
      `${name}: resolved ${resolved.length} of ${selected} (strictly ${strictlyResolved.length})`,
  );
  return [
    layOut([head, ...rows]),
    ...(remarks.length === 0 ? [] : ['', ...remarks]),
    '',
    ...totals,
    ...written.map((path) => `written: ${path}`),
    '',
  ].join('\n');
}

/** What holds for the code patches of an instance. */
const remarksOnInstance = ({
  instance,
  lists,
  notes = [],
}: JudgedDocument['results'][number]): string[] =>
  [
    ...(lists === 'golden runs'
      ? ['the row lists no tests; FAIL_TO_PASS and PASS_TO_PASS come from the golden runs']
      : []),
    ...notes,
  ].map((remark) => `${instance}: ${remark}`);

/** The finest granularity at which the patch edits the places of X*. */
const placesOf = ({ line, function: inside, file }: Record<string, boolean>): string =>
  line === true ? 'lines' : inside === true ? 'functions' : file === true ? 'files' : 'no';
