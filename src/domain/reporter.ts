/**
 * Where work below the entry points tells how far it is. The command line writes it to stderr, the
 * editor to its output channel and progress notifications.
 */
export interface Reporter {
  /** One line for a log. */
  log(line: string): void;
  /** What is being done now, short. */
  progress(step: string): void;
}

export const silent: Reporter = { log: () => undefined, progress: () => undefined };
