import * as vscode from 'vscode';
import { type Outcome, type Side } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import type { TestUnderWay } from './inlineLook';

/** One run, from its request to its end. */
export interface RunUnderWay {
  /**
   * Its turn has come.
   *
   * @param on where its tests run, as a person reads it
   */
  starts(tests: readonly string[], on: string): void;
  saw(side: Side, test: string, outcome: Outcome): void;
  end(): void;
}

/** What is known of the run under way. */
interface RunNow {
  /** What is made before it can run; undefined once it runs. */
  readonly step: string | undefined;
  /** Whether it has the results of a test already, which say more. */
  hasSoFar(test: string): boolean;
}

/** The tests that wait or run, which say so where they are written. */
export class TestsUnderWay implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  /** The tests of each run, in the order of the requests. */
  private readonly runs = new Set<Map<string, TestUnderWay>>();

  constructor(private readonly now: RunNow) {}

  /** @param tests ids of functions; they wait at first */
  begin(tests: readonly string[]): RunUnderWay {
    const run = new Map<string, TestUnderWay>();
    const put = (ids: readonly string[], on: string | undefined): void => {
      for (const id of ids) run.set(functionOf(id), { on, seen: {} });
    };
    put(tests, undefined);
    this.runs.add(run);
    this.changed.fire();
    return {
      starts: (ids, on) => {
        run.clear();
        put(ids, on);
        this.changed.fire();
      },
      saw: (side, test, outcome) => {
        const known = run.get(test);
        if (known === undefined) return;
        run.set(test, { ...known, seen: { ...known.seen, [side]: outcome } });
        this.changed.fire();
      },
      end: () => {
        this.runs.delete(run);
        this.changed.fire();
      },
    };
  }

  /** A test of any run; the run that began first is the one that runs now. */
  of(test: string): TestUnderWay | undefined {
    if (this.now.hasSoFar(test)) return undefined;
    for (const run of this.runs) {
      const found = run.get(test);
      if (found !== undefined) return { ...found, preparing: this.now.step };
    }
    return undefined;
  }

  dispose(): void {
    this.changed.dispose();
  }
}
