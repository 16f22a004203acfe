import type { Finding } from '../finding';
import type { EntryReason } from '../reason';
import type { Grading } from './grading';

/** What studies know of an instance: what its row says, without the patches. */
export interface InstanceFacts {
  readonly id: string;
  /** `owner/name`. */
  readonly repo: string;
  /** ISO 8601, or empty. */
  readonly created: string;
  /** Characters of the issue text. */
  readonly issueLength: number;
}

/** What making a candidate took, where its prediction says so. */
export interface MakingCost {
  /** US dollars. */
  readonly dollars?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly seconds?: number;
}

/** Lines of the golden patch: ΔC is `covered / executable`, undefined where nothing is executable. */
export interface DeltaFraction {
  readonly covered: number;
  readonly executable: number;
}

/**
 * One candidate on one instance as runs keep it: what every table, plot and list of many instances is
 * made of. Numbers of tests are of the strict verdict.
 */
export interface RunEntry {
  readonly instance: string;
  readonly model: string;
  /** Which of several candidates of one model for this instance, from 1 on. */
  readonly sample: number;
  readonly reason: EntryReason;
  /** One or two sentences for a person, at most 500 characters. Untrusted: may quote tests. */
  readonly explanation: string;
  /** False where nothing is known of it: every figure below is zero or absent then. */
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
  /** ΔC of the candidate; absent where it is not known. */
  readonly delta?: DeltaFraction;
  /** ΔC of T* itself. */
  readonly goldenDelta?: DeltaFraction;
  /** Harness grading; absent where it is not available. */
  readonly harness?: {
    readonly resolved: boolean;
    readonly addedFailToPass: number;
    /** Coverage of the candidate's runs as such, not beyond base. */
    readonly coverage?: number | null;
    readonly coverageDelta: number | null;
  };
  /** Which rule made the two gradings differ; absent where they agree. */
  readonly difference?: string;
  /** What looks wrong, with the first of its evidence; absent where nobody has looked. */
  readonly findings?: readonly Finding[];
  /** Wall clock of its evaluation; nearly 0 where all of its runs were kept ones. */
  readonly seconds: number;
  readonly cost?: MakingCost;
  /** Path of its `report.json`, from `RunData.folder`; absent where there is none. */
  readonly report?: string;
}

/** The figures of a candidate of which nothing is known. */
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

/** ΔC in [0, 1]; undefined where it is not known or nothing is executable. */
export const deltaOf = (fraction: DeltaFraction | undefined): number | undefined =>
  fraction === undefined || fraction.executable === 0
    ? undefined
    : fraction.covered / fraction.executable;

/** One saved run of one or several models, as studies read it. */
export interface RunData {
  /** Name for people, unique among the runs shown together, such as `run-1`. */
  readonly label: string;
  /** All selected instances: what rates are shares of. */
  readonly instances: readonly InstanceFacts[];
  readonly entries: readonly RunEntry[];
  /** Models that were to be run, for those without any entry; absent: those of the entries. */
  readonly models?: readonly string[];
  /**
   * `harness`: read from a folder of the reference harness alone. The figures of its entries are those of
   * harness grading then, and stand in for the strict ones. Absent: strict.
   */
  readonly grading?: Grading;
  /** It was interrupted or still runs: an instance without entry is `not run yet`, not `no prediction`. */
  readonly unfinished?: boolean;
  /** Absolute path of the folder that paths of reports start from; absent in a page for others. */
  readonly folder?: string;
  /** Absolute path of `DIR/runs/<run>`; absent for a run of the reference harness, and in a page for others. */
  readonly place?: string;
  /** ISO 8601. */
  readonly created?: string;
  /** As the run was told. */
  readonly dataset?: string;
}

/** A model, and which of its samples where there are several: `gpt-4`, `gpt-4@2`. */
export const sampleName = (of: Pick<RunEntry, 'model' | 'sample'>): string =>
  of.sample > 1 ? `${of.model}@${of.sample}` : of.model;
