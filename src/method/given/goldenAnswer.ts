import type { Instance } from '../../domain/instance';
import { sha256OfJson } from '../../files/digest';
import { testFilesOf } from '../../patch/testFiles';
import { parseUnified } from '../../patch/parseUnified';

/**
 * The labelled exception of Table 5 to the rule that no method knows the answer, beside the oracle
 * of Pass@k. Only a method that `givenMethod` made with `--oracle` gets one. `ModelView` has nothing
 * of it.
 */
export interface GoldenAnswer {
  /** X*. */
  readonly patch: string;
  /** Paths of the test files of T*; R need not have them. */
  readonly testFiles: readonly string[];
  /** Digest of X* and T*, for the keys of steps that depend on them. */
  readonly digest: string;
}

export function goldenAnswerOf({
  goldenPatch,
  goldenTests,
}: Pick<Instance, 'goldenPatch' | 'goldenTests'>): GoldenAnswer {
  return {
    patch: goldenPatch,
    testFiles: testFilesOf(parseUnified(goldenTests)),
    digest: sha256OfJson([goldenPatch, goldenTests]),
  };
}
