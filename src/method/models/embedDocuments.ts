import { z } from 'zod';
import { messageOf, throwIfAborted, type Reporter } from '../../domain/work';
import { workerPool } from '../../engine/workerPool';
import { vectorsFolder } from '../../repository/storage';
import { tokenCounter } from '../prompt/tokens';
import { keyOf, type MethodTrace, type StepOf } from '../trace';
import { stepSchema } from '../traces/traceSteps';
import { batchesOf } from './batches';
import type { Budget } from './budget';
import type { EmbeddingModel } from './embeddingModel';
import type { EmbeddingUse } from './embeddingUse';
import { cachedVectors, type CachedVectors } from './cachedVectors';

interface EmbeddingParts extends Omit<EmbeddingUse, 'name'> {
  readonly model: EmbeddingModel;
  readonly instance: { readonly id: string };
  readonly storage: string;
  readonly trace: MethodTrace;
  readonly budget: Budget;
  /** Limits how many requests of the whole run there are at once. */
  readonly inTurn: <T>(request: () => Promise<T>) => Promise<T>;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  readonly onEmbedding?: ((step: StepOf<'embedding'>) => void) | undefined;
}

/** Maximum number of texts of one request, within what all providers take. */
const mostTexts = 64;
/** Maximum number of tokens of one request. OpenAI takes 300,000. */
const mostTokens = 100_000;

/** Texts whose vectors are kept together. */
interface Group {
  readonly document: number;
  /** Digest of the texts and the model. */
  readonly key: string;
  readonly texts: readonly string[];
  readonly tokens: number;
}

/**
 * The vectors of documents. Those that are not kept are asked for in requests of up to 64 texts.
 * Whatever a request brings is kept, also where another one fails. All instances share what is kept.
 *
 * A run that was killed before the line of a request was in its trace books it here: the kept
 * vectors know what was paid for them.
 *
 * @throws BudgetSpent, ModelFailure, ModelUnusable, Cancelled
 */
export async function embedDocuments(
  documents: readonly (readonly string[])[],
  parts: EmbeddingParts,
): Promise<Float32Array[][]> {
  const { model, baseUrl, instance, storage, trace, onEmbedding } = parts;
  const kept = cachedVectors(vectorsFolder(storage));
  const groups = groupsOf(documents, [model.name, baseUrl], await tokenCounter());
  const wanted = new Set(groups.map(({ key }) => key));
  const vectors = new Map<string, readonly Float32Array[]>();
  const missing = new Map<string, Group>();
  for (const group of groups) {
    const known = await kept.get(group.key);
    if (known?.vectors.length === group.texts.length) {
      vectors.set(group.key, known.vectors);
      await bookLate(known.note, parts);
    } else missing.set(group.key, group);
  }
  for (const step of trace.steps) {
    const isUsed =
      step.step === 'embedding' &&
      step.instance === instance.id &&
      step.documents.some((key) => wanted.has(key));
    if (isUsed) onEmbedding?.(step);
  }
  const requests = batchesOf([...missing.values()], { mostTexts, mostTokens });
  let sent = 0;
  const { signal = new AbortController().signal } = parts;
  await workerPool(requests, requests.length, signal, (batch, stop) =>
    parts.inTurn(async () => {
      throwIfAborted(stop);
      sent += 1;
      parts.reporter.progress(
        `${instance.id}: requesting embeddings from ${model.name} (${sent} of ${requests.length})`,
      );
      // What is under way is paid for, so another failure does not stop it.
      for (const [key, found] of await embedBatch(batch, kept, parts)) vectors.set(key, found);
    }),
  );
  const found = documents.map((): Float32Array[] => []);
  for (const { document, key } of groups) found[document]?.push(...(vectors.get(key) ?? []));
  return found;
}

/** Tokens of the documents whose vectors are not kept. */
export async function tokensToEmbed(
  documents: readonly (readonly string[])[],
  {
    name,
    baseUrl,
    storage,
  }: Pick<EmbeddingUse, 'name' | 'baseUrl'> & Pick<EmbeddingParts, 'storage'>,
): Promise<number> {
  const kept = cachedVectors(vectorsFolder(storage));
  let tokens = 0;
  for (const group of groupsOf(documents, [name, baseUrl], await tokenCounter())) {
    const known = await kept.get(group.key);
    if (known?.vectors.length !== group.texts.length) tokens += group.tokens;
  }
  return tokens;
}

