import type { Command } from 'commander';
import type { Prediction } from '../domain/instance';
import type { Reporter } from '../domain/work';
import type { CommandContext } from './context';
import type { EvaluateOptions, EvaluationInput } from './evaluating/evaluationInput';

/** What `evaluate` can do beyond the core, loaded on first use. */
interface Satellites {
  /** `evaluate --kind repair`. */
  evaluateRepairs(
    options: EvaluateOptions,
    context: CommandContext,
    readInput: () => Promise<EvaluationInput>,
  ): Promise<number>;
  /** Predictions with what looks like cheating in the trajectories beside them. */
  withTrajectoryFindings(
    predictions: readonly Prediction[],
    origins: readonly (string | undefined)[],
    options: {
      readonly redact: (text: string) => string;
      readonly signal: AbortSignal;
      readonly reporter: Reporter;
    },
  ): Promise<Prediction[]>;
}

/** What the program hands to its commands. */
export interface ProgramContext extends CommandContext {
  readonly satellites: Satellites;
}

/**
 * Gives a command its options, help text and action.
 *
 * @param finish takes the exit status of the action
 */
export type RegisterCommand = (
  command: Command,
  context: ProgramContext,
  finish: (status: number) => void,
) => void;
