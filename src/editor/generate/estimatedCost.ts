import type * as vscode from 'vscode';
import { dollarsOf, type Price } from '../../method/models/budget';
import type { LimitProfile } from '../../method/agents/agent';
import type { DeclaredRequests, RequestSizes } from '../../method/estimate/declaredRequests';
import type { Method } from '../../method/method';

/** What an estimate is made of, in tokens. */
export interface EstimateParts extends RequestSizes {
  /** The limits of agents. */
  readonly limits: LimitProfile;
}

interface EstimatedCost {
  readonly requests: number;
  /** Requests at which the method ends, where it usually ends before. */
  readonly mostRequests: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Dollars at which the method ends, where it has such a limit. */
  readonly mostDollars: number | undefined;
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
const usualCalls = 30;

/**
 * What a method may cost on one instance, by the requests that it declares. An agent sends its
 * history with each call, so its cost grows with the square of its calls.
 */
export function estimatedCost(
  { samples, limits, requests }: Pick<Method, 'samples' | 'limits' | 'requests'>,
  { limits: profile, ...sizes }: EstimateParts,
): EstimatedCost {
  if (limits !== undefined) {
    const { calls, dollars } = limits[profile];
    const requests = Math.min(calls, usualCalls);
    const turns = (requests * (requests - 1)) / 2;
    const history = turns * (agentAnswer + agentObservation);
    return {
      requests,
      mostRequests: calls > requests ? calls : undefined,
      inputTokens: requests * (agentPrompt + sizes.issueTokens) + history,
      outputTokens: requests * agentAnswer,
      mostDollars: dollars,
    };
  }
  const declared = requests?.({ samples }, sizes) ?? [];
  const sum = (of: (each: DeclaredRequests) => number): number =>
    declared.reduce((total, each) => total + (each.isEmbedding === true ? 0 : of(each)), 0);
  return {
    requests: sum(({ count }) => count),
    mostRequests: undefined,
    inputTokens: sum(({ count, inputTokens }) => count * inputTokens),
    outputTokens: sum(({ count, outputTokens }) => count * outputTokens),
    mostDollars: undefined,
  };
}

/**
 * An estimate for a person who chooses: dollars with the name of the model where its price is known,
 * else tokens.
 */
export function costInWords(
  l10n: typeof vscode.l10n,
  { requests, mostRequests, inputTokens, outputTokens, mostDollars = Infinity }: EstimatedCost,
  priced: Priced | undefined,
): string {
  const asked =
    mostRequests !== undefined
      ? l10n.t('{0} of at most {1} requests', requests, mostRequests)
      : requests === 1
        ? l10n.t('1 request')
        : l10n.t('{0} requests', requests);
  const tokens = Math.max(1, Math.round((inputTokens + outputTokens) / 1000));
  const size = l10n.t('{0}, about {1}k tokens', asked, tokens);
  if (priced === undefined) return size;
  const dollars = Math.min(dollarsOf(priced.price, { inputTokens, outputTokens }), mostDollars);
  return l10n.t('{0}, ${1} with {2}', size, dollars.toFixed(2), priced.name);
}
