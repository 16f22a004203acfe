import * as l10n from '@vscode/l10n';
import type { RunData } from '../../study/entry';
import { finalVerdict } from '../../trajectory/finalVerdict';
import type { Trajectory } from '../../trajectory/trajectory';
import type { AskedTrajectories } from '../trajectory/showTrajectories';
import type { OriginOfRuns } from '../trajectory/trajectoryOrigin';
import { entryOfCell } from './foundCell';
import { access, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { isInspectLogAt } from '../../files/inspectLog';
import { readManifest } from '../../results/runFolder';

interface Library {
  readonly runs: readonly RunData[];
  run(label: string): RunData | undefined;
}

/** Trajectories with their verdicts in the listed runs: of all, of one run, or of one cell. */
export function trajectoriesOfRuns(library: Library, origin: OriginOfRuns): AskedTrajectories {
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
    origin,
    path,
    shownOf: async (trajectory) => {
      const verdict = await finalVerdict(trajectory, runs);
      return { trajectory, ...(verdict === undefined ? ungraded : { verdict }) };
    },
  };
}

/**
 * The traces of the predictions that a run graded, as far as they are still there, or the
 * trajectories of a published run. Paths are those
 * of the machine that ran it, and relative ones count from the folder of results and from above it.
 */
export async function tracesOfRun({
  place,
  folder,
  trajectories,
}: RunData): Promise<readonly string[]> {
  if (place === undefined) return trajectories ?? [];
  const manifest = await readManifest(place).catch(() => undefined);
  const roots = folder === undefined ? [] : [folder, dirname(folder)];
  const traces: string[] = [];
  for (const { from } of manifest?.predictions ?? []) {
    const paths = isAbsolute(from) ? [from] : roots.map((root) => join(root, from));
    for (const path of paths) {
      const trace = await traceOf(path);
      if (trace === undefined) continue;
      traces.push(trace);
      break;
    }
  }
  return traces;
}

/** Jobs of Harbor, submissions and logs of inspect_ai have predictions and trajectories alike. */
async function traceOf(path: string): Promise<string | undefined> {
  const trace = `${path}.trace.jsonl`;
  if (await isThere(trace)) return trace;
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  return isFolder || (await isInspectLogAt(path)) ? path : undefined;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
