import type { Command } from 'commander';
import type { CommandContext } from './context';

/**
 * Adds one command to the program: its description, options, help text and action.
 *
 * @param finish takes the exit status of the action
 */
export type RegisterCommand = (
  program: Command,
  context: CommandContext,
  finish: (status: number) => void,
) => void;
