import type { Instance, Prediction } from '../domain/instance';
import { throwIfAborted } from '../domain/work';
import { sampleName } from '../study/entry';
import type { TestedRepair } from '../study/resolution';
import { openingPairs } from '../batch/faultTolerantSession';
import type { LockedJournal } from '../results/lockedRunFolder';
import { candidateKey } from '../results/journal';
import type { FilteredBatch, FilterRequest } from './filterRequest';
import { repairKeys, withRepairFolder, writeResultFile, type RepairLine } from './repairFolder';
import { workOnRepairs, type RepairHooks } from './repairPool';
import { testRepair, testsOnR, type RepairSettings, type TestsOnR } from './testRepair';

/**
 * Runs the tests that candidates add or change on R, and on R with each code patch, several patches
 * at once. The results filter the patches (section 5.3 of the paper). A fault of one does not
 * affect the others, and the same command does not repeat finished work.
 *
 * @throws Cancelled, or HumanError where results cannot be kept
 */
export async function filterRepairBatch(
  request: FilterRequest,
  hooks: RepairHooks = {},
): Promise<FilteredBatch> {
  const { results, signal = new AbortController().signal } = request;
  throwIfAborted(signal);
  if (results === undefined) return filterAll(undefined, request, hooks, signal);
  return withRepairFolder({ ...request, ...results, signal }, async (folder, journal, held) => {
    const filtered = await filterAll(journal, request, hooks, held);
    const written = await writeResultFile(folder, results.text(filtered)).catch(
      (error: unknown) => {
        throw journal.lost(error);
      },
    );
    return { ...filtered, written };
  });
}

async function filterAll(
  journal: LockedJournal<RepairLine> | undefined,
  request: FilterRequest,
  hooks: RepairHooks,
  signal: AbortSignal,
): Promise<FilteredBatch> {
  const keys = repairKeys(request);
  const lines = new Map(journal?.lines.map((line) => [candidateKey(line), line]));
  const { results, reused } = await workOnRepairs<TestedRepair>(
    request,
    {
      open: openingPairs(request),
      kept(repair, place) {
        const line = lines.get(candidateKey(placeOf(repair)));
        const isUsable = line?.key === keys[place] && line?.hindrance === undefined;
        return line !== undefined && isUsable ? ofLine(line) : undefined;
      },
      begin(instance, stop) {
        const settings: RepairSettings = { ...request, signal: stop };
        let tests: TestsOnR | undefined;
        return async (session, repair) => {
          tests ??= await testsOnR(session, testsFor(instance, request), settings);
          const findings = await testRepair(session, repair, tests, settings);
          return { instance: instance.id, name: sampleName(placeOf(repair)), ...findings };
        };
      },
      hindered: (repair, why) => ({
        instance: repair.instanceId,
        name: sampleName(placeOf(repair)),
        ...why,
      }),
      async save({ name: _name, ...findings }, repair, place) {
        await journal?.keep(async () => ({
          ...placeOf(repair),
          ...findings,
          key: keys[place] ?? '',
          finished: new Date().toISOString(),
        }));
      },
    },
    hooks,
    signal,
  );
  return { tested: results, reused };
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
