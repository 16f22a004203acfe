import type { RunRequest } from '../engine';

/** What a run has in common with the one that a process was prepared for. */
interface WarmKey {
  /** Digest of what is installed. */
  readonly environment: string;
  readonly runner: string;
  readonly cwd: string;
  /** The first options of the program. */
  readonly options: readonly string[];
  readonly lines: string;
  /** Test files of the run. */
  readonly tests: readonly string[];
}

export const warmKeyOf = (
  { plan, countLines }: Pick<RunRequest, 'plan' | 'countLines'>,
  environment: string,
): WarmKey => ({
  ...{ environment, runner: plan.runner, cwd: plan.cwd },
  options: plan.args.slice(0, 2),
  lines: JSON.stringify([...countLines]),
  tests: plan.files,
});

/** A process that has loaded R for one run. */
interface Loaded<Process> {
  readonly key: WarmKey;
  readonly process: Process;
  readonly end: () => Promise<void>;
}

/** Seconds that loading R may take. */
export const loadingTime = 60;

/** Seconds of importing R that are worth a process of their own. */
const worthwhile = 0.3;

/** The process of one side that has loaded R for the next preliminary run: see swt_warm.py. */
export class WarmStart<Process> {
  private found: Loaded<Process> | undefined;
  /** Paths that the candidate in the tree changes. */
  private edited: readonly string[] = [];

  /** @param from seconds from which on loading R is worth it */
  constructor(private readonly from = worthwhile) {}

  /** Keeps a process, or ends it. @returns why it is not kept */
  async keep(found: Loaded<Process>, seconds: number): Promise<string | undefined> {
    if (seconds >= this.from) {
      this.found = found;
      return undefined;
    }
    await found.end();
    return `importing R takes only ${seconds.toFixed(2)} s`;
  }

  /** Learns the paths that the candidate in the tree changes. */
  candidateEdits(paths: Iterable<string>): void {
    this.edited = [...paths];
  }

  /** @returns the process for a run, or why it cannot be that run; undefined where there is none */
  async take(
    key: WarmKey,
  ): Promise<{ readonly process: Process } | { readonly why: string } | undefined> {
    const { found } = this;
    if (found === undefined) return undefined;
    const why = this.whyNot(found.key, key);
    if (why !== undefined) {
      await this.discard();
      return { why };
    }
    this.found = undefined;
    return { process: found.process };
  }

  private whyNot(found: WarmKey, key: WarmKey): string | undefined {
    const other = this.edited.find((path) => !key.tests.includes(path));
    if (other !== undefined)
      return `the candidate edits ${other}, which is not a test file of the run`;
    if (found.environment !== key.environment) return 'the environment has changed';
    if (found.lines !== key.lines) return 'other lines are counted';
    const same = (of: WarmKey): string => JSON.stringify([of.runner, of.cwd, of.options]);
    return same(found) === same(key) ? undefined : 'the runner or its options have changed';
  }

  async discard(): Promise<void> {
    const { found } = this;
    this.found = undefined;
    await found?.end();
  }
}