/** Parts of documents, each small enough for one request. */
function groupsOf(
  documents: readonly (readonly string[])[],
  of: readonly unknown[],
  count: (text: string) => number,
): Group[] {
  return documents.flatMap((texts, document) => {
    const sized = texts.map((text) => ({ texts: [text], tokens: count(text) }));
    return batchesOf(sized, { mostTexts, mostTokens }).map((group) => {
      const own = group.flatMap((each) => each.texts);
      const tokens = group.reduce((sum, each) => sum + each.tokens, 0);
      return { document, key: keyOf('vectors', of, own), texts: own, tokens };
    });
  });
}

/** What is kept beside vectors: the request that they were paid by, and the run that sent it. */
const paymentSchema = z.object({ run: z.string(), step: stepSchema });

/** Distinguishes this run from others with vectors in the same folder. */
function runOf({ steps: [first] }: MethodTrace): string {
  return keyOf('run', first?.key, first?.at);
}

/** Books the request of kept vectors, if this run has paid for it and its trace does not say so. */
async function bookLate(
  note: string,
  { trace, budget, instance }: Pick<EmbeddingParts, 'trace' | 'budget' | 'instance'>,
): Promise<void> {
  const { data: paid } = paymentSchema.safeParse(note === '' ? undefined : JSON.parse(note));
  // Another instance of this run may be about to book its request itself.
  if (paid?.step.step !== 'embedding' || paid.step.instance !== instance.id) return;
  if (paid.run !== runOf(trace)) return;
  const { key, at, inputTokens: tokens, dollars = 0 } = paid.step;
  const isBooked =
    trace.find('embedding', key)?.at === at ||
    trace.steps.some((step) => step.step === 'embedding' && step.key === key && step.at === at);
  if (isBooked) return;
  await trace.add(paid.step);
  const settle = await budget.reserve({ tokens: 0, dollars: 0 });
  settle({ tokens, dollars });
}

/** Sends one request, keeps its vectors, and books its cost. @returns vectors by key */
async function embedBatch(
  batch: readonly Group[],
  kept: CachedVectors,
  { model, price, budget, trace, instance, signal, reporter, onEmbedding }: EmbeddingParts,
): Promise<Map<string, readonly Float32Array[]>> {
  throwIfAborted(signal);
  const texts = batch.flatMap((group) => group.texts);
  const dollarsOf = (tokens: number): number => ((price ?? 0) * tokens) / 1e6;
  // A margin of a tenth for other tokenizers.
  const most = Math.ceil(1.1 * batch.reduce((sum, { tokens }) => sum + tokens, 0));
  const settle = await budget.reserve({ tokens: most, dollars: dollarsOf(most) });
  let cost = { tokens: 0, dollars: 0 };
  try {
    const started = performance.now();
    const { vectors, ...counts } = await model.embed(texts, {
      ...{ signal, reporter, mostTokens: most },
    });
    cost = { tokens: counts.inputTokens, dollars: dollarsOf(counts.inputTokens) };
    const documents = batch.map(({ key }) => key);
    const step: StepOf<'embedding'> = {
      ...{ step: 'embedding', key: keyOf('embedding', model.name, documents) },
      ...{ at: new Date().toISOString(), instance: instance.id, model: model.name },
      ...{ documents, texts: texts.length, ...counts },
      ...(price !== undefined && { dollars: cost.dollars }),
      seconds: (performance.now() - started) / 1000,
    };
    const found = new Map<string, readonly Float32Array[]>();
    const note = JSON.stringify({ run: runOf(trace), step });
    let at = 0;
    for (const group of batch) {
      const own = vectors.slice(at, at + group.texts.length);
      at += group.texts.length;
      found.set(group.key, own);
      await kept.put(group.key, { vectors: own, note }).catch((error: unknown) => {
        reporter.log(`embeddings of ${model.name} cannot be stored (${messageOf(error)})`);
      });
    }
    await trace.add(step);
    onEmbedding?.(step);
    return found;
  } finally {
    settle(cost);
  }
}
