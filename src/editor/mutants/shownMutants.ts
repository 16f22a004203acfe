import type { CoveredLine } from '../../domain/changeCoverage';
import type { MutantResults, TestedMutant } from '../../mutation/mutant';
import type { LatestVerdict, Revealing } from '../instance/instanceRoles';

/**
 * What the last verdict's candidate does with mutants. Undefined while the golden patch is hidden,
 * since mutants are made of its code.
 */
export function shownMutants(
  open: Pick<Revealing & LatestVerdict, 'revealed' | 'last'>,
): MutantResults | undefined {
  return open.revealed ? open.last?.mutants : undefined;
}

/** The mutants that begin in a changed line. */
export const mutantsAt = (
  mutants: MutantResults | undefined,
  { change, path, line }: Pick<CoveredLine, 'change' | 'path' | 'line'>,
): readonly TestedMutant[] =>
  change === 'added'
    ? (mutants?.tested.filter((each) => each.path === path && each.line === line) ?? [])
    : [];
