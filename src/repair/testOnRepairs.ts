import type { Instance, Prediction } from '../domain/instance';
import type { TestedRepair } from '../study/resolution';
import { openSession } from '../evaluation/session';
import type { RunStore } from '../evaluation/testRun';
import type { PythonParser } from '../python/parser';
import type { Trees } from '../repository/trees';
import { workOnRepairs, type RepairHooks, type RepairPoolRequest } from './repairPool';
import { testsOnR, testsOnRepair, type TestsOnR } from './testRepair';

/** One candidate, and code patches of its instance that its tests run on. */
interface TestsOnRepairsRequest extends Omit<RepairPoolRequest, 'instances' | 'repairs'> {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly python: PythonParser;
  readonly store: RunStore;
  /** Unified diff on R. */
  readonly candidate: string;
  /** Unified diffs on R without edits of tests, each once. */
  readonly repairs: readonly string[];
  readonly timeoutSeconds: number;
}

/** What the tests of the candidate do on R, and on R with a code patch; or why they did not run. */
export type StandingsOnRepair = Pick<TestedRepair, 'base' | 'standings' | 'failure'>;

/**
 * Runs the tests of a candidate on R, and on R with each of some code patches, several at once. Nothing
 * of X* or T* takes part: there is no sandbox of R∘X*. Runs are kept.
 *
 * @param onTested called with each result, as it is there
 * @throws Cancelled; what `onTested` throws
 */
export async function testOnRepairs(
  request: TestsOnRepairsRequest,
  onTested: (repair: string, found: StandingsOnRepair) => void,
  hooks: RepairHooks,
  signal: AbortSignal,
): Promise<void> {
  const { instance, trees, python, store, candidate, repairs, ...pool } = request;
  const of = { instanceId: instance.id, model: 'workspace' };
  const tests: Prediction = { ...of, patch: candidate };
  await workOnRepairs<StandingsOnRepair>(
    {
      ...pool,
      instances: [instance],
      repairs: repairs.map((patch, at) => ({ ...of, model: 'fix', sample: at + 1, patch })),
    },
    {
      open: (_, { engine }) =>
        openSession({ ...{ instance, trees, engine, python, store }, sides: ['base'] }),
      kept: () => undefined,
      begin(_, stop) {
        const settings = { ...request, format: 'unified', signal: stop } as const;
        let onR: TestsOnR | undefined;
        return async (session, { patch }) => {
          onR ??= await testsOnR(session, tests, settings);
          return 'failure' in onR ? onR : testsOnRepair(session, patch, onR, settings);
        };
      },
      hindered: (_, { failure }) => ({ failure }),
      save: (found, { patch }) => Promise.resolve(onTested(patch, found)),
    },
    hooks,
    signal,
  );
}
