import { join } from 'node:path';
import { messageOf, throwIfAborted } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import { runsFolder } from '../../repository/storage';
import { tokenCounter } from '../tokens';
import { keyOf, type MethodTrace, type StepOf } from '../trace';
import { batchesOf } from './batches';
import type { Budget } from './budget';
import type { EmbeddingModel } from './embeddingModel';
import { keptVectors, type KeptVectors } from './keptVectors';

/** How a run uses an embedding model. */
export interface EmbeddingUse {
  /** `PROVIDER/NAME`. */
  readonly name: string;
  /** Address of the provider; undefined for its usual one. */
  readonly baseUrl: string | undefined;
  /** Dollars for a million tokens; undefined where nobody says. */
  readonly price: number | undefined;
}

interface EmbeddingParts extends Omit<EmbeddingUse, 'name'> {
  readonly model: EmbeddingModel;
  readonly instance: { readonly id: string };
  readonly storage: string;
  readonly trace: MethodTrace;
  readonly budget: Budget;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  readonly onEmbedding?: ((step: StepOf<'embedding'>) => void) | undefined;
}

/** Most texts of one request, within what all providers take. */
const mostTexts = 64;
/** Most tokens of one request. OpenAI takes 300,000. */
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
 * The vectors of documents. Those that are not kept are asked for in requests of up to 64 texts,
 * one after the other, and kept before the next request.
 *
 * A run that is killed after an answer and before its line in the trace keeps the vectors, and
 * books nothing for this one request.
 *
 * @throws BudgetSpent, ModelFailure, ModelUnusable, Cancelled
 */
export async function embedDocuments(
  documents: readonly (readonly string[])[],
  parts: EmbeddingParts,
): Promise<Float32Array[][]> {
  const { model, baseUrl, instance, storage, trace, onEmbedding } = parts;
  const kept = keptVectors(join(runsFolder(storage, instance.id), 'embeddings'));
  const groups = groupsOf(documents, [model.name, baseUrl], await tokenCounter());
  const wanted = new Set(groups.map(({ key }) => key));
  for (const step of trace.steps) {
    const isUsed =
      step.step === 'embedding' &&
      step.instance === instance.id &&
      step.documents.some((key) => wanted.has(key));
    if (isUsed) onEmbedding?.(step);
  }
  const vectors = new Map<string, readonly Float32Array[]>();
  const missing = new Map<string, Group>();
  for (const group of groups) {
    const known = await kept.get(group.key);
    if (known?.length === group.texts.length) vectors.set(group.key, known);
    else missing.set(group.key, group);
  }
  const requests = batchesOf([...missing.values()], { mostTexts, mostTokens });
  for (const [index, batch] of requests.entries()) {
    parts.reporter.progress(
      `${instance.id}: asking ${model.name} for vectors (${index + 1} of ${requests.length})`,
    );
    for (const [key, found] of await embedBatch(batch, kept, parts)) vectors.set(key, found);
  }
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
    instance,
    storage,
  }: Pick<EmbeddingUse, 'name' | 'baseUrl'> & Pick<EmbeddingParts, 'instance' | 'storage'>,
): Promise<number> {
  const kept = keptVectors(join(runsFolder(storage, instance.id), 'embeddings'));
  let tokens = 0;
  for (const group of groupsOf(documents, [name, baseUrl], await tokenCounter())) {
    const known = await kept.get(group.key);
    if (known?.length !== group.texts.length) tokens += group.tokens;
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

/** Sends one request, keeps its vectors, and books its cost. @returns vectors by key */
async function embedBatch(
  batch: readonly Group[],
  kept: KeptVectors,
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
    const started = Date.now();
    const { vectors, ...counts } = await model.embed(texts, {
      ...{ signal, reporter, mostTokens: most },
    });
    cost = { tokens: counts.inputTokens, dollars: dollarsOf(counts.inputTokens) };
    const found = new Map<string, readonly Float32Array[]>();
    let at = 0;
    for (const group of batch) {
      const own = vectors.slice(at, at + group.texts.length);
      at += group.texts.length;
      found.set(group.key, own);
      await kept.put(group.key, own).catch((error: unknown) => {
        reporter.log(`vectors of ${model.name} cannot be kept (${messageOf(error)})`);
      });
    }
    const documents = batch.map(({ key }) => key);
    const step: StepOf<'embedding'> = {
      ...{ step: 'embedding', key: keyOf('embedding', model.name, documents) },
      ...{ at: new Date().toISOString(), instance: instance.id, model: model.name },
      ...{ documents, texts: texts.length, ...counts },
      ...(price !== undefined && { dollars: cost.dollars }),
      seconds: (Date.now() - started) / 1000,
    };
    await trace.add(step);
    onEmbedding?.(step);
    return found;
  } finally {
    settle(cost);
  }
}
