import { plural } from '../../domain/text';
import { rankPatches } from '../../domain/ranking';
import type { MethodCandidate, RepairRanking } from '../method';
import type { Steps } from '../steps/steps';
import {
  regressionTests,
  defaultRegression,
  type RegressionSettings,
} from './testing/regressionTests';
import { runRepairs, type TestedPatch } from './testing/repairRuns';
import {
  reproductionTests,
  defaultReproduction,
  type ReproductionSettings,
} from './testing/reproductionTests';

/** Which tests decide between code patches. */
export type RankingSettings = RegressionSettings & ReproductionSettings;

export const defaultRanking: RankingSettings = { ...defaultRegression, ...defaultReproduction };

/** Code patches in their order. */
interface RankedRepairs {
  /** Best first. Those that do not apply come last and have no ranking. */
  readonly candidates: readonly MethodCandidate[];
  /** One sentence: why the first is chosen. */
  readonly why: string;
}

/**
 * Ranks code patches by tests that run on R with them: the fewest regression tests that fail, then a
 * reproduction script that says `Issue resolved`, then the most samples of the same patch, then the
 * earlier sample.
 *
 * @param suspicious paths of the files that a solution may change, whose tests are the regression
 *   tests
 */
export async function rankRepairs(
  steps: Steps,
  candidates: readonly MethodCandidate[],
  suspicious: readonly string[],
  settings: RankingSettings = defaultRanking,
): Promise<RankedRepairs> {
  const applying = candidates.filter(({ patch }) => patch.applies && patch.patch !== '');
  const others = candidates.filter((each) => !applying.includes(each));
  if (applying.length === 0) return { candidates: others, why: 'no answer is a code patch on R' };
  const regression = await regressionTests(steps, suspicious, settings);
  const { ranked } = await reproductionTests(steps, settings);
  const runs = await runRepairs(
    steps,
    applying.map(({ patch }) => patch.patch),
    { regression, script: ranked[0]?.script },
  );
  const places = rankingsOf(runs.map((run, at) => ({ ...run, sample: applying[at]?.sample ?? 0 })));
  const inOrder = applying
    .map((candidate, at) => ({ ...candidate, ranking: places[at] as RepairRanking }))
    .sort((one, other) => one.ranking.rank - other.ranking.rank);
  const reason = whyFirst(
    inOrder.map(({ ranking }) => ranking),
    candidates.length,
  );
  const { leftOut } = regression;
  const limit = leftOut === 0 ? '' : `; ${plural(leftOut, 'further test file')} did not run`;
  return { candidates: [...inOrder, ...others], why: `${reason}${limit}` };
}

/** The ranking of each of some code patches, in their order. */
export function rankingsOf(
  runs: readonly (TestedPatch & { readonly sample: number })[],
): RepairRanking[] {
  const places = rankPatches(
    runs.map(({ digest: same, regressions, ...run }) => ({
      ...{ ...run, same },
      regressions: regressions?.length,
    })),
  );
  return places.map((place, at) => {
    const { regressions, reproduction } = runs[at] ?? {};
    return {
      ...place,
      ...(regressions !== undefined && { regressions }),
      ...(reproduction !== undefined && { reproduction }),
    };
  });
}

/** Why the first of ranked patches is the first. */
function whyFirst(ranked: readonly RepairRanking[], samples: number): string {
  const [first] = ranked;
  if (first === undefined) return 'no answer is a code patch on R';
  const { regressions, reproduction, votes } = first;
  const reasons = [
    ...(regressions === undefined
      ? []
      : regressions.length === 0
        ? ['breaks no regression test']
        : [`breaks the fewest regression tests (${regressions.length})`]),
    ...(reproduction === undefined
      ? []
      : [`the reproduction script prints ${JSON.stringify(reproduction)}`]),
    `${votes} of ${plural(samples, 'sample')} ${votes === 1 ? 'equals' : 'equal'} this patch`,
  ];
  return reasons.join('; ');
}
