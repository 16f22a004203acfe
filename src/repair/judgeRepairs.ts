import { throwIfAborted, retryingMemoOf } from '../domain/work';
import type { Prediction } from '../domain/instance';
import type { JudgedRepair } from '../study/resolution';
import type { InstanceSession } from '../evaluation/session';
import { checkModelFolders } from '../batch/checkModelFolders';
import { openingPairs } from '../batch/faultTolerantSession';
import type { ResultsPlace } from '../batch/batchRequest';
import { candidateKey } from '../results/journal';
import { type JudgedLine, writeSweBenchFiles, writeSweBenchSummaries } from '../results/judged';
import type { LockedJournal } from '../results/lockedRunFolder';
import { writeResult } from '../results/runFolder';
import { workOnRepairs, type RepairHooks } from './repairPool';
import { goldenRunsOnce, type GoldenRuns } from './judging/goldenRuns';
import { judgedKeys, judgedResultPath, withJudgedFolder } from './judgedRun';
import { emptyRepair, judgeRepair, type RepairJudgement } from './judging/judgeRepair';
import type { JudgedBatch, JudgeRequest } from './judgeRequest';
import { stepLocations } from './judging/stepLocations';

/**
 * Judges code patches, several at once, as SWE-bench does and by the recorded outcomes. Every
 * prediction of a selected instance gets one entry. A fault of one does not affect the others, and
 * the same command does not repeat finished work.
 *
 * @param textOf the document of the run, which is written beside its journal at the end
 * @throws Cancelled, or HumanError where results cannot be kept
 */
export async function judgeRepairs(
  request: JudgeRequest,
  textOf: (judged: JudgedBatch) => string,
  hooks: RepairHooks = {},
): Promise<JudgedBatch> {
  const { instances, repairs, results, signal = new AbortController().signal } = request;
  throwIfAborted(signal);
  if (results === undefined) {
    return { ...(await judgeAll(undefined, request, hooks, signal)), written: [] };
  }
  checkModelFolders(repairs);
  const { out, runId } = results;
  return withJudgedFolder(request, results, signal, async (folder, journal, held) => {
    const found = await judgeAll({ ...results, journal }, request, hooks, held);
    const ids = instances.map(({ id }) => id);
    try {
      const written = await writeSweBenchSummaries(out, runId, found.judged, ids);
      const judged = { ...found, written };
      await writeResult(judgedResultPath(folder), textOf(judged));
      return judged;
    } catch (error) {
      throw journal.lost(error);
    }
  });
}

/** The place of results, with its open journal. */
type JudgedPlace = Pick<ResultsPlace, 'out' | 'runId'> & {
  readonly journal: LockedJournal<JudgedLine>;
};

/** A judged code patch, with the texts that are written about it. */
interface Judged extends Pick<RepairJudgement, 'report' | 'output'> {
  readonly judged: JudgedRepair;
}

async function judgeAll(
  place: JudgedPlace | undefined,
  request: JudgeRequest,
  hooks: RepairHooks,
  signal: AbortSignal,
): Promise<Omit<JudgedBatch, 'written'>> {
  const keys = judgedKeys(request);
  const lines = new Map(place?.journal.lines.map((line) => [candidateKey(line), line]));
  const { results, reused } = await workOnRepairs<Judged>(
    request,
    {
      open: openingPairs(request),
      kept(repair, index) {
        const line = lines.get(candidateKey(namesOf(repair)));
        if (line === undefined || line.key !== keys[index] || line.hindrance !== undefined) {
          return undefined;
        }
        const { key: _key, finished: _finished, ...judged } = line;
        return { judged };
      },
      atOnce: (repair) =>
        isEmpty(repair) && repair.stages === undefined ? ofRepair(repair, emptyRepair) : undefined,
      begin(_instance, stop) {
        const settings = { ...request, signal: stop };
        const golden = goldenRunsOnce(settings);
        // Samples of a method are often the same.
        const known = new Map<string, Promise<RepairJudgement>>();
        return async (session, repair) => {
          const started = performance.now();
          const runs = await golden(session);
          const judgement = isEmpty(repair)
            ? emptyRepair
            : await retryingMemoOf(known, repair.patch, () =>
                judgeRepair(session, repair, runs, settings),
              );
          const stages = await stagesOf(repair, session, runs);
          return ofRepair(
            repair,
            { ...judgement, ...stages },
            (performance.now() - started) / 1000,
          );
        };
      },
      hindered: (repair, why) =>
        ofRepair(repair, isEmpty(repair) ? emptyRepair : { status: 'error', ...why }),
      async save({ judged, ...texts }, repair, index) {
        await place?.journal.keep(async () => {
          await writeSweBenchFiles(place.out, place.runId, { repair, judged, ...texts });
          return { ...judged, key: keys[index] ?? '', finished: new Date().toISOString() };
        });
      },
    },
    hooks,
    signal,
  );
  return { judged: results.map(({ judged }) => judged), reused };
}

const isEmpty = ({ patch }: Prediction): boolean => patch.trim() === '';

/** The stages that led to the code patches of an instance, compared with X*. */
async function stagesOf(
  { stages }: Prediction,
  { readFileOfR, python }: Pick<InstanceSession, 'readFileOfR' | 'python'>,
  { places }: GoldenRuns,
): Promise<Pick<JudgedRepair, 'stages'>> {
  if (stages === undefined) return {};
  const { kept, dollars } = stages;
  const located = await stepLocations(kept, places, readFileOfR, python);
  return { stages: { located, ...(dollars === undefined ? {} : { dollars }) } };
}

const namesOf = ({
  instanceId,
  model,
  sample = 1,
}: Prediction): Pick<JudgedRepair, 'instance' | 'model' | 'sample'> => ({
  instance: instanceId,
  model,
  sample,
});

function ofRepair(
  repair: Prediction,
  { report, output, ...judgement }: RepairJudgement & Pick<JudgedRepair, 'stages'>,
  seconds = 0,
): Judged {
  return {
    judged: {
      ...namesOf(repair),
      ...judgement,
      ...(repair.cost === undefined ? {} : { cost: repair.cost }),
      ...(repair.ranked === undefined ? {} : { ranked: repair.ranked }),
      ...(repair.oracle === true && { oracle: true as const }),
      ...(repair.madeBy === undefined ? {} : { madeBy: repair.madeBy }),
      seconds: Math.round(seconds * 1000) / 1000,
    },
    ...(report === undefined ? {} : { report }),
    ...(output === undefined ? {} : { output }),
  };
}
