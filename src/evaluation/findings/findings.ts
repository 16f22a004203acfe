import type { Finding, FindingKind } from '../../domain/finding';
import { findingKinds } from '../../domain/finding';
import { parseUnified } from '../../patch/unified/parseUnified';
import type { InstanceSession } from '../session';
import { editedFiles } from './editedFiles';
import { editsWhatRunsTests } from './editsWhatRunsTests';
import { noChangedLineRan, type SideCounts } from './noChangedLineRan';
import { readsInsteadOfRuns } from './readsInsteadOfRuns';

/**
 * Findings in a candidate's text: it reads code instead of running it, or edits what runs tests.
 */
export async function findingsInCode(
  session: Pick<InstanceSession, 'python' | 'readFileOfR'>,
  patch: string,
): Promise<Finding[]> {
  if (patch.trim() === '') return [];
  const { python } = session;
  const readFileOfR = (path: string) => session.readFileOfR(path);
  const files = await editedFiles(patch, readFileOfR);
  return inOrder([
    await readsInsteadOfRuns(python, files, readFileOfR),
    await editsWhatRunsTests(python, files, parseUnified(patch).files, readFileOfR),
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
