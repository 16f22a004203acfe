import type * as vscode from 'vscode';
import type { RunData } from '../../study/entry';
import { finalVerdict } from '../../trajectory/finalVerdict';
import type { Trajectory } from '../../trajectory/trajectory';
import type { AskedTrajectories } from '../trajectory/showTrajectories';
import type { OriginOfRuns } from '../trajectory/trajectoryOrigin';
import { entryOfCell } from './foundCell';

interface Library {
  readonly runs: readonly RunData[];
  run(label: string): RunData | undefined;
}

/** Trajectories with their verdicts in the listed runs: of all, of one run, or of one cell. */
export function trajectoriesOfRuns(
  l10n: typeof vscode.l10n,
  library: Library,
  origin: OriginOfRuns,
): AskedTrajectories {
  const { path } = origin;
  const label = origin.view === 'dashboard' ? origin.cell.run : origin.run;
  const ungraded =
    label !== undefined && library.run(label) === undefined
      ? { withoutVerdict: l10n.t('The run {0} is no longer in the list.', label) }
      : {};
  if (origin.view === 'dashboard') {
    const { cell } = origin;
    const entry = entryOfCell(library, cell);
    const verdict = entry === undefined ? ungraded : { verdict: { run: cell.run, entry } };
    const shownOf = async (trajectory: Trajectory) => ({ trajectory, ...verdict });
    return { origin, path, instance: cell.instance, shownOf };
  }
  const runs = library.runs.filter((each) => label === undefined || each.label === label);
  return {
    ...{ origin, path },
    shownOf: async (trajectory) => {
      const verdict = await finalVerdict(trajectory, runs);
      return { trajectory, ...(verdict === undefined ? ungraded : { verdict }) };
    },
  };
}
