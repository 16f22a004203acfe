import type { EmbeddingModel as AiEmbeddingModel } from 'ai';
import { throwIfAborted } from '../../domain/work';
import { redactKeys } from '../../engine/keysInUse';
import { tokenCounter } from '../prompt/tokens';
import { modelTroubleOf, Refused, type AnsweringOptions } from './answering';
import { ModelFailure, type ModelWork } from './chatModel';
import { fetchWithoutLimits } from './fetchWithoutLimits';
import { statedRates } from './rateHeaders';
import { ModelTrouble, retrying } from './retrying';

/** The vectors of some texts. */
interface Embedded {
  /** In the order of the texts, all of one length. */
  readonly vectors: readonly Float32Array[];
  readonly inputTokens: number;
  /** Whether the server did not count, so that the tokens come from our tokenizer. */
  readonly isEstimate?: boolean;
}

/** A model that turns texts into vectors, of which similar texts have similar ones. */
export interface EmbeddingModel {
  /** `PROVIDER/NAME`. */
  readonly name: string;
  /**
   * Sends one request.
   *
   * @param texts not empty, and few enough for one request
   * @throws ModelFailure when this request gets no answer, ModelUnusable when none will get one,
   *   Cancelled
   */
  embed(texts: readonly string[], work: Omit<ModelWork, 'onText'>): Promise<Embedded>;
}

/** An embedding model of the `ai` package that sends its requests with this function. */
export type EmbeddingBy = (fetch: typeof globalThis.fetch) => Exclude<AiEmbeddingModel, string>;

type EmbeddingOptions = Omit<AnsweringOptions, 'stream' | 'price'>;

/** Wraps a model of the `ai` package: one request, retried and limited as those of a `ChatModel`. */
export function embedding(
  name: string,
  modelBy: EmbeddingBy,
  options: EmbeddingOptions,
): EmbeddingModel {
  return {
    name,
    async embed(given, work) {
      const count = await tokenCounter();
      const texts = await withinWindow(given, options);
      const tokens = texts.reduce((sum, text) => sum + count(text), 0);
      const limited = (): Promise<Embedded> =>
        options.limiter.run(
          {
            tokens: work.mostTokens ?? tokens,
            send: (stated) =>
              attempt(
                modelBy(async (address, init) => {
                  const answer = await fetchWithoutLimits(address, init);
                  stated(statedRates((header) => answer.headers.get(header), Date.now()));
                  return answer;
                }),
                texts,
                { work, options, tokens },
              ),
            used: ({ inputTokens }) => inputTokens,
          },
          work,
        );
      try {
        return await retrying(limited, options.retries, work);
      } catch (error) {
        throwIfAborted(work.signal);
        if (error instanceof ModelTrouble) throw new ModelFailure(`${name}: ${error.message}`);
        if (!(error instanceof Refused)) throw error;
        const before = options.learned.room(0);
        const longest = Math.max(...texts.map((text) => count(text)));
        options.learned.refused(error.matter, { tokens: longest, output: 0 });
        const after = options.learned.room(0);
        const isShorter = after !== undefined && after < Math.min(before ?? Infinity, longest);
        if (error.matter.of !== 'context' || !isShorter) {
          throw new ModelFailure(`${name}: ${error.message}`);
        }
        work.reporter.log(
          `${name}: ${error.message}; longer texts are truncated to ${after} tokens`,
        );
        return this.embed(given, work);
      }
    },
  };
}

/** The texts, those that are longer than the model's window without their end. */
async function withinWindow(
  texts: readonly string[],
  { learned }: Pick<EmbeddingOptions, 'learned'>,
): Promise<readonly string[]> {
  const room = learned.room(0);
  if (room === undefined) return texts;
  const count = await tokenCounter();
  return texts.map((text) => {
    let cut = text;
    for (let tokens = count(cut); tokens > room; tokens = count(cut)) {
      cut = cut.slice(0, Math.floor((0.98 * cut.length * room) / tokens));
    }
    return cut;
  });
}

/** @param parts.tokens of the texts by our tokenizer */
async function attempt(
  model: ReturnType<EmbeddingBy>,
  texts: readonly string[],
  parts: {
    readonly work: Omit<ModelWork, 'onText'>;
    readonly options: EmbeddingOptions;
    readonly tokens: number;
  },
): Promise<Embedded> {
  const { signal } = parts.work;
  const { timeoutSeconds, withoutSecrets } = parts.options;
  const late = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const { embedMany } = await import('ai');
    const { embeddings, usage } = await embedMany({
      model,
      values: texts.map(redactKeys),
      maxRetries: 0,
      abortSignal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const isCounted = Number.isFinite(usage.tokens) && usage.tokens > 0;
    return {
      vectors: checkedVectors(embeddings, texts.length),
      inputTokens: isCounted ? usage.tokens : parts.tokens,
      ...(!isCounted && { isEstimate: true }),
    };
  } catch (error) {
    throwIfAborted(signal);
    if (late.aborted) throw new ModelTrouble(`no embeddings within ${timeoutSeconds} s`);
    throw error instanceof ModelFailure ? error : await modelTroubleOf(error, withoutSecrets);
  }
}

/** @throws ModelFailure when these are not as many vectors of numbers, of one length */
function checkedVectors(found: readonly (readonly number[])[], wanted: number): Float32Array[] {
  const length = found[0]?.length ?? 0;
  const isGood = (vector: readonly number[]): boolean =>
    vector.length === length && vector.every(Number.isFinite);
  if (found.length !== wanted || length === 0 || !found.every(isGood)) {
    throw new ModelFailure(
      `the embedding server returned ${found.length} vectors for ${wanted} texts, or vectors of different lengths`,
    );
  }
  return found.map((vector) => Float32Array.from(vector));
}
