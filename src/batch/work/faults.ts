import { NetworkTrouble } from '../../dataset/network';
import { Cancelled, HumanError, messageOf } from '../../domain/work';
import type { NotEvaluatedReason } from '../../domain/verdict';
import { systemFault } from '../../files/systemFault';
import { EngineFault } from '../../engine/engine';
import { GitError, RepositoryUnreachable } from '../../repository/git';
import { GoldenPatchUnfit } from '../../repository/trees';

/**
 * The only faults after which the same work is retried. The engine, or a network resource that it
 * needs, was out of reach or answered with a temporary status (429, 5xx). It may soon be back.
 * Anything that tests did, a limit they exceeded, a full disk, a missing image or commit, and
 * faults of this program would only recur.
 */
const infrastructureFaults = [EngineFault, RepositoryUnreachable, NetworkTrouble] as const;

/** Whether the work that ended with this error is worth a retry. */
export const isInfrastructureFault = (error: unknown): boolean =>
  infrastructureFaults.some((kind) => error instanceof kind);

/** The stage that the work on a candidate had reached. */
export type Stage = 'source' | 'environment';

/**
 * What an error means for the candidate whose evaluation it ended. The caller handles its own
 * cancellations first: an engine that reports one on its own has failed.
 */
export function failureOf(
  error: unknown,
  stage: Stage,
): { readonly why: NotEvaluatedReason; readonly failure: string } {
  if (error instanceof Cancelled) {
    return { why: 'environment failed', failure: 'the engine cancelled the work' };
  }
  if (error instanceof GoldenPatchUnfit) {
    return { why: 'instance cannot be used', failure: error.message };
  }
  const known = systemFault(error) ?? error;
  const isKnown =
    known instanceof HumanError || known instanceof GitError || known instanceof NetworkTrouble;
  if (!isKnown) return { why: 'internal error', failure: `internal error: ${messageOf(error)}` };
  return {
    why: stage === 'source' ? 'source not available' : 'environment failed',
    failure: known.message,
  };
}
