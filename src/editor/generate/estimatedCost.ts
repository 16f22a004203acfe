import * as l10n from '@vscode/l10n';
import { dollarsOf, type Price, type EmbeddingUse, tokenCounter } from '../../method/models';
import type { LimitProfile } from '../../method/agents';
import {
  estimateBlind,
  type BlindEstimateParts,
  type CountedRequest,
} from '../../method/generating';
import type { Method } from '../../method/method';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentlessSettings, codeFiles } from '../../method/agentless';

/** What an estimate is made of. */
export interface EstimateParts extends Omit<BlindEstimateParts, 'embedding'> {
  /** The limits of agents. */
  readonly limits: LimitProfile;
  /** The embedding model, and the tokens of R for it; absent where there is none. */
  readonly embedding?: EmbeddedParts | undefined;
}

/** What a method turns into vectors, at most. */
interface EmbeddedParts extends EmbeddingUse {
  readonly tokens: number;
}

interface EstimatedCost {
  readonly requests: number;
  /** Requests at which the method ends, where it usually ends before. */
  readonly mostRequests: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Dollars at which the method ends, where it has such a limit. */
  readonly mostDollars: number | undefined;
  /** Besides; absent where the method has no vectors. */
  readonly embedding?: EmbeddedParts;
}

/** A model whose price is known. */
export interface Priced {
  readonly name: string;
  readonly price: Price;
}

/** Tokens of the prompt and the tools of an agent, without the issue. */
const agentPrompt = 2000;
/** Tokens that an answer of an agent has, and those that come of its action. */
const agentAnswer = 300;
const agentObservation = 1200;
/** Calls that an agent rarely exceeds, whatever its limit. */
const typicalCalls = 30;

/**
 * What a method may cost on one instance, by a walk through it. An agent sends its history with each
 * call, so its cost grows with the square of its calls.
 */
export async function estimatedCost(
  method: Pick<Method, 'samples' | 'limits' | 'typicalRequests' | 'produce'>,
  { limits: profile, embedding, ...parts }: EstimateParts,
): Promise<EstimatedCost> {
  const { limits, typicalRequests = Infinity } = method;
  if (limits !== undefined) {
    const issueTokens = (await tokenCounter())(parts.instance.issue);
    const { calls, dollars } = limits[profile];
    const requests = Math.min(calls, typicalCalls);
    const turns = (requests * (requests - 1)) / 2;
    const history = turns * (agentAnswer + agentObservation);
    return {
      requests,
      mostRequests: calls > requests ? calls : undefined,
      inputTokens: requests * (agentPrompt + issueTokens) + history,
      outputTokens: requests * agentAnswer,
      mostDollars: dollars,
    };
  }
  const counted = await estimateBlind(method, { ...parts, embedding });
  const asked = counted.filter(({ isEmbedding }) => isEmbedding !== true);
  const typical = asked.slice(0, typicalRequests);
  const sum = (of: (each: CountedRequest) => number): number =>
    typical.reduce((total, each) => total + of(each), 0);
  return {
    requests: typical.length,
    mostRequests: asked.length > typical.length ? asked.length : undefined,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    mostDollars: undefined,
    ...(embedding !== undefined && asked.length < counted.length && { embedding }),
  };
}

/**
 * An estimate for the user who chooses: dollars with the name of the model where its price is known,
 * else tokens.
 */
export function costInWords(cost: EstimatedCost, priced: Priced | undefined): string {
  const { requests, mostRequests, inputTokens, outputTokens, mostDollars = Infinity } = cost;
  const asked =
    mostRequests !== undefined
      ? l10n.t('{0} of at most {1} requests', requests, mostRequests)
      : requests === 1
        ? l10n.t('1 request')
        : l10n.t('{0} requests', requests);
  const tokens = Math.max(1, Math.round((inputTokens + outputTokens) / 1000));
  const size = l10n.t('{0}, about {1}k tokens', asked, tokens);
  const vectors = cost.embedding === undefined ? [] : [embeddedInWords(cost.embedding)];
  if (priced === undefined) return [size, ...vectors].join(' · ');
  const dollars = Math.min(dollarsOf(priced.price, { inputTokens, outputTokens }), mostDollars);
  const told = l10n.t('{0}, ${1} with {2}', size, dollars.toFixed(2), priced.name);
  return [told, ...vectors].join(' · ');
}

function embeddedInWords({ name, tokens, price }: EmbeddedParts): string {
  const thousands = Math.max(1, Math.round(tokens / 1000));
  if (price === undefined)
    return l10n.t('embeddings of up to {0}k tokens with {1}', thousands, name);
  const dollars = ((price * tokens) / 1e6).toFixed(2);
  return l10n.t('embeddings of up to {0}k tokens, ${1} with {2}', thousands, dollars, name);
}

/** Bytes of Python code that make a token, about. */
const bytesOfToken = 4;

/**
 * About how many tokens embedding retrieval turns into vectors at most: all code of R, in chunks that
 * overlap. Files are not read, since the user waits for the estimate.
 *
 * @param folder of R
 * @param paths of its files
 */
export async function embeddedTokens(
  folder: string,
  paths: readonly string[],
  { chunkTokens, chunkOverlap }: Pick<AgentlessSettings, 'chunkTokens' | 'chunkOverlap'>,
): Promise<number> {
  const files = await codeFiles({ paths: () => Promise.resolve(paths) });
  const sizes = await Promise.all(
    files.map((path) =>
      stat(join(folder, path)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  const tokens = sizes.reduce((sum, size) => sum + size, 0) / bytesOfToken;
  const overlap = Math.min(chunkOverlap, chunkTokens - 1);
  return Math.ceil((tokens * chunkTokens) / (chunkTokens - overlap));
}
