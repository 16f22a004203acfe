import type { RunEntry } from '../study/entry';

type Numbered = Pick<RunEntry, 'instance' | 'model' | 'sample'>;

/**
 * Entries of a saved run in which `sample` is always the number of a sample. In older predictions
 * it is the number of the answer that their method chose, which would split one method into several
 * samples. The entries of a model have such numbers if the numbers differ and no instance has two
 * entries. With real samples, every instance would have the first one. Such entries become sample
 * 1.
 *
 * @param most number of candidates if each model has one for each instance. A run with more has
 *   real samples, of which an unfinished run may lack the first ones
 * @param candidates number of candidates of the run, finished or not
 */
export function withoutAnswerNumbers<Entry extends Numbered>(
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
