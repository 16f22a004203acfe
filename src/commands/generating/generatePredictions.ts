import type { ProgramContext } from '../registerCommand';
import { basename, resolve } from 'node:path';
import { jsonText, plural } from '../../domain/text';
import type { Instance } from '../../domain/instance';
import type { Dataset } from '../../dataset/dataset';
import { HumanError } from '../../domain/work';
import { openEngine, type EngineRequest } from '../../engine/sandbox';
import type { Engine } from '../../engine/engine';
import { containerEngine, runsInContainers } from '../../engine/engines';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { openDatasetOption } from '../options/openDatasetOption';
import { evaluateCommand } from '../evaluate';
import type { EvaluateOptions } from '../evaluating/evaluationInput';
import { dryRun } from './dryRun';
import {
  liveParts,
  openModels,
  requestOf,
  type GenerateOptions,
  type GenerationParts,
} from './generationParts';
import { givenFixes } from './givenFixes';
import { GenerationProgress } from './generationProgress';
import { instancesOfShard } from '../../batch/partOfShard';
import { writeShardRecord, type LiveParts, refiningMethod } from '../../method/generating';
import { GradingAlongside } from './gradingAlongside';
import { generationWidth } from '../options/generationWidth';
import { engineRequest } from '../options/engineOptions';
import { acpMethodWith } from '../options/acpOptions';
import { methodWithGiven } from '../options/givenOptions';
import { methodWithFixes } from '../options/surrogateOptions';
import { selectedInstances } from '../options/selectingOptions';
import { exportTrace } from '../trajectory/atifFolder';
import { sha256, sha256OfJson } from '../../files/digest';
import { removeAbandonedBeside, withLock } from '../../repository/lock';
import { keepingNodeSeconds, nodesOfPredictions } from '../../results/nodeSeconds';
import { generate, type GenerationEntry } from '../../method/generation';
import { shownTitle, usesAnswer, type Method } from '../../method/method';
import { methodOf, methods } from '../../method/methods';
import {
  budgetOf,
  spentOn,
  told,
  type Budget,
  parseModelName,
  addressVariables,
  reasoningEfforts,
  type Provider,
} from '../../method/models';
import {
  predictionsFile,
  predictionsLock,
  type PredictionRow,
  type PredictionsFile,
} from '../../method/predictionsFile';
import { mayRunTestsOfModels, refusedLocally } from '../../method/testsOfModels';
import { openTrace, paidSteps, type MethodTrace } from '../../method/trace';

/**
 * `swt-bench generate` and `repair`: writes a method's predictions with a model.
 *
 * @param among the methods of the command
 * @returns the exit status
 * @throws HumanError when options contradict each other, or input cannot be read; Cancelled
 */
export async function generatePredictions(
  given: GenerateOptions,
  context: ProgramContext,
  among: readonly Method[] = methods,
): Promise<number> {
  const named = methodWithFixes(methodWithGiven(checkedMethod(given, among), given), given);
  const { refine = 0 } = given;
  const method = refine === 0 ? named : refiningMethod(named, refine);
  let options = withAddress(given);
  const asked = engineRequest(options, context);
  checkRuns(method, options, among);
  const out = resolve(options.out);
  const { instances: all, dataset } = await selected(options, context);
  const instances = options.shard === undefined ? all : instancesOfShard(all, options.shard);
  const { fixesFrom } = options;
  if (fixesFrom !== undefined) {
    const told = (line: string): void => context.stderr(`swt-bench: ${line}\n`);
    options = { ...options, givenStages: await givenFixes(fixesFrom, instances, dataset, told) };
  }
  if (options.dryRun === true) return dryRun({ options, context, method, instances, out });
  const reporter = terminalReporter(context);
  const whose = {
    signal: context.signal,
    reporter,
    what: `writes ${basename(out)}`,
  };
  const status = await withLock(await predictionsLock(options.storage, out), whose, async () => {
    await keepShard(out, options, all, instances);
    const engine = lazyEngine(asked);
    const isAsked =
      method.runs !== 'nothing' && options.replay !== true && runsInContainers(options.engine);
    const trace = await openTrace(`${out}.trace.jsonl`, {
      readOnly: options.replay === true,
      told: (line) => reporter.log(line),
    });
    try {
      const of = isAsked ? await engine.open() : {};
      const width = generationWidth(options, method, of);
      const parts = { options, context, method, instances, out, trace, engine, width };
      return await keepingNodeSeconds(engine, nodesOfPredictions(out), {
        ...{ reporter, work: () => run(parts) },
      });
    } finally {
      await trace.close();
      await engine.dispose();
    }
  });
  if (options.atif !== undefined) {
    const ids = new Set(instances.map(({ id }) => id));
    await exportTrace(`${out}.trace.jsonl`, ids, options.atif, context);
  }
  if (options.evaluate === undefined) return status;
  return Math.max(status, await evaluateCommand(evaluationOf(options, instances, out), context));
}

