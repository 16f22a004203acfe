import type { Verdict } from '../../../../src/domain/verdict';
import type { CandidateResult } from '../../../../src/evaluation/candidateResult';
import type { FirstResult } from '../../../../src/evaluation/firstResult';
import type { Evaluated } from '../../../../src/editor/verdict/evaluated';
import type { ShownVerdict } from '../../../../src/editor/verdict/verdictSentences';
import { candidateResult } from '../../evaluation/examples';

/** The strict grade of `candidateResult`, a success with one F→P, with a test's changes. */
export const strictGrade = (more: Partial<Verdict> = {}): Verdict => ({
  ...candidateResult().strict,
  ...more,
});

/** A current verdict, given at half past two after 2.34 s, in a window where nothing was revealed. */
export function shown(
  result: Partial<CandidateResult> = {},
  more: Partial<Omit<ShownVerdict, 'evaluated'>> & {
    readonly evaluated?: Partial<Evaluated>;
  } = {},
): ShownVerdict {
  return {
    current: true,
    environment: undefined,
    inContainers: false,
    revealed: false,
    wasRevealed: false,
    language: 'en-GB',
    ...more,
    evaluated: {
      result: candidateResult({ notes: [], ...result }),
      digest: 'd1',
      texts: new Map(),
      evaluatedAt: new Date(2026, 0, 2, 14, 30),
      milliseconds: 2340,
      ...more.evaluated,
    },
  };
}

/** What the own tests of `candidateResult` did, while the whole files run. */
export function firstResult(more: Partial<FirstResult> = {}): FirstResult {
  const { instance, model, patch, ownTests, tests } = candidateResult();
  return {
    ...{ instance, model, patch, ownTests, tests },
    preliminary: true,
    changeCoverage: undefined,
    runs: {},
    notSeen: [],
    strict: strictGrade(),
    problem: undefined,
    whole: false,
    ...more,
  };
}
