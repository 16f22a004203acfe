import type { ChangeCoverage, CoveredLine } from '../../domain/changeCoverage';
import type { Side } from '../../domain/outcome';
import type { LatestVerdict, Revealing } from '../instance/instanceRoles';

/** Lines of one side by path, ordered by number. */
export type LinesOfSide = ReadonlyMap<string, readonly CoveredLine[]>;

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
