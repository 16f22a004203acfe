import { type Finding, type FindingKind, findingKinds } from '../../domain/finding';
import { pathsOutsideTests } from '../../patch/testFiles';
import { parseUnified } from '../../patch/parseUnified';
import type { InstanceSession } from '../session';
import { editedFiles } from './editedFiles';
import { editsTestRunner } from './editsTestRunner';
import { finding } from './finding';
import { noChangedLineRan, type SideCounts } from './noChangedLineRan';
import { inspectsSource, type Ran } from './inspectsSource';
import { runnerFile } from './runnerFile';

/**
 * Findings in a candidate's code: it reads code instead of running it, edits what runs tests, or
 * edits what neither is a test nor runs them.
 *
 * @param files those that are run, which in a reproduction script need not be tests by their name
 * @param ran undefined where it did not run
 */
export async function findingsInCode(
  session: Pick<InstanceSession, 'python' | 'readFileOfR'>,
  patch: string,
  files: readonly string[] = [],
  ran?: Ran,
): Promise<Finding[]> {
  if (patch.trim() === '') return [];
  const { python } = session;
  const readFileOfR = (path: string) => session.readFileOfR(path);
  const edited = await editedFiles(patch, readFileOfR);
  const parsed = parseUnified(patch);
  const stray = pathsOutsideTests(parsed).filter(
    (path) => runnerFile(path) === undefined && !files.includes(path),
  );
  return inOrder([
    await inspectsSource(edited, ran),
    await editsTestRunner(python, edited, parsed.files, readFileOfR),
    finding('edits outside tests', stray),
  ]);
}

/** Findings in a candidate's runs: no F→P test executed a changed line. */
export function findingsInRuns(
  sides: readonly SideCounts[],
  failToPass: readonly string[],
  script: boolean,
): Finding[] {
  return inOrder([noChangedLineRan(sides, failToPass, script)]);
}

/** Findings in the order of their kinds, without undefined ones. */
export function inOrder(findings: readonly (Finding | undefined)[]): Finding[] {
  const rank = (kind: FindingKind): number => findingKinds.indexOf(kind);
  return findings.filter((each) => each !== undefined).sort((a, b) => rank(a.kind) - rank(b.kind));
}
