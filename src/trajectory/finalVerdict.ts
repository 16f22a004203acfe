import { readPlainText } from '../files/plainFile';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { RunData, RunEntry } from '../study/entry';
import type { Trajectory } from './trajectory';
import type { FinalVerdict } from './trajectoryPages';

/**
 * The verdict of a trajectory's candidate in saved runs. An entry belongs to it if it graded the same
 * patch, or if the patch is not kept and the entry is the only one of the model. The last run counts.
 *
 * @returns undefined where no run graded it
 */
export async function finalVerdict(
  trajectory: Trajectory,
  runs: readonly RunData[],
): Promise<FinalVerdict | undefined> {
  const names = namesOf(trajectory);
  let found: FinalVerdict | undefined;
  for (const run of runs) {
    const entries = run.entries.filter(({ instance }) => instance === trajectory.instance);
    for (const entry of entries) {
      const graded = await gradedPatch(run, entry);
      const isSame =
        graded === undefined
          ? names.has(entry.model) &&
            entries.filter(({ model }) => model === entry.model).length === 1
          : trajectory.submission !== undefined && graded.trim() === trajectory.submission.trim();
      if (isSame) found = { run: run.label, entry };
    }
  }
  return found;
}

/** The names that predictions of the trajectory may have. */
const namesOf = ({ agent, model }: Trajectory): ReadonlySet<string> =>
  new Set([...(model === undefined ? [] : [model, `${agent ?? ''}/${model}`])]);

/** The patch that an entry graded; undefined where it is not kept. */
async function gradedPatch(run: RunData, entry: RunEntry): Promise<string | undefined> {
  if (run.folder === undefined || entry.report === undefined) return undefined;
  const report = join(run.folder, entry.report);
  const inside = relative(run.folder, report);
  // A journal is untrusted: it may name only files in its own folder.
  if (inside.startsWith('..') || isAbsolute(inside)) return undefined;
  return readPlainText(join(dirname(report), 'model_patch.diff')).catch(() => undefined);
}
