import type { Command } from 'commander';
import type { MutantRequest } from '../batch/batchRequest';
import type { PredictionFolders } from '../dataset/predictions';
import type { Prediction } from '../domain/instance';
import type { Reporter } from '../domain/work';
import type { CommandContext, TestingContext } from './context';
import type { EvaluateOptions, EvaluationInput } from './evaluating/evaluationInput';

/** What `evaluate` can do beyond the core, loaded on first use. */
interface Satellites {
  /** `evaluate --mutants`. */
  readonly testOnMutants: MutantRequest['test'];
  /** `evaluate --kind repair`. */
  evaluateRepairs(
    options: EvaluateOptions,
    context: ProgramContext,
    readInput: () => Promise<EvaluationInput>,
  ): Promise<number>;
  /** `evaluate --predictions FOLDER`. */
  readonly predictionFolders: PredictionFolders;
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

/** What the program hands to the commands that run tests or read patches. */
export interface ProgramContext extends TestingContext {
  readonly satellites: Satellites;
}

/**
 * Gives a command its options, help text and action.
 *
 * @param finish takes the exit status of the action
 */
export type RegisterCommand<Context = CommandContext> = (
  command: Command,
  context: Context,
  finish: (status: number) => void,
) => void;

/** A command, of which nothing is loaded before it is called. */
export interface CommandEntry {
  readonly name: string;
  /** What the list of commands and its own help say. */
  readonly description: string;
  readonly load: () => Promise<RegisterCommand>;
}
