/** All that the oracle of Pass@k reveals about a candidate. */
export interface OracleVerdict {
  readonly applies: boolean;
  readonly success: boolean;
  /** How many of its tests go F→P. */
  readonly failToPass: number;
  /** ΔC; null where it is not defined or not known. */
  readonly delta: number | null;
}

/**
 * The oracle's pick. The order is: a success, then most F→P, then highest ΔC, then one that
 * applies, then the first.
 *
 * @returns the index; undefined when there is nothing to choose from
 */
export function pickByOracle(candidates: readonly OracleVerdict[]): number | undefined {
  const order = (verdict: OracleVerdict): readonly number[] => [
    Number(verdict.success),
    verdict.failToPass,
    verdict.delta ?? -1,
    Number(verdict.applies),
  ];
  return best(candidates.map(order));
}

/** The facts about a candidate that LIBRO uses. */
export interface LibroCandidate {
  readonly applies: boolean;
  /** Whether one of its tests fails on R that did not before. */
  readonly fails: boolean;
  /**
   * Whether the judge considers the failure to be the problem of the issue; undefined when it did
   * not say.
   */
  readonly matches: boolean | undefined;
  /** Length of the patch in characters. */
  readonly length: number;
}

/**
 * LIBRO's pick: the shortest of the candidates that fail on R and that the judge accepts. Where
 * none fails, a candidate that applies is better than none; then the first.
 *
 * @returns the index; undefined when there is nothing to choose from
 */
export function pickByLibro(candidates: readonly LibroCandidate[]): number | undefined {
  return best(
    candidates.map(({ applies, fails, matches, length }) => [
      Number(applies),
      Number(applies && fails),
      Number(applies && fails && matches === true),
      applies ? -length : 0,
    ]),
  );
}

/** The facts about an attempt of AssertFlip that its pick uses. */
export interface FlipFacts {
  readonly applies: boolean;
  /** Whether its tests passed on R, and their assertions were inverted. */
  readonly isFlipped: boolean;
  /** Whether its tests, inverted, fail on R without a fault of their own. */
  readonly fails: boolean;
  /** What the model says of that failure; undefined when it did not say. */
  readonly matches: boolean | undefined;
}

/**
 * AssertFlip's pick. The order is: validated, then inverted and failing on R and not rejected,
 * then also rejected, then inverted and applying, then one that applies, then the first.
 *
 * @returns the index; undefined when there is nothing to choose from
 */
export function pickByFlip(attempts: readonly FlipFacts[]): number | undefined {
  return best(
    attempts.map(({ applies, isFlipped, fails, matches }) => [
      Number(applies),
      Number(applies && isFlipped),
      Number(applies && isFlipped && fails),
      Number(matches === true) - Number(matches === false),
    ]),
  );
}

/** The index of the greatest order, compared number by number; the first of equals. */
function best(orders: readonly (readonly number[])[]): number | undefined {
  let found: number | undefined;
  for (const [index, order] of orders.entries()) {
    const before = found === undefined ? undefined : orders[found];
    const at = order.findIndex((value, place) => value !== before?.[place]);
    if (before === undefined || (at >= 0 && (order[at] ?? 0) > (before[at] ?? 0))) found = index;
  }
  return found;
}
