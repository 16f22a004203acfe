import type { RunEntry } from '../study/entry';
import type { TrajectoryFinding } from '../domain/finding';
import { totalsOf, type Trajectory, type TrajectoryTotals } from './trajectory';

/** The final verdict of the candidate of a trajectory. */
export interface FinalVerdict {
  /** Label of the run that graded it. */
  readonly run: string;
  readonly entry: RunEntry;
}

/** A trajectory with everything that is shown beside it. */
export interface ShownTrajectory {
  readonly trajectory: Trajectory;
  /** Absent where it is not graded. */
  readonly verdict?: FinalVerdict;
  /** Why there is no verdict, where the reason is not that none is known. */
  readonly withoutVerdict?: string;
  readonly findings: readonly TrajectoryFinding[];
}

/** A row of the index: all but the steps. */
export interface TrajectoryRow {
  readonly instance: string;
  readonly agent?: string;
  readonly model?: string;
  readonly ending?: string;
  readonly totals: TrajectoryTotals;
  readonly verdict?: FinalVerdict;
  readonly notes: number;
  readonly warnings: number;
}

/** The row of a trajectory in the index. */
export function trajectoryRow({ trajectory, verdict, findings }: ShownTrajectory): TrajectoryRow {
  const { instance, agent, model, ending } = trajectory;
  const count = (severity: TrajectoryFinding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length;
  return {
    instance,
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(ending !== undefined && { ending }),
    totals: totalsOf(trajectory),
    ...(verdict !== undefined && { verdict }),
    notes: count('note'),
    warnings: count('warning'),
  };
}
