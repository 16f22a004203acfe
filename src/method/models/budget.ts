/** Dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** For input that the provider had cached; as other input when absent. */
  readonly cached?: number | undefined;
  /** For input that the provider caches again; as other input when absent. */
  readonly cacheWrite?: number | undefined;
}

/** The tokens of an answer. */
export interface TokenCounts {
  readonly inputTokens: number;
  /** Includes the model's reasoning, where that is paid for. */
  readonly outputTokens: number;
  /** Those of the output that are reasoning; undefined where the provider does not say. */
  readonly reasoningTokens?: number | undefined;
  /** Those of the input that came from the provider's cache. */
  readonly cachedInputTokens?: number | undefined;
  /** Those of the input that the provider wrote to its cache. */
  readonly cacheWriteTokens?: number | undefined;
}

/** The limits of a run; undefined for no limit. */
export interface BudgetLimits {
  /** Input and output together. */
  readonly tokens?: number | undefined;
  readonly dollars?: number | undefined;
}

/** Tokens, and dollars where a price is known. */
export interface Spent {
  readonly tokens: number;
  readonly dollars: number;
}

/**
 * The next request could take the run beyond its limit. Finished work is kept; no further request
 * is sent.
 */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent';
  /** @param of whose budget it is: when the run's is spent, no other instance has anything left */
  constructor(
    message: string,
    readonly of: 'run' | 'instance',
  ) {
    super(message);
  }
}

/** The cost of these tokens in dollars. */
export function dollarsOf(price: Price, counts: TokenCounts): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = counts;
  const { input, output, cached = input, cacheWrite = input } = price;
  const plain = inputTokens - cachedInputTokens - cacheWriteTokens;
  return (
    (input * plain +
      cached * cachedInputTokens +
      cacheWrite * cacheWriteTokens +
      output * outputTokens) /
    1e6
  );
}

/**
 * The budget of a run. Before each request it reserves the most that the request can cost.
 * Concurrent requests therefore cannot exceed the limit together.
 */
export interface Budget {
  readonly spent: Spent;
  /** Adds what an interrupted run has already paid. */
  add(spent: Spent): void;
  /**
   * Reserves the most that a request can cost. Waits while the reservations of other requests leave
   * too little.
   *
   * @returns to be called once with the actual cost: zero when there was no answer
   * @throws BudgetSpent
   */
  reserve(most: Spent): Promise<(spent: Spent) => void>;
}

export function budgetOf(limits: BudgetLimits, of: BudgetSpent['of'] = 'run'): Budget {
  let spent: Spent = { tokens: 0, dollars: 0 };
  let held: Spent = { tokens: 0, dollars: 0 };
  let waiting: (() => void)[] = [];
  const plus = (one: Spent, other: Spent): Spent => ({
    tokens: one.tokens + other.tokens,
    dollars: one.dollars + other.dollars,
  });
  const minus = (one: Spent, other: Spent): Spent => ({
    tokens: one.tokens - other.tokens,
    dollars: one.dollars - other.dollars,
  });
  const exceeded = (total: Spent): string | undefined => {
    if (limits.tokens !== undefined && total.tokens > limits.tokens) {
      return `${limits.tokens} tokens`;
    }
    // Sums of small prices are inexact.
    if (limits.dollars !== undefined && total.dollars > limits.dollars + 1e-9) {
      return `$${limits.dollars}`;
    }
    return undefined;
  };
  return {
    get spent() {
      return spent;
    },
    add: (before) => {
      spent = plus(spent, before);
    },
    async reserve(most) {
      for (;;) {
        const alone = exceeded(plus(spent, most));
        if (alone !== undefined) {
          throw new BudgetSpent(
            `the budget of ${alone}${of === 'run' ? '' : ' for an instance'} is too small for the next request (${told(spent)} spent, up to ${told(most)} more)`,
            of,
          );
        }
        if (exceeded(plus(plus(spent, held), most)) === undefined) break;
        await new Promise<void>((go) => waiting.push(go));
      }
      held = plus(held, most);
      return (cost) => {
        held = minus(held, most);
        spent = plus(spent, cost);
        const all = waiting;
        waiting = [];
        for (const go of all) go();
      };
    },
  };
}

/** The budget of an instance within that of its run: a request needs room in both. */
export function budgetWithin(run: Budget, own: Budget): Budget {
  return {
    get spent() {
      return own.spent;
    },
    add: (before) => own.add(before),
    async reserve(most) {
      const settleOwn = await own.reserve(most);
      try {
        const settleRun = await run.reserve(most);
        return (cost) => {
          settleOwn(cost);
          settleRun(cost);
        };
      } catch (error) {
        settleOwn({ tokens: 0, dollars: 0 });
        throw error;
      }
    },
  };
}

/** The cost of answers, such as those in a trace. */
export function spentOn(
  answers: readonly (TokenCounts & { readonly dollars?: number | undefined })[],
  price: Price | undefined,
): Spent {
  let tokens = 0;
  let dollars = 0;
  for (const answer of answers) {
    tokens += answer.inputTokens + answer.outputTokens;
    dollars += answer.dollars ?? (price === undefined ? 0 : dollarsOf(price, answer));
  }
  return { tokens, dollars };
}

/** `12000 tokens, $0.3412` */
export const told = ({ tokens, dollars }: Spent): string =>
  `${tokens} tokens${dollars > 0 ? `, $${dollars.toFixed(4)}` : ''}`;
