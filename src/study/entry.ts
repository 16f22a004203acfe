import type { MakingCost } from '../domain/instance';
import type { MadeOnNodes, NodeSeconds } from './nodeUse';
import type { Finding, TrajectoryFinding } from '../domain/finding';
import type { EntryReason } from '../domain/verdict';
import type { MutantFraction, Survivor } from '../mutation/mutant';
import type { Denominator } from './denominator';
import type { Grading } from './grading';
import { markedAsOracle } from '../domain/answerSeen';
import { shortDatasetName } from './shortDatasetName';

/** What studies keep of an instance: the row without its patches. */
export interface InstanceFacts {
  readonly id: string;
  /** `owner/name`. */
  readonly repo: string;
  /** ISO 8601, or empty. */
  readonly created: string;
  /** Characters of the issue text. */
  readonly issueLength: number;
}

/**
 * Counts of changed lines, executable by the golden patch: ΔC is `covered / executable`, undefined
 * if nothing is executable.
 */
export interface DeltaFraction {
  readonly covered: number;
  readonly executable: number;
}

/**
 * One candidate on one instance as runs keep it. Every table, plot and list of many instances is
 * computed from these entries. Numbers of tests are those of the strict verdict.
 */
export interface RunEntry {
  readonly instance: string;
  readonly model: string;
  /** The number of this candidate among several of one model for this instance, from 1 on. */
  readonly sample: number;
  readonly reason: EntryReason;
  /** One or two sentences for a person, at most 500 characters. Untrusted: may quote tests. */
  readonly explanation: string;
  /** False if the candidate was not evaluated; every figure below is zero or absent then. */
  readonly evaluated: boolean;
  /** W. */
  readonly wellFormed: boolean;
  /** S, strict grading. */
  readonly success: boolean;
  readonly failToPass: number;
  readonly failToFail: number;
  readonly passToPass: number;
  readonly passToFail: number;
  /** F→×. */
  readonly failToAny: number;
  /** ×→F. */
  readonly anyToFail: number;
  /** ΔC of the candidate; absent if unknown. */
  readonly delta?: DeltaFraction;
  /** ΔC of T* itself. */
  readonly goldenDelta?: DeltaFraction;
  /** Mutants of X* that it kills; absent if it was not tried on any. */
  readonly mutants?: MutantFraction;
  /** Some of the mutants that it does not kill, with code of X*; absent if it kills all. */
  readonly survivors?: readonly Survivor[];
  /** Result of harness grading; absent if not available. */
  readonly harness?: {
    readonly resolved: boolean;
    readonly addedFailToPass: number;
    /** Coverage of the candidate's runs, without subtracting the base. */
    readonly coverage?: number | null;
    readonly coverageDelta: number | null;
  };
  /** The rule that makes the two gradings differ; absent if they agree. */
  readonly difference?: string;
  /**
   * Findings with the first sentences of their evidence; absent if the candidate was not examined.
   */
  readonly findings?: readonly Finding[];
  /** The first findings of each kind in its trajectory; absent if none is known. */
  readonly trajectoryFindings?: readonly TrajectoryFinding[];
  /** Wall clock of its evaluation; nearly 0 if all of its runs were reused. */
  readonly seconds: number;
  readonly cost?: MakingCost;
  /** Set where making the candidate used the answer; its prediction says so. */
  readonly oracle?: true;
  /** Path of its `report.json`, relative to `RunData.folder`; absent if there is none. */
  readonly report?: string;
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
  /** How a person chose the instances; absent where nobody was asked. */
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
