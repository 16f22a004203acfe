import type { MethodCandidate, MethodResult } from '../method';

/**
 * Ranks code patches by majority: those that most samples agree on to the byte come first, and of
 * two with as many votes the earlier sample. Patches that do not apply are not ranked.
 *
 * @param candidates in the order of their samples
 */
export function rankRepairs(candidates: readonly MethodCandidate[]): MethodResult {
  const groups = new Map<string, MethodCandidate[]>();
  for (const candidate of candidates) {
    const { applies, patch } = candidate.patch;
    if (!applies) continue;
    const group = groups.get(patch);
    if (group === undefined) groups.set(patch, [candidate]);
    else group.push(candidate);
  }
  // Sorting is stable, and a group stands where its first sample does.
  const ranked = [...groups.values()]
    .sort((one, other) => other.length - one.length)
    .flatMap((group) => group.map((candidate) => ({ candidate, votes: group.length })))
    .map(({ candidate, votes }, at) => ({ ...candidate, ranking: { rank: at + 1, votes } }));
  const [chosen] = ranked;
  const left = candidates.filter(({ patch }) => !patch.applies);
  const why =
    chosen === undefined
      ? `none of the ${candidates.length} patches applies to R`
      : `${chosen.ranking.votes} of ${candidates.length} patches agree, ${left.length} do not apply`;
  return { candidates: [...ranked, ...left], chosen, why };
}