/** @throws HumanError when the options do not let the method run what it has to run */
function checkRuns(method: Method, options: GenerateOptions, among: readonly Method[]): void {
  if (method.runs === 'workspace' && !runsInContainers(options.engine)) {
    throw new HumanError(
      `${method.title} runs shell commands, which the ${options.engine} engine cannot isolate: they would run on this machine with access to your files`,
      `Add --engine ${containerEngine}`,
    );
  }
  if (options.evaluate !== undefined && options.json === true) {
    throw new HumanError(
      '--json prints one document, but --evaluate would add another',
      'Omit --json and read the results with `swt-bench report DIR --format json`',
    );
  }
  if (options.evaluate !== undefined && options.shard !== undefined) {
    throw new HumanError(
      '--evaluate would grade one shard as if it were a whole run',
      'Omit --evaluate, merge the shards, and run `swt-bench evaluate --shard` on the merged predictions',
    );
  }
  const asksModel = options.replay !== true && options.dryRun !== true;
  if (method.runs !== 'nothing' && asksModel && !mayRunTestsOfModels(options)) {
    const others = oneOf(among, ({ runs }) => runs === 'nothing');
    throw refusedLocally(
      method.title,
      method.refined?.of.runs === 'nothing'
        ? 'omit --refine'
        : `choose ${others}, which run no tests`,
      method.given === undefined ? 'tests' : 'code',
    );
  }
}

/**
 * Writes the record of a shard beside its predictions, where the command is one.
 *
 * @throws HumanError when the predictions are those of another shard
 */
async function keepShard(
  out: string,
  options: GenerateOptions,
  all: readonly Instance[],
  own: readonly Instance[],
): Promise<void> {
  const { shard, replay } = options;
  if (shard === undefined || replay === true) return;
  const idsOf = (list: readonly Instance[]): string[] => list.map(({ id }) => id);
  const same = sameInShards(options, all);
  await writeShardRecord(out, { ...shard, same, instances: idsOf(all), own: idsOf(own) });
}

/** What must be equal in all shards of a run, by the words that name it. */
const sameInShards = (
  options: GenerateOptions,
  instances: readonly Instance[],
): Record<string, string> => ({
  ...Object.fromEntries(
    (['method', 'model', 'name', 'samples', 'tries', 'refine', 'temperature', 'limits'] as const)
      .map((name) => [`--${name}`, options[name]] as const)
      .flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ),
  'the instances or their rows': sha256OfJson(instances),
});

/** The evaluation of the predictions that `--evaluate` asks for. */
function evaluationOf(
  { repo: _repo, filter: _filter, exclude: _exclude, query: _query, ...options }: GenerateOptions,
  instances: readonly Instance[],
  predictions: string,
): EvaluateOptions {
  const { workers: _, evaluate, ...others } = options;
  return {
    ...others,
    ids: instances.map(({ id }) => id),
    predictions: [predictions],
    ...(evaluate !== undefined && { out: evaluate }),
    ...{ kind: 'tests', format: 'auto', mode: others.mode ?? 'unit-test', testsOnly: false },
  };
}

/** The names of matching methods, as text: `zero-shot or zero-shot-plus`. */
const oneOf = (among: readonly Method[], fits: (method: Method) => boolean): string =>
  among
    .filter(fits)
    .map(({ name }) => name)
    .join(' or ');

/**
 * The method that the options name.
 *
 * @throws HumanError when there is no such method, or other options do not fit it
 */
