import type { Denominator, DeltaFraction, InstanceFacts, RunEntry } from './entrySchema';
import { markedAsOracle } from '../domain/answerSeen';

/** The grading behind a figure; see `domain/verdict.ts` and `domain/harness.ts`. */
export const gradings = ['strict', 'harness'] as const;
export type Grading = (typeof gradings)[number];

export type { DeltaFraction, InstanceFacts, RunEntry } from './entrySchema';

/** Seconds that sandboxes ran, by node of a cluster. */
export type NodeSeconds = Readonly<Record<string, number>>;

/** What the making of a predictions file used of the nodes of a cluster. */
export interface MadeOnNodes {
  /** The file, as it was named for the run. */
  readonly from: string;
  readonly seconds: NodeSeconds;
}

/** The figures of a candidate that was not evaluated. */
export const nothingKnown = {
  evaluated: false,
  wellFormed: false,
  success: false,
  failToPass: 0,
  failToFail: 0,
  passToPass: 0,
  passToFail: 0,
  failToAny: 0,
  anyToFail: 0,
} as const satisfies Partial<RunEntry>;

/** ΔC in [0, 1]; undefined if it is unknown or nothing is executable. */
export const deltaOf = (fraction: DeltaFraction | undefined): number | undefined =>
  fraction === undefined || fraction.executable === 0
    ? undefined
    : fraction.covered / fraction.executable;

/** One saved run of one or several models, as studies read it. */
export interface RunData {
  /** Name for people, unique among the runs shown together, such as `run-1`. */
  readonly label: string;
  /** All selected instances: the denominator of every rate. */
  readonly instances: readonly InstanceFacts[];
  /** How the user chose the instances; absent where nobody was asked. */
  readonly denominator?: Denominator;
  readonly entries: readonly RunEntry[];
  /** Models of the run, also those without any entry. If absent, the models of the entries. */
  readonly models?: readonly string[];
  /**
   * `harness`: read from a folder of the reference harness alone, so that the figures of its
   * entries are those of harness grading. They stand in for the strict figures. If absent, strict.
   */
  readonly grading?: Grading;
  /**
   * The run was interrupted or is still going. An instance without entry is `not run yet` then, not
   * `no prediction`.
   */
  readonly unfinished?: boolean;
  /**
   * Absolute path of the folder that paths of reports are relative to; absent in an exported page.
   */
  readonly folder?: string;
  /**
   * Absolute path of `DIR/runs/<run>`; absent for a run of the reference harness, and in an
   * exported page.
   */
  readonly place?: string;
  /**
   * Set where only S is known of the entries, as from a summary of the reference harness. The other
   * figures are unknown then.
   */
  readonly known?: 'success';
  /**
   * Absolute paths of files and folders with the trajectories of a published run; absent in an
   * exported page.
   */
  readonly trajectories?: readonly string[];
  /** ISO 8601. */
  readonly created?: string;
  /** The dataset as it was named for the run. */
  readonly dataset?: string;
  /** Seconds that sandboxes ran, by node of a cluster; absent where tests ran elsewhere. */
  readonly nodeSeconds?: NodeSeconds;
  /** What making its predictions used of nodes; absent where that is unknown. */
  readonly made?: readonly MadeOnNodes[];
}

/** The last part of a path or address, as people call a dataset. */
export function shortDatasetName(dataset: string): string {
  const parts = dataset.split(/[\\/]/).filter((part) => part !== '');
  return /^(https?:\/\/|~?[\\/]|[A-Za-z]:)/.test(dataset) ? (parts.at(-1) ?? dataset) : dataset;
}

/** The run without paths of this machine, for a page. A dataset keeps its last part. */
export function withoutPaths(run: RunData): RunData {
  const { folder: _folder, place: _place, trajectories: _trajectories, made: _made, ...told } = run;
  const { dataset, ...rest } = told;
  return dataset === undefined ? rest : { ...rest, dataset: shortDatasetName(dataset) };
}

/**
 * The name of a model with the number of its sample if that is above 1, and marked if it uses the
 * answer: `gpt-4`, `gpt-4@2`, `gpt-4 (oracle)`.
 */
export function sampleName({
  model,
  sample,
  oracle,
}: Pick<RunEntry, 'model' | 'sample' | 'oracle'>): string {
  const name = sample > 1 ? `${model}@${sample}` : model;
  return oracle === true ? markedAsOracle(name) : name;
}
