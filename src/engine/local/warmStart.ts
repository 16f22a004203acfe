import { parseUnified } from '../../patch/parseUnified';
import type { DebuggedProgram, RunRequest } from '../engine';
import { rm } from 'node:fs/promises';
import type { LoadedAgent } from '../programs/process';
import type { RecordKey } from '../tracer/recordKey';

/** The folders and the program of one run. */
export interface Prepared {
  readonly program: DebuggedProgram;
  readonly traceFolder: string;
}

/** What a run has in common with the one that a process was prepared for. */
interface WarmKey {
  /** What is installed. */
  readonly environment: string;
  readonly runner: string;
  readonly cwd: string;
  /** The first options of the program. */
  readonly options: readonly string[];
  readonly lines: string;
  /** Test files of the run. */
  readonly tests: readonly string[];
}

export const keyOf = (
  { plan, countLines }: Pick<RunRequest, 'plan' | 'countLines'>,
  environment: string,
): WarmKey => ({
  ...{ environment, runner: plan.runner, cwd: plan.cwd },
  options: plan.args.slice(0, 2),
  lines: JSON.stringify([...countLines]),
  tests: plan.files,
});

/** A process that has loaded R for one run. */
export interface LoadedRun extends Prepared, WarmKey {
  /** Folder of that run alone. */
  readonly run: string;
  readonly key: RecordKey;
  readonly agent: LoadedAgent;
}

/** Seconds of importing R that are worth a process of their own. */
const worthwhile = 0.3;

/** The process of one side that has loaded R for the next preliminary run. */
export class WarmStart {
  private found: LoadedRun | undefined;
  /** Paths that the candidate in the tree changes. */
  private edited: readonly string[] = [];

  /** @param from seconds from which on loading R is worth it */
  constructor(private readonly from = worthwhile) {}

  /** Keeps a process, or removes what was made for it. @returns why there is none */
  async keep(
    found: { readonly agent: LoadedAgent; readonly seconds: number } | { readonly why: string },
    made: Omit<LoadedRun, 'agent'>,
  ): Promise<string | undefined> {
    if ('agent' in found && found.seconds >= this.from) {
      this.found = { ...made, agent: found.agent };
      return undefined;
    }
    if ('agent' in found) found.agent.wire.close();
    await removeFolder(made.run);
    return 'why' in found ? found.why : `importing R takes only ${found.seconds.toFixed(2)} s`;
  }

  /** Learns which candidate the tree has. */
  loaded(patch: string): void {
    this.edited = parseUnified(patch).files.flatMap(({ oldPath, newPath }) =>
      [oldPath ?? [], newPath ?? []].flat(),
    );
  }

  /** @returns the process for a run, or why it cannot be that run; undefined where there is none */
  async take(key: WarmKey): Promise<LoadedRun | { readonly why: string } | undefined> {
    const { found } = this;
    if (found === undefined) return undefined;
    const why = this.whyNot(found, key);
    if (why === undefined) {
      this.found = undefined;
      return found;
    }
    await this.discard();
    return { why };
  }

  private whyNot(found: LoadedRun, key: WarmKey): string | undefined {
    const other = this.edited.find((path) => !key.tests.includes(path));
    if (other !== undefined)
      return `the candidate edits ${other}, which is no test file of the run`;
    if (found.environment !== key.environment) return 'the environment has changed';
    if (found.lines !== key.lines) return 'other lines are counted';
    const same = (of: WarmKey): string => JSON.stringify([of.runner, of.cwd, of.options]);
    return same(found) === same(key) ? undefined : 'the runner or its options have changed';
  }

  async discard(): Promise<void> {
    const { found } = this;
    this.found = undefined;
    if (found === undefined) return;
    found.agent.wire.close();
    await removeFolder(found.run);
  }
}

const removeFolder = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
