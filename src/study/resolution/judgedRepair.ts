import { sampleName, type InstanceFacts } from '../entry';
import type { MakingCost, TracedStages } from '../../domain/instance';
import type { MadeOnNodes, NodeSeconds } from '../nodeUse';
import type { NotEvaluatedReason } from '../../domain/verdict';
import type { CorrectLocation } from './correctLocation';
import type { InfraFailure } from './infraFailure';
import type { StepLocation } from './localisation';
import type { RankedPatch } from '../../domain/ranking';
import type { StrictResolution } from './strictResolution';
import type { ResolutionStatus } from './resolutionStatus';

/** In which of SWE-bench's lists of ids an instance stands. */
export const repairStatuses = ['resolved', 'unresolved', 'empty patch', 'error'] as const;
export type RepairStatus = (typeof repairStatuses)[number];

/** Where FAIL_TO_PASS and PASS_TO_PASS come from. */
export const listOrigins = ['dataset', 'golden runs'] as const;
export type ListOrigin = (typeof listOrigins)[number];

/** Numbers of tests of a list. */
export interface GroupCounts {
  readonly success: number;
  readonly failure: number;
}

/** One code patch on one instance, judged as SWE-bench does and by the recorded outcomes. */
export interface JudgedRepair {
  readonly instance: string;
  readonly model: string;
  /** From 1. */
  readonly sample: number;
  /** As SWE-bench counts it. */
  readonly status: RepairStatus;
  /** Absent where no tests were graded, like `tests` and `lists`. */
  readonly resolution?: ResolutionStatus;
  readonly tests?: { readonly FAIL_TO_PASS: GroupCounts; readonly PASS_TO_PASS: GroupCounts };
  readonly lists?: ListOrigin;
  /** Why there is no grade; for a person. */
  readonly failure?: string;
  /** Set where the fault is not the patch's. */
  readonly hindrance?: NotEvaluatedReason;
  /** The sign of a fault of the environment in the log of a patch that is not resolved. */
  readonly infra?: InfraFailure;
  /** Absent where there is a hindrance. */
  readonly strict?: StrictResolution;
  /** Why the two judgements differ; absent where they agree. */
  readonly difference?: string;
  /** Absent for a patch that does not apply. */
  readonly location?: CorrectLocation;
  /** The command that SWE-bench needs to apply it; absent where that is `git apply`. */
  readonly appliedWith?: string;
  /** Further facts about the grade, one sentence each. */
  readonly notes?: readonly string[];
  readonly cost?: MakingCost;
  /** What it was ranked by, as its prediction says. */
  readonly ranked?: RankedPatch;
  /** The stages of the instance, with its first patch. */
  readonly stages?: Pick<TracedStages, 'dollars'> & { readonly located: readonly StepLocation[] };
  /** As its prediction says. */
  readonly madeBy?: { readonly method: string; readonly model: string };
  /** Set where making the patch used the answer; its prediction says so. */
  readonly oracle?: true;
  /** Wall clock of judging it. */
  readonly seconds: number;
}

/** A saved run of judged code patches. */
export interface RepairRun {
  /** Name for people. */
  readonly label: string;
  /** All selected instances: the denominator of every rate. */
  readonly instances: readonly InstanceFacts[];
  readonly judged: readonly JudgedRepair[];
  /** The run was interrupted or is still going. */
  readonly unfinished?: true;
  /** ISO 8601. */
  readonly created?: string;
  /** The dataset as it was named for the run. */
  readonly dataset?: string;
  /** Seconds that sandboxes ran, by node of a cluster; absent where tests ran elsewhere. */
  readonly nodeSeconds?: NodeSeconds;
  /** What making its code patches used of nodes; absent where that is unknown. */
  readonly made?: readonly MadeOnNodes[];
}

/** Why SWE-bench's judgement and the strict one differ; undefined where they agree. */
export function resolutionDifference({
  status,
  strict,
  lists,
  failure,
}: Pick<JudgedRepair, 'status' | 'strict' | 'lists' | 'failure'>): string | undefined {
  const resolved = status === 'resolved';
  if (strict === undefined || resolved === strict.resolved) return undefined;
  const theirs = `SWE-bench's rules: ${resolved ? 'resolved' : 'not resolved'}`;
  const { reason, explanation } = strict;
  if (reason === 'golden tests unknown') {
    if (status === 'error') return undefined;
    return `${theirs}; strictly it is not known, since ${explanation}`;
  }
  if (reason === 'unsound') {
    return `${theirs}, by the log alone; the records of the run contradict each other (${explanation})`;
  }
  if (status === 'error') {
    return `${theirs}, since there is no grade (${failure ?? ''}); strictly it is resolved`;
  }
  if (reason === 'does not apply') return `${theirs}; strictly it does not apply: ${explanation}`;
  if (resolved) {
    return `${theirs}, by ${lists === 'dataset' ? 'the tests that the row lists' : 'the log'}; a test that passes on R∘X* does not pass: ${explanation}`;
  }
  return `${theirs}; every golden test that passes on R∘X* passes too, but a listed test has another name or status in the log`;
}

/** The name of a patch among several: its model, with @N for sample N, marked as oracle. */
export const repairName = (of: Pick<JudgedRepair, 'model' | 'sample' | 'oracle'>): string =>
  sampleName(of);
