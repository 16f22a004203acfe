import { type Grading, type InstanceFacts, type RunData, type RunEntry, deltaOf } from '../entry';
import { markedAsOracle, whyAnswerSeen } from '../../domain/answerSeen';

/**
 * One row of the tables: the candidates of one model in one run, over all instances that the run
 * selected.
 */
export interface EvaluatedMethod {
  /** Unique among the methods of one call, and stable for the same runs. */
  readonly id: string;
  /**
   * For people: the model, with the label of its run if several runs have that model, and marked if
   * the row uses the answer.
   */
  readonly name: string;
  /** `RunData.label`. */
  readonly run: string;
  readonly model: string;
  /** The grading behind its figures; `harness` if only harness figures were saved. */
  readonly grading: Grading;
  /**
   * Whether the row uses the answer: its candidates were made with it, or picked by their grades.
   */
  readonly oracle: boolean;
  /** `RunData.known`. */
  readonly known?: 'success';
  /** What a published method is known to see of the answer; absent for all others. */
  readonly answerSeen?: string;
  /** Set for an oracle's pick: the number of samples it picks from, knowing their grades. */
  readonly oracleOf?: number;
  /** The denominator of every share, in the order of ids. */
  readonly selected: readonly InstanceFacts[];
  /** Instance id to the one candidate in the row: the first sample, or the oracle's pick. */
  readonly chosen: ReadonlyMap<string, RunEntry>;
  /** Instance id to all of its candidates, by sample. */
  readonly samples: ReadonlyMap<string, readonly RunEntry[]>;
  /** The most samples that any instance has. */
  readonly sampleCount: number;
  /** The run was interrupted or is still going, so an instance without entry may still get one. */
  readonly unfinished: boolean;
}

interface MethodRowOptions {
  /** Restricts the rows to these instances, such as the result of a filter. */
  readonly instances?: ReadonlySet<string>;
  /** Add a row `… Pass@n (oracle)` for each method with several samples. */
  readonly oracle?: boolean;
  /**
   * The grading by which the oracle picks; `strict` by default, or `harness` if only that was
   * saved.
   */
  readonly grading?: Grading | undefined;
}

/** `EvaluatedMethod.id` of the row with the first samples of a model. */
export const methodId = (run: string, model: string): string => JSON.stringify([run, model]);

/** Splits runs into rows: one for each run and model, in their order. */
export function methodsOf(
  runs: readonly RunData[],
  options: MethodRowOptions = {},
): EvaluatedMethod[] {
  const parts = runs.flatMap((run) => {
    const byModel = new Map<string, RunEntry[]>((run.models ?? []).map((model) => [model, []]));
    for (const entry of run.entries) {
      const mine = byModel.get(entry.model);
      if (mine === undefined) byModel.set(entry.model, [entry]);
      else mine.push(entry);
    }
    const selected = selectedOf(run, options.instances);
    const ids = new Set(selected.map((instance) => instance.id));
    return [...byModel].map(([model, entries]) => ({ run, model, entries, selected, ids }));
  });
  const times = new Map<string, number>();
  for (const { model } of parts) times.set(model, (times.get(model) ?? 0) + 1);

  return parts.flatMap(({ run, model, entries, selected, ids }) => {
    const samples = bySample(entries, ids);
    // The same sample of every instance. Another sample does not fill in where an instance lacks
    // it.
    const sample = entries.reduce((least, each) => Math.min(least, each.sample), Infinity);
    const name = times.get(model) === 1 ? model : `${model} (${run.label})`;
    const answerSeen = whyAnswerSeen(model);
    const oracle = answerSeen !== undefined || entries.some((entry) => entry.oracle === true);
    const first: EvaluatedMethod = {
      id: methodId(run.label, model),
      name: oracle ? markedAsOracle(name) : name,
      oracle,
      ...(answerSeen !== undefined && { answerSeen }),
      ...(run.known !== undefined && { known: run.known }),
      run: run.label,
      model,
      grading: run.grading ?? 'strict',
      selected,
      chosen: new Map(
        [...samples].flatMap(([id, [first]]) => (first?.sample === sample ? [[id, first]] : [])),
      ),
      samples,
      sampleCount: longestOf(samples.values()),
      unfinished: run.unfinished === true,
    };
    return options.oracle === true && first.sampleCount > 1
      ? [first, oraclePick(first, name, options.grading)]
      : [first];
  });
}

