/**
 * Receives the progress of work below the entry points. The command line writes it to stderr, the
 * editor to its output channel and progress notifications.
 */
export interface Reporter {
  /** One line for a log. */
  log(line: string): void;
  /** The current step, in a few words. */
  progress(step: string): void;
}

export const silent: Reporter = { log: () => undefined, progress: () => undefined };
