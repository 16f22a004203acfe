/** What one test did, as far as filtering asks; a skipped one says nothing. */
export type TestStanding = 'passes' | 'fails' | 'neither';

/** Standings of the candidate's tests in one run, by name; a test that did not come up is absent. */
export type Standings = Readonly<Record<string, TestStanding>>;

/** A code patch that was proposed for an instance. */
export interface ProposedRepair {
  /** Name for people: of the method, with the number of its sample. */
  readonly name: string;
  /** Whether it resolves the issue by the golden tests; absent where that is not known. */
  readonly resolved?: boolean;
  /** The candidate's tests on R with this patch; absent where they could not be run. */
  readonly standings?: Standings;
  /**
   * The same tests on R by the names that they have here, such as those of the cases of a test that could
   * not be collected on R; absent: as for the instance.
   */
  readonly base?: Standings;
  /** Why they could not. Untrusted. */
  readonly failure?: string;
}

export interface InstanceRepairs {
  readonly instance: string;
  /** The candidate's tests on R; absent where they could not be run. */
  readonly base?: Standings;
  /** Why they could not. Untrusted. */
  readonly failure?: string;
  readonly repairs: readonly ProposedRepair[];
}

/** Why a patch is kept, or not; the first that holds. */
export const filterReasons = [
  'kept',
  'no tests',
  'no test fails on R',
  'tests could not run on the patch',
  'a test still fails',
  'a test fails that passed on R',
] as const;
export type FilterReason = (typeof filterReasons)[number];

export interface FilteredRepair {
  readonly instance: string;
  readonly name: string;
  readonly reason: FilterReason;
  /** The test that decided, or what hindered. Untrusted. */
  readonly detail?: string;
  readonly resolved?: boolean;
}

/** How well the tests tell right patches from wrong ones. Patches of unknown correctness are left out. */
export interface FilterQuality {
  /** Patches whose correctness is known. */
  readonly known: number;
  readonly right: number;
  readonly kept: number;
  readonly keptRight: number;
  /** `keptRight / kept`; undefined where none is kept. */
  readonly precision: number | undefined;
  /** `keptRight / right`; undefined where none is right. */
  readonly recall: number | undefined;
  /** `right / known`: precision without the filter. */
  readonly precisionBefore: number | undefined;
}

export interface FilteredRepairs {
  readonly repairs: readonly FilteredRepair[];
  readonly quality: FilterQuality;
}

/**
 * Filters code patches with generated tests (section 5.3 of the paper): a patch is kept where, from R to R
 * with the patch, at least one test goes from failing to passing and all the others do so too or pass on
 * both. A test that is gone on the patch counts as failing there.
 */
export function filterRepairs(instances: readonly InstanceRepairs[]): FilteredRepairs {
  const repairs = instances.flatMap((of) =>
    of.repairs.map((repair): FilteredRepair => ({
      instance: of.instance,
      name: repair.name,
      ...decide(of, repair),
      ...(repair.resolved === undefined ? {} : { resolved: repair.resolved }),
    })),
  );
  const known = repairs.filter((repair) => repair.resolved !== undefined);
  const right = known.filter((repair) => repair.resolved === true);
  const kept = known.filter((repair) => repair.reason === 'kept');
  const keptRight = kept.filter((repair) => repair.resolved === true);
  const share = (count: number, of: number): number | undefined =>
    of === 0 ? undefined : count / of;
  return {
    repairs,
    quality: {
      known: known.length,
      right: right.length,
      kept: kept.length,
      keptRight: keptRight.length,
      precision: share(keptRight.length, kept.length),
      recall: share(keptRight.length, right.length),
      precisionBefore: share(right.length, known.length),
    },
  };
}

function decide(
  { base: ofInstance, failure }: InstanceRepairs,
  repair: ProposedRepair,
): Pick<FilteredRepair, 'reason' | 'detail'> {
  const because = (
    reason: FilterReason,
    detail?: string,
  ): Pick<FilteredRepair, 'reason' | 'detail'> => ({
    reason,
    ...(detail === undefined ? {} : { detail }),
  });
  if (ofInstance === undefined) return because('no tests', failure);
  const base = repair.base ?? ofInstance;
  const failing = Object.entries(base).filter(([, standing]) => standing === 'fails');
  if (failing.length === 0) return because('no test fails on R');
  const { standings } = repair;
  if (standings === undefined) return because('tests could not run on the patch', repair.failure);
  const still = failing.find(([test]) => standings[test] !== 'passes');
  if (still !== undefined) return because('a test still fails', still[0]);
  const broken = Object.entries(base).find(
    ([test, standing]) => standing === 'passes' && (standings[test] ?? 'fails') === 'fails',
  );
  if (broken !== undefined) return because('a test fails that passed on R', broken[0]);
  const fresh = Object.entries(standings).find(
    ([test, standing]) => standing === 'fails' && base[test] === undefined,
  );
  if (fresh !== undefined) return because('a test still fails', fresh[0]);
  return because('kept');
}
