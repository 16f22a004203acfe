import type { TestTransition } from '../../domain/transition';
import type { CandidateResult } from '../../evaluation/candidateResult';
import type { FirstResult } from '../../evaluation/firstResult';

/** What a test said, and what it depended on in its file. */
export interface TestSource {
  readonly text: string;
  /** Digest of what the test uses of its file; undefined when Python could not read the file. */
  readonly basis: string | undefined;
}

/** A verdict, and exactly what it is about. */
export interface Evaluated {
  readonly result: CandidateResult;
  /** Digest of the candidate's patch at the time. */
  readonly digest: string;
  /** Every test of the touched files as that patch has it, by the test's id. */
  readonly texts: ReadonlyMap<string, TestSource>;
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
  readonly texts: ReadonlyMap<string, TestSource>;
}

/** The cases of one test function, and the test that they are about as it was then. */
export interface KnownCases {
  readonly cases: readonly TestTransition[];
  readonly source: TestSource | undefined;
}

/**
 * Whether what is known of a test is about the test as it is now, with all of its file that it uses. While
 * Python cannot read the file, as often while somebody types, the test's own text decides.
 */
export function isFresh({ source }: KnownCases, now: TestSource): boolean {
  if (source?.text !== now.text) return false;
  return now.basis === undefined || now.basis === source.basis;
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
