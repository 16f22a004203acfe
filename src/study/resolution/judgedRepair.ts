import { type InstanceFacts, sampleName, type MadeOnNodes, type NodeSeconds } from '../entry';
import type { JudgedRepair } from './judgedRepairSchema';

export type { JudgedRepair } from './judgedRepairSchema';

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
    return `${theirs}; the strict result is unknown because ${explanation}`;
  }
  if (reason === 'unsound') {
    return `${theirs}, going by the log alone; the run's records contradict each other (${explanation})`;
  }
  if (status === 'error') {
    return `${theirs}, because there is no grade (${failure ?? ''}); strictly resolved`;
  }
  if (reason === 'does not apply')
    return `${theirs}; strictly, the patch does not apply: ${explanation}`;
  if (resolved) {
    return `${theirs}, by ${lists === 'dataset' ? 'the tests that the row lists' : 'the log'}; a test that passes with the golden fix does not pass with this patch: ${explanation}`;
  }
  return `${theirs}; every golden test that passes with the golden fix also passes with this patch, but a listed test has a different name or status in the log`;
}

/** The name of a patch among several: its model, with @N for sample N, marked as oracle. */
export const repairName = (of: Pick<JudgedRepair, 'model' | 'sample' | 'oracle'>): string =>
  sampleName(of);
