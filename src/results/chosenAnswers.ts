import type { RunEntry } from '../domain/study/entry';

type Numbered = Pick<RunEntry, 'instance' | 'model' | 'sample'>;

/**
 * Entries of a saved run, each model's in one meaning of `sample`. Predictions once had the number of the
 * answer that their method chose there, so that one method fell apart into several samples. A model has such
 * numbers where they differ and no instance has two: of real samples, every instance has the first.
 *
 * @param most how many candidates the run can have if each model has one for each instance; above that,
 *   there are real samples, of which an unfinished run may lack the first ones
 * @param candidates how many the run has, finished or not
 */
export function inOneMeaning<Entry extends Numbered>(
  entries: readonly Entry[],
  { most, candidates }: { readonly most: number; readonly candidates: number },
): readonly Entry[] {
  if (entries.length < candidates && candidates > most) return entries;
  const models = new Map<string, Entry[]>();
  for (const entry of entries) {
    const mine = models.get(entry.model);
    if (mine === undefined) models.set(entry.model, [entry]);
    else mine.push(entry);
  }
  const choices = new Set(
    [...models].flatMap(([model, mine]) => (areChoices(mine) ? [model] : [])),
  );
  return choices.size === 0
    ? entries
    : entries.map((entry) => (choices.has(entry.model) ? { ...entry, sample: 1 } : entry));
}

const areChoices = (entries: readonly Numbered[]): boolean =>
  new Set(entries.map((each) => each.sample)).size > 1 &&
  new Set(entries.map((each) => each.instance)).size === entries.length;
