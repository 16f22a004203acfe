import { NetworkTrouble } from '../dataset/download/network';
import { Cancelled, HumanError, messageOf } from '../domain/humanError';
import type { NotEvaluatedReason } from '../domain/reason';
import { EngineGone, EngineTrouble } from '../engine/docker/connection/engineProblem';
import { RegistryBusy, RegistryUnreachable } from '../engine/docker/images/pull/pullProblem';
import { SandboxUnusable } from '../engine/engine';
import { GitError } from '../repository/git/git';
import { GoldenPatchUnfit } from '../repository/golden';
import { RepositoryUnreachable } from '../repository/git/unreachable';

/**
 * The faults after which the same thing is tried once more, and the only ones: what runs tests, or what
 * it needs from the network, was out of reach or answered with a status that passes (429, 5xx), and may
 * be back in a moment. Not among them: anything that tests did, a limit they ran into, a full disk, an image or commit that does not exist, and
 * faults of this program, which would only happen again.
 */
const infrastructureFaults = [
  EngineGone,
  EngineTrouble,
  SandboxUnusable,
  RegistryUnreachable,
  RegistryBusy,
  RepositoryUnreachable,
  NetworkTrouble,
] as const;

/** Whether it is worth trying again what ended with this error. */
export const isInfrastructureFault = (error: unknown): boolean =>
  infrastructureFaults.some((kind) => error instanceof kind);

/** How far the work on a candidate had come. */
export type Stage = 'source' | 'environment';

/**
 * What an error means for the candidate whose evaluation it ended. Not for what the caller cancelled: an
 * engine that says so by itself has failed.
 */
export function failureOf(
  error: unknown,
  stage: Stage,
): { readonly why: NotEvaluatedReason; readonly failure: string } {
  if (error instanceof Cancelled) {
    return { why: 'environment failed', failure: 'the engine broke it off' };
  }
  if (error instanceof GoldenPatchUnfit) {
    return { why: 'instance cannot be used', failure: error.message };
  }
  const isKnown =
    error instanceof HumanError || error instanceof GitError || error instanceof NetworkTrouble;
  if (!isKnown) return { why: 'internal error', failure: `internal error: ${messageOf(error)}` };
  return {
    why: stage === 'source' ? 'source not available' : 'environment failed',
    failure: error.message,
  };
}
