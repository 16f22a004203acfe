import type { MutantResults } from '../../mutation/mutantSchema';
import type { TestTransition } from '../../domain/outcome';
import type { CandidateResult } from '../../evaluation/candidateResult';
import type { FirstResult } from '../../evaluation/firstResult';
import type { HintContext } from '../testing/testHints';

/** The text of a test, and what it depends on in its file. */
export interface TestSource {
  readonly text: string;
  /** Digest of what the test uses of its file; undefined when Python could not read the file. */
  readonly basis: string | undefined;
}

/** A verdict, with exactly what it is about. */
export interface Evaluated {
  readonly result: CandidateResult;
  /** Digest of the candidate's patch when it was graded. */
  readonly digest: string;
  /** Every test of the touched files as that patch leaves it, by the test's id. */
  readonly texts: ReadonlyMap<string, TestSource>;
  /** Time when the verdict was complete. */
  readonly evaluatedAt: Date;
  /**
   * Time from the request (the save, in a continuous run) to the verdict, including waiting and
   * preparation.
   */
  readonly milliseconds: number;
  /** End of the complete run whose outcomes were reused; set when `result.affected` is set. */
  readonly reusedFrom?: Date | undefined;
  /**
   * Digest of the environment that the tests ran in; absent for a verdict that an earlier version
   * of the extension kept.
   */
  readonly environment?: string | undefined;
  /** What the candidate does with mutants; absent until that is asked for. */
  readonly mutants?: MutantResults | undefined;
  /** Whether a run of the same candidate before it had the same results. */
  readonly asBefore?: boolean | undefined;
  /** Set when another window wrote it, or this one before a reload: the environment may differ. */
  readonly restored?: 'before the reload' | 'in another window' | undefined;
}

/** Whether a stored verdict says more than the one that a window shows. */
export function isNewer(
  stored: Pick<Evaluated, 'evaluatedAt' | 'mutants'>,
  shown: Pick<Evaluated, 'evaluatedAt' | 'mutants'> | undefined,
): boolean {
  if (shown === undefined) return true;
  const later = stored.evaluatedAt.getTime() - shown.evaluatedAt.getTime();
  return later > 0 || (later === 0 && stored.mutants !== undefined && shown.mutants === undefined);
}

/** Whether the later of two runs shows nothing new: the same candidate, outcomes and coverage. */
export function isAsBefore(
  before: Pick<Evaluated, 'digest' | 'result'> | undefined,
  after: Pick<Evaluated, 'digest' | 'result'>,
): boolean {
  if (before?.digest !== after.digest) return false;
  const shown = ({ strict, tests, changeCoverage }: CandidateResult): string =>
    JSON.stringify([
      strict.reason,
      tests.map(({ test, base, fixed }) => `${test} ${base.outcome} ${fixed.outcome}`).toSorted(),
      changeCoverage?.lines.map(({ state }) => state),
    ]);
  return shown(before.result) === shown(after.result);
}

/** What the candidate's own tests did, before the whole files have run and the grade is known. */
export interface Preliminary {
  readonly first: FirstResult;
  readonly texts: ReadonlyMap<string, TestSource>;
}

/** The cases of one test function, and the text of the test when they ran. */
export interface KnownCases {
  readonly cases: readonly TestTransition[];
  readonly source: TestSource | undefined;
  /** What else a hint on the test takes into account. */
  readonly about?: HintContext | undefined;
}

/**
 * Whether the cases still fit the test's current text and all that it uses of its file. While
 * Python cannot read the file, as during typing, the test's own text decides.
 */
export function isFresh({ source }: KnownCases, now: TestSource): boolean {
  if (source?.text !== now.text) return false;
  return now.basis === undefined || now.basis === source.basis;
}

/** The same cases for a renamed test. */
export function renamedCases(
  cases: readonly TestTransition[],
  from: string,
  to: string,
): readonly TestTransition[] {
  const renamed = (test: string): string => to + test.slice(from.length);
  return cases.map((each) => ({
    ...each,
    test: renamed(each.test),
    base: { ...each.base, test: renamed(each.base.test) },
    fixed: { ...each.fixed, test: renamed(each.fixed.test) },
  }));
}
