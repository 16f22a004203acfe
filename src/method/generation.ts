import { Cancelled, HumanError, messageOf, throwIfAborted } from '../domain/work';
import { GitError } from '../repository/git';
import {
  budgetFor,
  openSteps,
  optionsOf,
  queuesOf,
  type GenerationRequest,
  type InstanceOfRun,
  type Queues,
} from './estimate/instanceSteps';
import { predictionOf, usesAnswer, type MethodResult } from './method';
import { BudgetSpent, spentOn, type Price } from './models/budget';
import { ModelFailure, ModelUnusable } from './models/chatModel';
import { hasContent, whyWithoutText } from './steps/emptyAnswers';
import { keyOf, paidSteps, type AnswerStep, type StepOf } from './trace';

/** The cost of one instance's answers, whether they were paid in this run or before. */
export interface Cost {
  readonly requests: number;
  readonly inputTokens: number;
  /** Those of the input that an embedding model turned into vectors. */
  readonly embeddedTokens: number;
  readonly outputTokens: number;
  /** Those of the output that are reasoning, as far as providers say. */
  readonly reasoningTokens: number;
  /** Those of the input that came from a cache, as far as providers say. */
  readonly cachedInputTokens: number;
  /** Answers without a text, which were asked again. */
  readonly emptyAnswers: number;
  /** Undefined where no price is known. */
  readonly dollars: number | undefined;
  /** Whether a server did not count, and the numbers come from our tokenizer. */
  readonly isEstimate: boolean;
}

/** The result for one instance: a choice, or why there is none. */
export type GenerationEntry =
  | {
      readonly instance: string;
      readonly choice: MethodResult;
      /** The candidate, for a predictions file. */
      readonly prediction: string;
      readonly cost: Cost;
    }
  | { readonly instance: string; readonly failure: string };

/**
 * After this number of instances in a row without an answer of the model, and after no fewer than
 * work at once, no more are tried.
 */
const fewestFailures = 3;

/**
 * Runs a method on instances, several at once. Steps in the trace are not repeated. Entries come in
 * the order of the instances. A failure of one does not affect the others.
 *
 * @param onEntry called as each is done
 * @throws Cancelled, ModelUnusable
 */
export async function generate(
  request: GenerationRequest,
  onEntry: (entry: GenerationEntry) => Promise<void>,
): Promise<GenerationEntry[]> {
  const { instances, signal, reporter } = request;
  const entries = new Array<GenerationEntry | undefined>(instances.length);
  const queues = queuesOf(request.live, request.hooks);
  const workers = Math.max(1, Math.min(request.workers, instances.length));
  // As many are under way at once, and fail together.
  const mostFailures = Math.max(fewestFailures, workers);
  let next = 0;
  let failures = 0;
  let stopped: string | undefined;
  let fatal: ModelUnusable | undefined;

  const work = async (): Promise<void> => {
    for (let index = next++; index < instances.length; index = next++) {
      const instance = instances[index];
      if (instance === undefined || fatal !== undefined) continue;
      throwIfAborted(signal);
      let entry: GenerationEntry;
      try {
        if (stopped !== undefined) entry = { instance: instance.id, failure: stopped };
        else {
          entry = await generateOne(instance, request, queues);
          failures = 0;
        }
      } catch (error) {
        if (error instanceof Cancelled || signal?.aborted === true) throw new Cancelled();
        if (error instanceof ModelUnusable) {
          fatal = error;
          throw error;
        }
        if (error instanceof BudgetSpent && error.of === 'run')
          stopped ??= `not requested: ${error.message}`;
        if (error instanceof ModelFailure) {
          failures += 1;
          if (failures >= mostFailures) {
            stopped ??= `not requested: there was no answer for ${failures} instances in a row`;
          }
        }
        const isKnown = [HumanError, GitError, BudgetSpent, ModelFailure].some(
          (kind) => error instanceof kind,
        );
        const said = isKnown ? messageOf(error) : `internal error: ${messageOf(error)}`;
        if (!isKnown && error instanceof Error) reporter.log(error.stack ?? error.message);
        entry = { instance: instance.id, failure: said };
      }
      entries[index] = entry;
      await onEntry(entry);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: workers }, work));
  if (fatal !== undefined) throw fatal;
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return entries.filter((entry) => entry !== undefined);
}

