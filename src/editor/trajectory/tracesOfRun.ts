import { access } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { RunData } from '../../study/entry';
import { readManifest } from '../../results/manifest';

/**
 * The traces beside the predictions that a run graded, as far as they are still there, or the
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
    for (const path of paths.map((each) => `${each}.trace.jsonl`)) {
      if (!(await isThere(path))) continue;
      traces.push(path);
      break;
    }
  }
  return traces;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
