import type { ProgramName, ServiceName } from '../sandbox/services';

/** What to run, and what cannot be run here. */
export interface TestPlan {
  /** Name of the runner: see `runners/runners.ts`. */
  readonly runner: string;
  /** Arguments after the interpreter. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the command, relative to the tree. */
  readonly cwd: string;
  /** Files that the command covers, relative to the tree. */
  readonly files: readonly string[];
  /** Services on the loopback that the tests expect; none where it is absent. */
  readonly services?: readonly ServiceName[];
  /** Programs of the system that tests may run; none where it is absent. */
  readonly programs?: readonly ProgramName[];
  /** Files that cannot be run here, with the reason in words. */
  readonly notRun: readonly { readonly path: string; readonly reason: string }[];
}
