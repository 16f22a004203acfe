import { isTestPath } from '../../patch/testFiles';
import type { ObservationCondition } from '../../python/observations/observation';

/** A file of R; undefined where R has none at the path. */
export type ReadFileOfR = (path: string) => Promise<string | undefined>;

/** Whether R satisfies the condition on which an observation counts. */
export async function holdsInR(
  condition: ObservationCondition | undefined,
  readFileOfR: ReadFileOfR,
): Promise<boolean> {
  if (condition === undefined) return true;
  if ('notOfR' in condition) return !(await isOfR(condition.notOfR, readFileOfR));
  if ('packageOfR' in condition) return isOfR(condition.packageOfR, readFileOfR);
  for (const path of condition.fileOfR) {
    // Data of tests, and requirement lists that tests read as data, do not reveal the fix.
    if (
      !isTestPath(path) &&
      !/(^|\/)requirements[^/]*\.txt$/.test(path) &&
      (await exists(path, readFileOfR))
    )
      return true;
  }
  return false;
}

/** Folders in which repositories keep their packages. */
const roots = ['', 'src/', 'lib/', 'python/'];

async function isOfR(name: string, readFileOfR: ReadFileOfR): Promise<boolean> {
  const [top = ''] = name.split('.');
  if (top === '' || isTestPath(`${top}/__init__.py`)) return false;
  for (const root of roots) {
    if (await exists(`${root}${top}/__init__.py`, readFileOfR)) return true;
    if (await exists(`${root}${top}.py`, readFileOfR)) return true;
  }
  return false;
}

const exists = async (path: string, readFileOfR: ReadFileOfR): Promise<boolean> =>
  (await readFileOfR(path).catch(() => undefined)) !== undefined;
