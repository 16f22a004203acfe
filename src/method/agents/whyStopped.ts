import type { CommandResult } from '../../engine/engine';

/** Why a command did not end on its own, in words for a model; undefined when it did. */
export function whyStopped(result: CommandResult, seconds: number): string | undefined {
  switch (result.ending) {
    case 'exited':
      return undefined;
    case 'timed out':
      return `The command was stopped after ${seconds} seconds. Run something shorter, or run it in the background.`;
    case 'shell ended':
      return 'The command ended the shell. A new shell has been started in the same folder; variables are lost.';
    case 'too much output':
      return 'The command was stopped because its output was too long.';
    case 'too many processes':
      return 'The command was stopped because it started too many processes.';
    case 'disk full':
      return 'The command was stopped because the disk is full.';
    case 'out of memory':
      return 'The command was stopped because it ran out of memory.';
    case 'cancelled':
    case 'not started':
      return 'The command could not be run.';
  }
}