function checkedMethod(options: GenerateOptions, among: readonly Method[]): Method {
  const { method: name, model, samples, price, mode } = options;
  const external = among === methods ? acpMethodWith(options) : undefined;
  const method = external ?? methodOf(name, among);
  if (method === undefined) {
    throw new HumanError(
      `There is no method named ${JSON.stringify(name)}`,
      `Use one of ${among.map((each) => each.name).join(', ')}`,
    );
  }
  const { provider } = parseModelName(model);
  checkEffort(provider, options.reasoningEffort);
  if (mode === 'reproduction-script' && method.writesScripts !== true) {
    throw new HumanError(
      `${method.title} writes tests, not a reproduction script`,
      `Omit --mode, or choose ${oneOf(among, (each) => each.writesScripts === true)}`,
    );
  }
  if (samples !== undefined && method.samples === 1 && samples > 1) {
    throw new HumanError(
      `${method.title} generates one answer, not ${samples}`,
      `Omit --samples, or choose ${oneOf(among, (each) => each.samples > 1)}`,
    );
  }
  if (options.tries !== undefined && method.tries === undefined) {
    throw new HumanError(
      `${method.title} does not revise its attempts`,
      `Omit --tries, or choose ${oneOf(among, (each) => each.tries !== undefined)}`,
    );
  }
  const hasBudget = (options.budget ?? options.instanceBudget) !== undefined;
  if (hasBudget && options.embeddingModel !== undefined && options.embeddingPrice === undefined) {
    throw new HumanError(
      '--budget and --instance-budget need a price for embeddings',
      'Add --embedding-price in dollars per million tokens, such as --embedding-price 0.02',
    );
  }
  if (price === undefined && hasBudget) {
    throw new HumanError(
      '--budget and --instance-budget need a price for tokens',
      'Add --price INPUT,OUTPUT in dollars per million tokens, such as --price 2.5,10',
    );
  }
  return method;
}

/**
 * The options with the address that the environment has for the provider, if they have none.
 *
 * @throws HumanError when the environment has something else there
 */
function withAddress(options: GenerateOptions): GenerateOptions {
  const variable = addressVariables[parseModelName(options.model).provider];
  if (options.baseUrl !== undefined || variable === undefined) return options;
  const baseUrl = process.env[variable]?.trim() ?? '';
  if (baseUrl === '') return options;
  if (!/^https?:\/\/[^\s/]/.test(baseUrl)) {
    throw new HumanError(
      `The environment variable ${variable} is not a valid URL`,
      'Set it to a URL such as https://host/v1, or unset it',
    );
  }
  return { ...options, baseUrl };
}

/** @throws HumanError when the provider does not have this word */
function checkEffort(provider: Provider, effort: string | undefined): void {
  const words = reasoningEfforts[provider];
  if (effort === undefined || words === undefined || words.includes(effort)) return;
  throw new HumanError(
    `${provider} does not support --reasoning-effort ${JSON.stringify(effort)}`,
    `Use one of ${words.join(', ')}`,
  );
}

async function selected(
  options: GenerateOptions,
  context: CommandContext,
): Promise<{ readonly dataset: Dataset; readonly instances: readonly Instance[] }> {
  const dataset = await openDatasetOption(options, context);
  const found = await selectedInstances(dataset, options, context);
  if (found.length === 0) {
    throw new HumanError(
      `The selection has no instances of ${options.dataset}`,
      'Run `swt-bench instances` to list all instances, or widen --repo, --filter or --query',
    );
  }
  const ids = found.map(({ entry }) => entry.id);
  return { dataset, instances: await dataset.read(inOrder(ids, options).slice(0, options.limit)) };
}

/** The order of `--shuffle`, which does not depend on what else is selected. */
function inOrder(ids: readonly string[], { shuffle }: GenerateOptions): readonly string[] {
  if (shuffle === undefined) return ids;
  const seed = shuffle === true ? '0' : shuffle;
  const places = new Map(ids.map((id) => [id, sha256(`${seed} ${id}`)]));
  return [...ids].sort((left, right) =>
    (places.get(left) ?? '') < (places.get(right) ?? '') ? -1 : 1,
  );
}

