import {
  type ChangeCoverage,
  type CoveredLine,
  changeCoverageOf,
} from '../../domain/changeCoverage';
import type { Side } from '../../domain/outcome';
import type { LatestVerdict, Revealing } from '../instance/instanceRoles';
import { reportFileSchema } from '../../results/reportSchema';

/** Lines of one side by path, ordered by number. */
type LinesOfSide = ReadonlyMap<string, readonly CoveredLine[]>;

/**
 * Change coverage of the last verdict. Undefined while the golden patch is hidden, since its lines
 * are those of X*.
 */
export function shownCoverage(open: Revealing & LatestVerdict): ChangeCoverage | undefined {
  return open.revealed ? open.last?.result.changeCoverage : undefined;
}

/** The side of a changed line. */
export const sideOf = ({ change }: CoveredLine): Side => (change === 'removed' ? 'base' : 'fixed');

const indexed = new WeakMap<ChangeCoverage, Readonly<Record<Side, LinesOfSide>>>();

/** Changed lines by side and path, cached for each coverage. */
export function linesBySide(coverage: ChangeCoverage): Readonly<Record<Side, LinesOfSide>> {
  const known = indexed.get(coverage);
  if (known !== undefined) return known;
  const made = { base: new Map<string, CoveredLine[]>(), fixed: new Map<string, CoveredLine[]>() };
  for (const line of coverage.lines) {
    const side = made[sideOf(line)];
    const lines = side.get(line.path);
    if (lines === undefined) side.set(line.path, [line]);
    else lines.push(line);
  }
  for (const side of [made.base, made.fixed]) {
    for (const lines of side.values()) lines.sort((a, b) => a.line - b.line);
  }
  indexed.set(coverage, made);
  return made;
}

/**
 * The change coverage of an instance in a saved report. A report lacks the texts of the lines, which
 * the open documents show anyway.
 *
 * @param text of a `report.json`
 * @returns undefined when the report cannot be read or has no change coverage
 */
export function savedCoverage(text: string, instance: string): ChangeCoverage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const coverage = reportFileSchema.safeParse(value).data?.[instance]?.strict?.change_coverage;
  if (coverage === undefined || coverage === null) return undefined;
  return changeCoverageOf(
    coverage.lines.map((line) => ({
      path: line.path,
      line: line.line,
      change: line.change,
      state: line.state,
      counts: line.counts,
      coveredBy: line.covered_by,
      executions: {},
      text: '',
      ...(line.lost === true && { lost: true as const }),
    })),
  );
}
