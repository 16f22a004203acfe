import type { CandidateFormat } from '../prompts';
import type { AnswerStep, ForeseenRequest, Steps } from '../steps';

/** Tokens on which the sizes of requests depend. */
export interface RequestSizes {
  readonly issueTokens: number;
  /** Most tokens of a prompt with code of R. */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
}

/**
 * Requests of one kind that a method makes on one instance. What is known without R is an estimate
 * for a person who chooses; what is foreseen with R is for a dry run.
 */
export type DeclaredRequests = ForeseeableRequests | FollowingRequests;

interface RequestsOfStage {
  /** What they are for, in a word or two. */
  readonly stage: string;
  readonly count: number;
  /** How many a run usually needs, where that is fewer. */
  readonly usual?: number;
  /** Whether answers decide how many of them are needed, up to `count`. */
  readonly isAtMost?: true;
  /** Whether they go to the embedding model: texts, which have no answers. */
  readonly isEmbedding?: true;
  /** Tokens of the prompt of each, without a look at R. */
  readonly inputTokens: number;
  /** Tokens of the answer of each. */
  readonly outputTokens: number;
}

/** Requests of which each is known, or bounded, before anything is asked. */
export interface ForeseeableRequests extends RequestsOfStage {
  /**
   * What one of them has: its prompt where that depends on R and the issue alone, else a bound.
   * Undefined where it is not needed.
   */
  foresee(steps: Steps, sample: number): Promise<ForeseenRequest | undefined>;
}

/**
 * Requests that follow from what answers and runs say. A dry run replays the trace to see how many of
 * them are answered, and bounds the others.
 */
export interface FollowingRequests extends RequestsOfStage {
  /** What their answers are for, by which a replay counts them. */
  readonly follows: readonly AnswerStep['purpose'][];
}

/** Whether some of the requests go to the embedding model. */
export const asksForVectors = (declared: readonly DeclaredRequests[]): boolean =>
  declared.some(({ isEmbedding }) => isEmbedding === true);

/** The requests for candidates, with prompts of the files that fit the issue best. */
export const candidateRequests = (
  {
    samples,
    ...asked
  }: {
    readonly format: CandidateFormat;
    readonly samples: number;
    readonly temperature: number | undefined;
  },
  { contextTokens, maxOutputTokens }: RequestSizes,
): ForeseeableRequests => ({
  ...{ stage: 'candidates', count: samples },
  ...{ inputTokens: contextTokens, outputTokens: maxOutputTokens },
  foresee: (steps, sample) => steps.foresee({ ...asked, sample }),
});
