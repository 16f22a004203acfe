import * as vscode from 'vscode';
import {
  changeCoverageOf,
  type ChangeCoverage,
  type CoveredLine,
} from '../../domain/changeCoverage';
import { sides } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import { listedUri, sideOfUri } from '../shell/documents';
import type { Revealing } from '../instance/instanceRoles';
import { linesBySide } from './shownCoverage';

/**
 * The coverage that each entry of the view belongs to, so that a later run does not change older
 * entries.
 */
const coverages = new WeakMap<vscode.FileCoverage, ChangeCoverage>();

/**
 * ΔC for VS Code's coverage view: for each file of a side, how many executable changed lines are
 * newly covered. Empty until the golden patch is revealed.
 *
 * @param coverage of the run
 * @param itemOf the row of a test function in the Testing view
 */
export function coverageOfRun(
  open: Revealing,
  coverage: ChangeCoverage | undefined,
  itemOf: (test: string) => vscode.TestItem | undefined,
): vscode.FileCoverage[] {
  if (coverage === undefined || !open.revealed) return [];
  const ofSides = linesBySide(coverage);
  return sides.flatMap((side) =>
    [...ofSides[side]].flatMap(([path, lines]) => {
      const { covered, executable } = changeCoverageOf(lines);
      if (executable === 0) return [];
      const tests = new Set(lines.flatMap((line) => line.coveredBy.map(functionOf)));
      const file = new vscode.FileCoverage(
        listedUri(side, path),
        new vscode.TestCoverageCount(covered, executable),
        undefined,
        undefined,
        [...tests].flatMap((test) => itemOf(test) ?? []),
      );
      coverages.set(file, coverage);
      return [file];
    }),
  );
}

/**
 * The lines of one of these files, for its editor. Without a test, lines that only the base tests
 * run are left out: they are executable, but the candidate does not cover them.
 *
 * @param test id of the test function whose executions to load; undefined for the whole candidate
 */
export function loadDetailedCoverage(
  open: Revealing,
  shown: vscode.FileCoverage,
  test?: string,
): vscode.FileCoverageDetail[] {
  const coverage = open.revealed ? coverages.get(shown) : undefined;
  const file = sideOfUri(shown.uri);
  if (coverage === undefined || file === undefined) return [];
  const lines = linesBySide(coverage)[file.side].get(file.path) ?? [];
  return lines
    .filter(({ state }) => state !== 'not executable')
    .filter(({ state }) => test !== undefined || state !== 'already covered')
    .map((line) => new vscode.StatementCoverage(executionsOf(line, test), rangeOf(line)));
}

function executionsOf(line: CoveredLine, test: string | undefined): number {
  if (test === undefined) return line.state === 'newly covered' ? line.counts.candidate : 0;
  return Object.entries(line.executions)
    .filter(([id]) => functionOf(id) === test)
    .reduce((sum, [, count]) => sum + count, 0);
}

function rangeOf({ line, text }: CoveredLine): vscode.Range {
  const code = text.trimEnd();
  return new vscode.Range(line - 1, code.length - code.trimStart().length, line - 1, code.length);
}