/** The length of the longest list. There are too many of them to pass them as arguments. */
export function longestOf(lists: Iterable<readonly unknown[]>): number {
  let most = 0;
  for (const { length } of lists) most = Math.max(most, length);
  return most;
}

function selectedOf(
  run: RunData,
  instances: ReadonlySet<string> | undefined,
): readonly InstanceFacts[] {
  const byId = new Map(run.instances.map((each) => [each.id, each]));
  return [...byId.values()]
    .filter((each) => instances === undefined || instances.has(each.id))
    .sort((left, right) => (left.id < right.id ? -1 : left.id > right.id ? 1 : 0));
}

function bySample(
  entries: readonly RunEntry[],
  ids: ReadonlySet<string>,
): ReadonlyMap<string, readonly RunEntry[]> {
  const samples = new Map<string, RunEntry[]>();
  for (const entry of entries) {
    if (!ids.has(entry.instance)) continue;
    const mine = samples.get(entry.instance);
    if (mine === undefined) samples.set(entry.instance, [entry]);
    else mine.push(entry);
  }
  for (const list of samples.values()) list.sort((left, right) => left.sample - right.sample);
  return samples;
}

/**
 * The paper's Pass@5: an oracle that knows the grades picks one sample of each instance. It prefers
 * success, then more F→P tests, then higher ΔC, then a patch that applies, then the earlier sample.
 *
 * @param name of the method, without a mark
 */
function oraclePick(method: EvaluatedMethod, name: string, asked?: Grading): EvaluatedMethod {
  const grading = gradingOf(method, asked);
  const rank = (entry: RunEntry): readonly number[] => {
    const { success, failToPass, delta, wellFormed } = figuresOf(entry, grading);
    const count = grading === 'harness' ? entry.harness?.addedFailToPass : entry.failToPass;
    return [Number(success), count ?? Number(failToPass), delta ?? 0, Number(wellFormed)];
  };
  const better = (left: RunEntry, right: RunEntry): boolean => {
    const ranks = rank(right);
    for (const [index, value] of rank(left).entries()) {
      const other = ranks[index] ?? 0;
      if (value !== other) return value > other;
    }
    return false;
  };
  const chosen = new Map<string, RunEntry>();
  for (const [id, list] of method.samples) {
    const best = list.reduce<RunEntry | undefined>(
      (found, each) => (found === undefined || better(each, found) ? each : found),
      undefined,
    );
    if (best !== undefined) chosen.set(id, best);
  }
  return {
    ...method,
    id: JSON.stringify([method.run, method.model, 'oracle']),
    name: markedAsOracle(`${name} Pass@${method.sampleCount}`),
    oracle: true,
    oracleOf: method.sampleCount,
    chosen,
  };
}

/** The figures of one candidate that tables show. */
export interface CandidateFigures {
  readonly evaluated: boolean;
  readonly wellFormed: boolean;
  readonly success: boolean;
  readonly failToAny: boolean;
  readonly failToPass: boolean;
  readonly passToPass: boolean;
  /** ΔC in [0, 1]; undefined if it is unknown or nothing is executable. */
  readonly delta: number | undefined;
}

const nothing: CandidateFigures = {
  evaluated: false,
  wellFormed: false,
  success: false,
  failToAny: false,
  failToPass: false,
  passToPass: false,
  delta: undefined,
};

/**
 * Figures of a candidate under one of the gradings. Harness grading defines S, F→P and ΔC; the
 * other figures are the strict ones under both. An instance without candidate counts as not
 * evaluated.
 */
export function figuresOf(entry: RunEntry | undefined, grading: Grading): CandidateFigures {
  if (entry === undefined) return nothing;
  const strict: CandidateFigures = {
    evaluated: entry.evaluated,
    wellFormed: entry.wellFormed,
    success: entry.success,
    failToAny: entry.failToAny > 0,
    failToPass: entry.failToPass > 0,
    passToPass: entry.passToPass > 0,
    delta: deltaOf(entry.delta),
  };
  if (grading === 'strict') return strict;
  return {
    ...strict,
    success: entry.harness?.resolved ?? false,
    failToPass: (entry.harness?.addedFailToPass ?? 0) > 0,
    delta: entry.harness?.coverageDelta ?? undefined,
  };
}

/** The grading of a method's figures: the requested one, unless only harness figures were saved. */
export const gradingOf = (method: EvaluatedMethod, asked: Grading | undefined): Grading =>
  method.grading === 'harness' ? 'harness' : (asked ?? 'strict');
