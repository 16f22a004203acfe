import type { Standing } from '../../domain/outcome';
import type { NotEvaluatedReason } from '../../domain/verdict';

/** Standings of the candidate's tests in one run, by name; a test that did not run is absent. */
export type Standings = Readonly<Record<string, Standing>>;

/** A code patch for an instance, with the results of the candidate's tests on it. */
export interface TestedRepair {
  readonly instance: string;
  /** Name for people: the method, with the number of its sample. */
  readonly name: string;
  /** Whether it resolves the issue by the golden tests; absent if unknown. */
  readonly resolved?: boolean;
  /**
   * The candidate's tests on R; absent if they could not be run. Names are those on the patch, such
   * as the cases of a test that could not be collected on R.
   */
  readonly base?: Standings;
  /** The same tests on R with this patch; absent if they could not be run. */
  readonly standings?: Standings;
  /** Why the tests could not be run. Untrusted. */
  readonly failure?: string;
  /** Why the repair was not evaluated, if neither its patch nor the tests are the cause. */
  readonly hindrance?: NotEvaluatedReason;
}

/** Why a patch is kept or dropped. The first that holds counts. */
export const filterReasons = [
  'kept',
  'not evaluated',
  'no tests',
  'no test fails on R',
  'tests could not run on the patch',
  'a test still fails',
  'a test fails that passed on R',
] as const;
export type FilterReason = (typeof filterReasons)[number];

/** Standings of one of the candidate's tests; `missing` if it did not run. */
interface TestPair {
  readonly test: string;
  readonly base: Standing | 'missing';
  readonly patched: Standing | 'missing';
}

interface FilteredRepair {
  readonly instance: string;
  readonly name: string;
  readonly reason: FilterReason;
  /** The deciding test, or what prevented the evaluation. Untrusted. */
  readonly detail?: string;
  readonly resolved?: boolean;
  /** The candidate's tests, if they ran on R and on the patch. */
  readonly tests?: readonly TestPair[];
}

/**
 * How well the tests distinguish right patches from wrong ones. Patches of unknown correctness, and
 * those that could not be evaluated, are left out.
 */
interface FilterQuality {
  /** Evaluated patches whose correctness is known. */
  readonly known: number;
  readonly right: number;
  readonly kept: number;
  readonly keptRight: number;
  /** `keptRight / kept`; undefined if none is kept. */
  readonly precision: number | undefined;
  /** `keptRight / right`; undefined if none is right. */
  readonly recall: number | undefined;
  /** `right / known`: precision without the filter. */
  readonly precisionBefore: number | undefined;
}

interface FilteredRepairs {
  readonly repairs: readonly FilteredRepair[];
  readonly quality: FilterQuality;
}

/**
 * Filters code patches with generated tests (section 5.3 of the paper). A patch is kept if at least
 * one test goes from failing on R to passing on the patch. Every other test must do so too, or pass
 * on both. A test that disappears on the patch counts as failing there.
 */
export function filterRepairs(tested: readonly TestedRepair[]): FilteredRepairs {
  const repairs = tested.map((repair): FilteredRepair => ({
    instance: repair.instance,
    name: repair.name,
    ...decide(repair),
    ...(repair.resolved === undefined ? {} : { resolved: repair.resolved }),
    ...(repair.base === undefined || repair.standings === undefined
      ? {}
      : { tests: pairs(repair.base, repair.standings) }),
  }));
  const known = repairs.filter(
    ({ resolved, reason }) => resolved !== undefined && reason !== 'not evaluated',
  );
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

const pairs = (base: Standings, patched: Standings): TestPair[] =>
  [...new Set([...Object.keys(base), ...Object.keys(patched)])].map((test) => ({
    test,
    base: base[test] ?? 'missing',
    patched: patched[test] ?? 'missing',
  }));

function decide(repair: TestedRepair): Pick<FilteredRepair, 'reason' | 'detail'> {
  const because = (
    reason: FilterReason,
    detail?: string,
  ): Pick<FilteredRepair, 'reason' | 'detail'> => ({
    reason,
    ...(detail === undefined ? {} : { detail }),
  });
  const { base, standings, failure, hindrance } = repair;
  if (hindrance !== undefined) {
    return because(
      'not evaluated',
      [hindrance, failure].filter((each) => each !== undefined).join(': '),
    );
  }
  if (base === undefined) return because('no tests', failure);
  const failing = Object.entries(base).filter(([, standing]) => standing === 'fails');
  if (failing.length === 0) return because('no test fails on R');
  if (standings === undefined) return because('tests could not run on the patch', failure);
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
