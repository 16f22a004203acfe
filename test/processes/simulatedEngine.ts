import { setTimeout as sleep } from 'node:timers/promises';
import type { Side } from '../../src/domain/outcome';
import type {
  Engine,
  Environment,
  Pair,
  RunRecord,
  RunRequest,
  Sandbox,
} from '../../src/engine/engine';
import { runRecord } from '../unit/evaluation/examples';

/** A step at which a simulated engine can fail. */
export type Step = 'prepare' | 'openPair' | 'load' | 'run' | 'dispose';

export interface SimulatedOptions {
  /**
   * Called at each step, and may throw or never return. For `run` it may return another record than
   * that of a normal run.
   */
  readonly at?: (
    step: Step,
    of: {
      readonly instance: string;
      readonly side?: Side;
      readonly patch?: string;
      /** The files of a run. */
      readonly files?: readonly string[];
      readonly signal?: AbortSignal | undefined;
    },
  ) => unknown;
  /** Milliseconds that a run takes. */
  readonly runMilliseconds?: number;
}

const environment: Environment = {
  description: 'CPython 3.11.7',
  interpreter: '/usr/bin/python3',
  pythonVersion: '3.11.7',
  packages: { pytest: '8.3.5' },
  digest: 'f00',
};

/**
 * An engine without processes. Every test of the files in a run fails on R and passes on R∘X*, if
 * the loaded patch adds it.
 */
export function simulatedEngine(
  options: SimulatedOptions = {},
): Engine & { readonly runs: number } {
  const { at = () => undefined, runMilliseconds = 0 } = options;
  let runs = 0;
  const openSandbox = (instance: string, side: Side): Sandbox => {
    let patch = '';
    return {
      side,
      load: async (next, signal) => {
        await at('load', { instance, side, patch: next, signal });
        patch = next;
      },
      run: async (request) => {
        runs += 1;
        if (runMilliseconds > 0) await sleep(runMilliseconds);
        const { signal, plan } = request;
        const other = await at('run', { instance, side, patch, files: plan.files, signal });
        return (other ?? record(request, side, patch)) as RunRecord;
      },
    };
  };
  return {
    name: 'local',
    description: 'simulated engine',
    environment,
    get runs() {
      return runs;
    },
    prepare: async ({ id: instance }, _trees, { signal }) => {
      await at('prepare', { instance, signal });
      return {
        environment,
        openPair: async (work): Promise<Pair> => {
          await at('openPair', { instance, signal: work.signal });
          return {
            base: openSandbox(instance, 'base'),
            fixed: openSandbox(instance, 'fixed'),
            dispose: async () => {
              await at('dispose', { instance });
            },
          };
        },
      };
    },
    dispose: async () => undefined,
  };
}

function record(request: RunRequest, side: Side, patch: string): RunRecord {
  const added = [...patch.matchAll(/^\+def (test_\w+)/gm)].map((match) => match[1] ?? '');
  const outcomes = request.plan.files.flatMap((path) =>
    patch.includes(`b/${path}`)
      ? added.map((name) => ({
          test: `${path}::${name}`,
          outcome: side === 'base' ? ('failed' as const) : ('passed' as const),
        }))
      : [],
  );
  return runRecord({
    exitCode: outcomes.some((each) => each.outcome === 'failed') ? 1 : 0,
    log: outcomes
      .map((each) => `${each.outcome === 'failed' ? 'FAILED' : 'PASSED'} ${each.test}`)
      .join('\n'),
    seconds: 0.01,
    trace: {
      outcomes,
      counts: [
        {
          path: 'cat.py',
          line: 2,
          shared: 0,
          byTest: new Map(outcomes.map((each) => [each.test, 1])),
        },
      ],
    },
  });
}