interface Run extends GenerationParts {
  readonly out: string;
  readonly trace: MethodTrace;
  readonly engine: Pick<LazyEngine, 'open'>;
}

async function run(parts: Run): Promise<number> {
  const { options, context, instances, out, trace } = parts;
  await removeAbandonedBeside(out);
  const file = await predictionsFile(out);
  const live =
    options.replay === true
      ? undefined
      : await liveParts(parts, await openModels(options), parts.engine.open);
  const budget = budgetOf({ tokens: options.budgetTokens, dollars: options.budget });
  // The budget covers the whole run, however often it was interrupted.
  budget.add(spentOn(paidSteps(trace.steps), options.price));
  const progress = new GenerationProgress(context, {
    ...{ total: instances.length, budget, isPriced: options.price !== undefined },
  });
  const entries = await writePredictions(parts, { file, live, budget, progress }).finally(() =>
    progress.dispose(),
  );
  report(parts, entries, budget);
  return entries.some((entry) => 'failure' in entry) ? EXIT.negative : EXIT.done;
}

interface Writing {
  readonly file: PredictionsFile;
  readonly live: LiveParts | undefined;
  readonly budget: Budget;
  readonly progress: GenerationProgress;
}

/** Writes each prediction as soon as there is one, and grades it where `--evaluate` asks for it. */
async function writePredictions(
  parts: Run,
  { file, live, budget, progress }: Writing,
): Promise<GenerationEntry[]> {
  const { options, method, instances, trace } = parts;
  const { reporter, hooks } = progress;
  const grading =
    options.evaluate === undefined
      ? undefined
      : await GradingAlongside.open({ ...parts, engine: parts.engine.open, reporter });
  const ranked = lazily(() => predictionsFile(rankedPath(parts.out)));
  const request = { ...requestOf(parts), ...{ live, trace, budget, reporter, hooks } };
  return generate(request, async (entry) => {
    progress.add(entry);
    if ('failure' in entry) {
      reporter.log(`${entry.instance}: no prediction: ${entry.failure}`);
      return;
    }
    const { until } = entry.choice;
    if (until !== undefined) {
      reporter.log(`${entry.instance}: stopped after stage ${until}`);
      return;
    }
    const { sample } = entry.choice.chosen ?? {};
    const picked = sample === undefined ? '' : `answer ${sample}, `;
    reporter.log(`${entry.instance}: ${picked}${entry.choice.why}`);
    const row = rowOf(entry, method, options);
    // The ranked patches first: whoever finds the prediction finds them too.
    const rows = rankedRows(entry, row);
    if (rows.length > 0) await (await ranked.open()).putSamples(rows);
    await file.put(row);
    const instance = instances.find(({ id }) => id === entry.instance);
    if (instance === undefined) return;
    const model = row.model_name_or_path;
    grading?.add(instance, { instanceId: entry.instance, model, patch: entry.prediction });
    // oxlint-disable-next-line typescript/no-misused-promises -- `finally` waits for this promise
  }).finally(() => grading?.finish());
}

/** The ranked code patches of a method that writes those, beside its predictions. */
const rankedPath = (out: string): string => `${out}.ranked.jsonl`;

/** The rows of the ranked code patches of an instance, best first; none of other methods. */
const rankedRows = ({ choice }: Done, row: PredictionRow): PredictionRow[] =>
  choice.candidates
    .flatMap(({ ranking, ...candidate }) => (ranking === undefined ? [] : [{ ranking, candidate }]))
    .sort((one, other) => one.ranking.rank - other.ranking.rank)
    .map(({ ranking, candidate: { patch, sample, draw } }) => ({
      instance_id: row.instance_id,
      model_name_or_path: row.model_name_or_path,
      model_patch: patch.patch,
      // In the order of the ranks, whatever else the file has.
      sample: ranking.rank,
      drawn_sample: sample,
      ...(draw !== undefined && { draw }),
      ...ranking,
    }));

interface LazyEngine extends Pick<Engine, 'nodeSeconds'> {
  readonly open: () => Promise<Engine>;
  readonly dispose: () => Promise<void>;
}

