import { total, type ChangedLine, type LineCounts } from '../../domain/changeCoverage';
import type { Finding } from '../../domain/finding';
import { isScope } from '../../domain/testId';
import { finding, quotedCode } from './finding';

/** Counts of one side: those of the candidate, and those of all other runs. */
export interface SideCounts {
  /** Removed lines on R, added lines on R∘X*. */
  readonly lines: readonly ChangedLine[];
  readonly candidate: LineCounts;
  readonly others: readonly LineCounts[];
}

/**
 * Whether no F→P test of a candidate executed a changed line, on its side. Lines that only import
 * and collection execute are ignored, since no run attributes these to a test. A test of a changed
 * constant or decorator executes no other changed line. A line also counts as run where collection
 * executed it more often than in any other run, since decorators of tests compute there.
 *
 * @param failToPass ids of the tests that go F→P
 * @param script the candidate is a script: what it executes is its own, and belongs to no test
 * @returns undefined also where no test of any run executes a changed line
 */
export function noChangedLineRan(
  sides: readonly SideCounts[],
  failToPass: readonly string[],
  script: boolean,
): Finding | undefined {
  if (failToPass.length === 0) return undefined;
  let byTests = 0;
  let byImport = 0;
  for (const { lines, candidate, others } of sides) {
    for (const line of lines) {
      const at = (counts: LineCounts) => counts.get(line.path)?.get(line.line);
      const mine = at(candidate);
      const theirs = others.flatMap((counts) => at(counts) ?? []);
      const tests = [...(mine?.byTest ?? [])].flatMap(([test, n]) => (n > 0 ? [test] : []));
      if (failToPass.some((test) => tests.some((by) => isOf(by, test)))) return undefined;
      const ranInTests = tests.length > 0 || theirs.some(({ byTest }) => sum(byTest) > 0);
      if (ranInTests) byTests += 1;
      else if ((mine?.shared ?? 0) > 0 || theirs.some((each) => total(each) > 0)) byImport += 1;
      const most = script ? 0 : Math.max(0, ...theirs.map(({ shared }) => shared));
      if (ranInTests && (mine?.shared ?? 0) > most) return undefined;
    }
  }
  if (byTests === 0) return undefined;
  const named = failToPass.slice(0, 5).map(quotedCode).join(', ');
  const more = failToPass.length > 5 ? `, and ${failToPass.length - 5} more` : '';
  return finding('no changed line ran', [
    failToPass.length === 1
      ? `The only F→P test executed none of the ${byTests} executable changed lines: ${named}`
      : `None of the ${failToPass.length} F→P tests executed any of the ${byTests} executable changed lines: ${named}${more}`,
    ...(byImport === 0
      ? []
      : [
          `Changed lines that run only during import or collection, so no test accounts for them: ${byImport}`,
        ]),
  ]);
}

/** Whether a line ran in this test, or in the set-up of the class or file that holds the test. */
const isOf = (by: string, test: string): boolean =>
  by === test || (isScope(by) && test.startsWith(by));

function sum(counts: ReadonlyMap<string, number>): number {
  let all = 0;
  for (const count of counts.values()) all += count;
  return all;
}
