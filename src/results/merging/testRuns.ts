import { join, posix } from 'node:path';
import { journalLine, type JournalLine } from '../journal';
import { readReport, writeSummaries } from '../report';
import { reportPath } from '../runFolder';
import { logFolders } from '../writeLogs';
import type { RunKind } from './mergeShards';

/** Runs over tests: `runs/<run>`, with reports and logs in the layout of the reference harness. */
export const testRuns: RunKind<JournalLine> = {
  parent: 'runs',
  shape: journalLine,
  isGraded: ({ evaluated }) => evaluated,
  // The report comes last: where it exists, all that it describes exists too.
  foldersOf: (run, line) => [...logFolders(run, line), posix.dirname(reportPath(run, line))],
  isWhole: async (results, run, line) =>
    (await readReport(join(results, reportPath(run, line)), line)) !== undefined,
  summarise: (out, { run, instances }, lines) =>
    writeSummaries(
      out,
      run,
      lines,
      instances.map(({ id }) => id),
    ),
};
