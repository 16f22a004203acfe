import type { ChangeCoverage } from '../domain/changeCoverage';
import { shortFindings, shortTrajectoryFindings } from '../domain/finding';
import type { HarnessReport } from '../domain/harness';
import type { Prediction } from '../domain/instance';
import { asLabel } from '../domain/text';
import { killedOf, survivorsOf } from '../mutation/mutant';
import type { MutantResults } from '../mutation/mutantSchema';
import type { EntryReason, NotEvaluatedReason } from '../domain/verdict';
import { nothingKnown, type DeltaFraction, type RunEntry } from '../study/entry';
import type { Environment } from '../engine/engine';
import type { CandidateResult } from '../evaluation/candidateResult';

/** A prediction that has a grade. */
export interface GradedEntry {
  readonly prediction: Prediction;
  readonly result: CandidateResult;
  /** The environment of its tests. */
  readonly environment?: Environment;
  /**
   * Edited files outside tests, set where the candidate succeeds without these edits but not with
   * them.
   */
  readonly spoiledBy?: readonly string[];
  /** Absent where no mutant was tried. */
  readonly mutants?: MutantResults;
  /** Wall clock time of its evaluation. */
  readonly seconds?: number;
}

/** A prediction that could not be graded. */
interface UngradedEntry {
  readonly prediction: Prediction;
  /** Why, for the user. */
  readonly failure: string;
  /** `internal error` when absent. */
  readonly why?: NotEvaluatedReason;
  readonly seconds?: number;
}

/** The result of one prediction: a grade, or why there is none. */
export type BatchEntry = GradedEntry | UngradedEntry;

const longestExplanation = 500;

/**
 * The entry that studies read, with one reason. It is the reason of the strict verdict, except
 * where edits outside tests prevent success, or where there is no verdict.
 */
export function entryOf(entry: BatchEntry): RunEntry {
  const { prediction, seconds = 0 } = entry;
  const { trajectoryFindings } = prediction;
  const common = {
    instance: prediction.instanceId,
    model: prediction.model,
    sample: prediction.sample ?? 1,
    seconds: Math.round(seconds * 1000) / 1000,
    ...(prediction.cost === undefined ? {} : { cost: prediction.cost }),
    ...(prediction.oracle === true && { oracle: true as const }),
    ...(trajectoryFindings !== undefined && {
      trajectoryFindings: shortTrajectoryFindings(trajectoryFindings),
    }),
  };
  if (!('result' in entry)) {
    return {
      ...common,
      reason: entry.why ?? 'internal error',
      explanation: shortened(entry.failure),
      ...nothingKnown,
    };
  }
  const { result, spoiledBy, mutants } = entry;
  const { strict } = result;
  const reason: EntryReason = spoiledBy === undefined ? strict.reason : 'edits outside tests';
  const explanation =
    spoiledBy === undefined
      ? strict.explanation
      : `${strict.reason} (${strict.explanation}); it would succeed without its changes to ${spoiledBy.join(', ')}`;
  // What made it may have ended too soon.
  const ending = reason !== 'success' && prediction.failure !== undefined ? prediction.failure : '';
  const delta = fractionOf(result.changeCoverage);
  const goldenDelta = fractionOf(result.goldenCoverage);
  const harness = harnessOf(result.harness);
  return {
    ...common,
    reason,
    explanation: shortened(
      ending === '' ? explanation : `${explanation}; its agent failed: ${asLabel(ending)}`,
    ),
    evaluated: true,
    wellFormed: strict.wellFormed,
    success: strict.success,
    failToPass: strict.failToPass.length,
    failToFail: strict.failToFail.length,
    passToPass: strict.passToPass.length,
    passToFail: strict.passToFail.length,
    failToAny: strict.failToAny.length,
    anyToFail: strict.anyToFail.length,
    ...(delta === undefined ? {} : { delta }),
    ...(goldenDelta === undefined ? {} : { goldenDelta }),
    ...(mutants === undefined ? {} : mutantFigures(mutants.tested)),
    ...(harness === undefined ? {} : { harness }),
    ...(result.difference === undefined ? {} : { difference: result.difference }),
    findings: shortFindings(result.findings),
  };
}

/** What entries keep of the mutants that a candidate was tried on. */
export function mutantFigures(
  tested: Parameters<typeof survivorsOf>[0],
): Pick<RunEntry, 'mutants' | 'survivors'> {
  const survivors = survivorsOf(tested);
  return { mutants: killedOf(tested), ...(survivors.length > 0 && { survivors }) };
}

function fractionOf(coverage: ChangeCoverage | undefined): DeltaFraction | undefined {
  if (coverage === undefined) return undefined;
  return { covered: coverage.covered, executable: coverage.executable };
}

/** Undefined where harness grading is not available, since its keys cannot express that. */
function harnessOf(harness: HarnessReport): RunEntry['harness'] {
  if (harness.patch_successfully_applied && harness.tests_pred === undefined) return undefined;
  return {
    resolved: harness.resolved,
    addedFailToPass: harness.added_f2p ?? 0,
    coverage: harness.coverage_pred,
    coverageDelta: harness.coverage_delta_pred,
  };
}

function shortened(text: string): string {
  return text.length > longestExplanation ? `${text.slice(0, longestExplanation - 1)}…` : text;
}
