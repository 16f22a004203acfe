import type { TestTransition } from '../domain/transition';
import type { CandidateResult } from '../evaluation/candidate';
import type { FirstResult } from '../evaluation/firstResult';

/** A verdict, and exactly what it is about. */
export interface Evaluated {
  readonly result: CandidateResult;
  /** Digest of the candidate's patch at the time. */
  readonly digest: string;
  /** Text of every test of the touched files in that patch, by the test's id. */
  readonly texts: ReadonlyMap<string, string>;
  /** When the verdict was known. */
  readonly evaluatedAt: Date;
  /** From the request (the save, in a continuous run) to the verdict, waiting and preparing included. */
  readonly milliseconds: number;
  /** End of the complete run that outcomes were kept from, where `result.affected` is set. */
  readonly keptFrom?: Date | undefined;
  /** Read back after a reload: what it ran in need not be what runs now. */
  readonly restored?: boolean | undefined;
}

/** What the candidate's own tests did, before the whole files have run and the grade is known. */
export interface Preliminary {
  readonly first: FirstResult;
  readonly texts: ReadonlyMap<string, string>;
}

/** The cases of one test function, and the text of the test that they are about. */
export interface KnownCases {
  readonly cases: readonly TestTransition[];
  readonly text: string | undefined;
}

/** The same cases under another name of their test. */
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
