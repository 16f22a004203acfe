/** Dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
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
}

/** The cost of these tokens in dollars. */
export const dollarsOf = (price: Price, inputTokens: number, outputTokens: number): number =>
  (price.input * inputTokens + price.output * outputTokens) / 1e6;

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

export function budgetOf(limits: BudgetLimits): Budget {
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
            `the budget of ${alone} does not suffice for the next request (${told(spent)} spent, up to ${told(most)} more)`,
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

/** `12000 tokens, $0.3412` */
export const told = ({ tokens, dollars }: Spent): string =>
  `${tokens} tokens${dollars > 0 ? `, $${dollars.toFixed(4)}` : ''}`;
