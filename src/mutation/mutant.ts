import type { Mutant, Survivor, TestedMutant } from './mutantSchema';

/**
 * A file of R∘X* with a mutant.
 *
 * @returns undefined where the file does not have the code that the mutant replaces
 */
export function withFault(
  source: string,
  { line, column, before, after }: Pick<Mutant, 'line' | 'column' | 'before' | 'after'>,
): string | undefined {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = source.indexOf('\n', start);
    if (end < 0) return undefined;
    start = end + 1;
  }
  start += column - 1;
  return source.startsWith(before, start)
    ? source.slice(0, start) + after + source.slice(start + before.length)
    : undefined;
}

/** Counts of mutants. The mutation score is `killed / all`, undefined if there is no mutant. */
export interface MutantFraction {
  /** Killed or timed out. */
  readonly killed: number;
  /** Mutants that were tried. */
  readonly all: number;
}

export const isKilled = ({ status }: Pick<TestedMutant, 'status'>): boolean =>
  status === 'killed' || status === 'timed out';

/** The mutation score of a candidate, or of a part of its mutants. */
export const killedOf = (tested: readonly Pick<TestedMutant, 'status'>[]): MutantFraction => ({
  killed: tested.filter(isKilled).length,
  all: tested.length,
});

/** How many mutants are killed by F→P tests alone, without the help of other tests. */
export const killedByReproducing = (
  tested: readonly TestedMutant[],
  failToPass: ReadonlySet<string>,
): number =>
  tested.filter((each) => isKilled(each) && each.killedBy.some((test) => failToPass.has(test)))
    .length;

/** `80 % (12/15)`, or words where that number does not exist. */
export function killedInWords({ killed, all }: MutantFraction): string {
  return all === 0
    ? 'undefined (no mutants)'
    : `${Math.round((100 * killed) / all)} % (${killed}/${all})`;
}

/** Survivors that an entry keeps; `report.json` lists all mutants. */
const mostSurvivors = 50;
const longestCode = 120;

/** The first mutants that a candidate does not kill, with at most a line of their code. */
export const survivorsOf = (
  tested: readonly Omit<TestedMutant, 'killedBy' | 'column'>[],
): readonly Survivor[] =>
  tested
    .flatMap(({ path, line, operator, before, after, status }) =>
      status === 'survived' || status === 'not covered'
        ? [{ path, line, operator, before: oneLine(before), after: oneLine(after), status }]
        : [],
    )
    .slice(0, mostSurvivors);

function oneLine(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > longestCode ? `${line.slice(0, longestCode - 1)}…` : line;
}