async function generateOne(
  instance: InstanceOfRun,
  request: GenerationRequest,
  queues: Queues,
): Promise<GenerationEntry> {
  const { live, method, trace } = request;
  const { id } = instance;
  const used = new Set<string>();
  const budget = budgetFor(id, request);
  request.hooks?.onBegin(id, () => budget.spent);
  const { steps, dispose } = openSteps(instance, request, queues, {
    budget,
    onAnswer: ({ key }) => used.add(key),
    onEmbedding: ({ key }) => used.add(key),
  });
  try {
    const choice = await method.produce(steps, {
      ...optionsOf(request),
      ...(request.onCandidate !== undefined && {
        onCandidate: (candidate) => request.onCandidate?.(id, candidate),
      }),
    });
    if (
      choice.candidates.length > 0 &&
      !choice.candidates.some(({ answer }) => answer === undefined || hasContent(answer))
    ) {
      const [{ answer } = { answer: undefined }] = choice.candidates;
      const why = answer === undefined ? '' : whyWithoutText(answer);
      throw new ModelFailure(`${request.model} returned only empty answers: ${why}`);
    }
    const prediction = predictionOf(choice);
    if (live !== undefined && choice.until === undefined) {
      await noteChoice(request, id, choice, prediction);
    }
    // Also those that were asked again, which have the key of the answer that came in the end.
    const paid = trace.steps.filter((step) => step.instance === id && used.has(step.key));
    const answers = paid.filter((step) => step.step === 'answer');
    const embeddings = paid.filter((step) => step.step === 'embedding');
    const cost = costOf(answers, embeddings, request.price);
    return { instance: id, choice, prediction, cost };
  } finally {
    await dispose();
  }
}

async function noteChoice(
  { method, model, trace }: GenerationRequest,
  instance: string,
  { chosen, why }: MethodResult,
  patch: string,
): Promise<void> {
  const sample = chosen?.sample;
  const key = keyOf('choice', method.name, model, instance, sample, why, patch);
  if (trace.find('choice', key) !== undefined) return;
  await trace.add({
    step: 'choice',
    key,
    at: new Date().toISOString(),
    instance,
    method: method.name,
    model,
    ...(sample !== undefined && { sample }),
    why,
    patch,
    ...(usesAnswer(method) && { oracle: true as const }),
  });
}

function costOf(
  answers: readonly AnswerStep[],
  embeddings: readonly StepOf<'embedding'>[],
  price: Price | undefined,
): Cost {
  const sum = (of: (answer: AnswerStep) => number): number =>
    answers.reduce((total, answer) => total + of(answer), 0);
  const arePriced = answers.length > 0 && answers.every(({ dollars }) => dollars !== undefined);
  const paid = paidSteps([...answers, ...embeddings]);
  const embedded = embeddings.reduce((total, { inputTokens }) => total + inputTokens, 0);
  return {
    requests: answers.length,
    inputTokens: sum(({ inputTokens }) => inputTokens) + embedded,
    embeddedTokens: embedded,
    outputTokens: sum(({ outputTokens }) => outputTokens),
    reasoningTokens: sum(({ reasoningTokens = 0 }) => reasoningTokens),
    cachedInputTokens: sum(({ cachedInputTokens = 0 }) => cachedInputTokens),
    emptyAnswers: answers.filter((answer) => !hasContent(answer)).length,
    dollars: price !== undefined || arePriced ? spentOn(paid, price).dollars : undefined,
    isEstimate: [...answers, ...embeddings].some(({ isEstimate }) => isEstimate === true),
  };
}
