import type { Instance, Prediction } from '../domain/instance';
import { throwIfAborted } from '../domain/humanError';
import { sampleName } from '../domain/study/entry';
import type { TestedRepair } from '../domain/study/filterRepairs';
import { guardedEngine } from '../engine/guardedEngine';
import type { LockedJournal } from '../results/lockedRunFolder';
import { planBatch, type PlanCounts, type PlannedWork } from '../batch/plan';
import { workerPool } from '../batch/workerPool';
import type { BatchProgress } from '../batch/runBatch';
import { throughput } from '../batch/throughput';
import { faultTolerantSession } from '../batch/faultTolerantSession';
import { candidateKey } from '../results/journal';
import type { FilteredBatch, FilterRequest } from './filterRequest';
import { repairKeys, withRepairFolder, writeResultFile, type RepairLine } from './repairFolder';
import { testRepair, testsOnR, type RepairSettings, type TestsOnR } from './testRepair';

export interface FilterHooks {
  /** Called once, before anything runs. */
  readonly onPlan?: (counts: Pick<PlanCounts, 'candidates' | 'instances' | 'environments'>) => void;
  /** `done` and `total` count code patches. */
  readonly onProgress?: (
    progress: Pick<BatchProgress, 'done' | 'total' | 'paused' | 'perHour' | 'secondsLeft'>,
  ) => void;
}

/**
 * Runs the tests that candidates add or change on R, and on R with each code patch, several patches
 * at once. The results filter the patches (section 5.3 of the paper). A fault of one does not
 * affect the others, and the same command does not repeat finished work.
 *
 * @throws Cancelled, or HumanError where results cannot be kept
 */
export async function filterRepairBatch(
  request: FilterRequest,
  hooks: FilterHooks = {},
): Promise<FilteredBatch> {
  const { instances, repairs, results, signal = new AbortController().signal } = request;
  throwIfAborted(signal);
  const plan = planBatch(instances, repairs, request.workers);
  hooks.onPlan?.(plan.counts);
  if (results === undefined) return filterAll(plan.work, undefined, request, hooks, signal);
  return withRepairFolder({ ...request, ...results, signal }, async (folder, journal, held) => {
    const filtered = await filterAll(plan.work, journal, request, hooks, held);
    const written = await writeResultFile(folder, results.text(filtered)).catch(
      (error: unknown) => {
        throw journal.lost(error);
      },
    );
    return { ...filtered, written };
  });
}

async function filterAll(
  work: readonly PlannedWork[],
  journal: LockedJournal<RepairLine> | undefined,
  request: FilterRequest,
  hooks: FilterHooks,
  signal: AbortSignal,
): Promise<FilteredBatch> {
  const engine = guardedEngine(request.engine, request.engineLimits);
  const keys = repairKeys(request);
  const instances = new Map(request.instances.map((instance) => [instance.id, instance]));
  const { tested, left } = keptResults(work, journal?.lines ?? [], request, keys);
  const reused = tested.size;
  const total = work.reduce((sum, { candidates }) => sum + candidates.length, 0);
  const speed = throughput();
  const tell = (): void => {
    const done = tested.size;
    hooks.onProgress?.({ done, total, paused: false, ...speed.estimate(total - done) });
  };
  tell();

  await workerPool(left, request.workers, signal, async (part, stop) => {
    const instance = instances.get(part.instance);
    if (instance === undefined) return;
    const settings: RepairSettings = { ...request, signal: stop };
    const warm = faultTolerantSession(instance, { ...request, engine, signal: stop });
    let tests: TestsOnR | undefined;
    try {
      for (const place of part.candidates) {
        throwIfAborted(stop);
        const repair = request.repairs[place];
        if (repair === undefined) continue;
        const of = placeOf(repair);
        const found = await warm.attempt(`${instance.id}, ${sampleName(of)}`, async (session) => {
          tests ??= await testsOnR(session, testsFor(instance, request), settings);
          return testRepair(session, repair, tests, settings);
        });
        const findings =
          'hindrance' in found
            ? { hindrance: found.hindrance.why, failure: found.hindrance.failure }
            : found;
        await journal?.keep(async () => ({
          ...of,
          ...findings,
          key: keys[place] ?? '',
          finished: new Date().toISOString(),
        }));
        tested.set(place, { instance: instance.id, name: sampleName(of), ...findings });
        speed.finished();
        tell();
      }
    } finally {
      await warm.dispose();
    }
  });
  return {
    tested: [...tested].sort(([a], [b]) => a - b).map(([, repair]) => repair),
    reused,
  };
}

/** The results that a journal has of the same tests and code patches, and the work that is left. */
function keptResults(
  work: readonly PlannedWork[],
  lines: readonly RepairLine[],
  { repairs }: FilterRequest,
  keys: readonly string[],
): { tested: Map<number, TestedRepair>; left: PlannedWork[] } {
  const tested = new Map<number, TestedRepair>();
  const kept = new Map(lines.map((line) => [candidateKey(line), line]));
  const left = work.flatMap((part): PlannedWork[] => {
    const candidates = part.candidates.filter((place) => {
      const repair = repairs[place];
      const line = repair && kept.get(candidateKey(placeOf(repair)));
      if (line === undefined || line.key !== keys[place] || line.hindrance !== undefined) {
        return true;
      }
      tested.set(place, ofLine(line));
      return false;
    });
    return candidates.length > 0 ? [{ ...part, candidates }] : [];
  });
  return { tested, left };
}

const placeOf = ({
  instanceId,
  model,
  sample = 1,
}: Prediction): { instance: string; model: string; sample: number } => ({
  instance: instanceId,
  model,
  sample,
});

const testsFor = ({ id }: Instance, { tests }: FilterRequest): Prediction =>
  tests.find(({ instanceId }) => instanceId === id) ?? { instanceId: id, model: '', patch: '' };

const ofLine = ({
  model,
  sample,
  key: _key,
  finished: _finished,
  ...rest
}: RepairLine): TestedRepair => ({ name: sampleName({ model, sample }), ...rest });