/** Something that opens on first use. */
function lazily<Opened>(open: () => Promise<Opened>): { readonly open: () => Promise<Opened> } {
  let opened: Promise<Opened> | undefined;
  return { open: () => (opened ??= open()) };
}

/** An engine that opens on first use. */
function lazyEngine(request: EngineRequest): LazyEngine {
  let opened: Promise<Engine> | undefined;
  let engine: Engine | undefined;
  return {
    open: () => (opened ??= openEngine(request).then((made) => (engine = made))),
    nodeSeconds: () => engine?.nodeSeconds?.() ?? {},
    dispose: async () => (await opened?.catch(() => undefined))?.dispose(),
  };
}

type Done = Extract<GenerationEntry, { readonly choice: unknown }>;

/**
 * A row in the format of the reference harness, with its cost. It has no `sample`: a method submits
 * one candidate, whichever of its answers that is.
 */
function rowOf(
  { instance, choice, prediction, cost }: Done,
  method: Method,
  options: GenerateOptions,
): PredictionRow {
  return {
    instance_id: instance,
    model_name_or_path: options.name ?? `${method.name}/${options.model}`,
    model_patch: prediction,
    method: method.name,
    model: options.model,
    ...(choice.chosen !== undefined && { chosen_sample: choice.chosen.sample }),
    applies: choice.chosen?.patch.applies ?? false,
    why: choice.why,
    requests: cost.requests,
    input_tokens: cost.inputTokens,
    output_tokens: cost.outputTokens,
    ...(cost.embeddedTokens > 0 && { embedded_tokens: cost.embeddedTokens }),
    ...(cost.reasoningTokens > 0 && { reasoning_tokens: cost.reasoningTokens }),
    ...(cost.cachedInputTokens > 0 && { cached_input_tokens: cost.cachedInputTokens }),
    ...(cost.emptyAnswers > 0 && { empty_answers: cost.emptyAnswers }),
    ...(cost.isEstimate && { tokens_are_estimated: true }),
    ...(cost.dollars !== undefined && { dollars: round(cost.dollars) }),
    ...(method.given !== undefined && { given: method.given.parts, from: method.given.from }),
    ...(method.refined !== undefined && { refine: method.refined.times }),
    ...(usesAnswer(method) && { oracle: true }),
  };
}

const round = (dollars: number): number => Math.round(dollars * 1e6) / 1e6;

function report(
  { options, context, method, out }: Run,
  entries: readonly GenerationEntry[],
  budget: Budget,
): void {
  const ended = entries.filter((entry) => 'choice' in entry);
  const done = ended.filter(({ choice }) => choice.until === undefined);
  const [{ choice: { until } } = { choice: { until: undefined } }] = ended;
  const failed = entries.filter((entry) => 'failure' in entry);
  const { tokens, dollars } = budget.spent;
  if (options.json === true) {
    const document = {
      method: method.name,
      model: options.model,
      out,
      trace: `${out}.trace.jsonl`,
      spent: { tokens, ...(options.price !== undefined && { dollars: round(dollars) }) },
      ...(until !== undefined && { until, ended: ended.map(({ instance }) => instance) }),
      results: done.map((entry) => rowOf(entry, method, options)),
      failed: failed.map(({ instance, failure }) => ({ instance_id: instance, error: failure })),
    };
    context.data(jsonText(document));
    return;
  }
  const empty = ended.reduce((sum, { cost }) => sum + cost.emptyAnswers, 0);
  const applying = done.filter(({ choice }) => choice.chosen?.patch.applies === true).length;
  const what =
    until === undefined
      ? `${done.length} of ${entries.length} instances have a prediction; ${applying} of these apply to R`
      : `${ended.length} of ${entries.length} instances stopped after stage ${until}`;
  const written = until === undefined ? out : `${out}.trace.jsonl`;
  context.stdout(
    `${shownTitle(method)}, ${options.model}: ${what}\n` +
      (empty > 0 ? `retried: ${plural(empty, 'empty answer')}\n` : '') +
      `spent: ${told(budget.spent)}\nwritten: ${written}\n`,
  );
  if (failed.length > 0) {
    context.stderr(
      `swt-bench: ${failed.length} of ${entries.length} instances have no prediction. ` +
        'Repeat the command to continue\n',
    );
  }
}
