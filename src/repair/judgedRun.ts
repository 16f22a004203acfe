import type { ResultsPlace } from '../batch/batchRequest';
import { entryKeys } from '../batch/entryKeys';
import { manifestOf } from '../batch/manifestOf';
import { sha256OfJson } from '../files/digest';
import { journalPath, readJournalLines } from '../results/journal';
import {
  judgedFolder,
  judgedLineSchema,
  judgedVersion,
  type JudgedLine,
  judgedFolderName,
  hasReport,
  sweBenchFolder,
  writeSweBenchSummaries,
} from '../results/judged';
import {
  digestOfSame,
  firstRunId,
  isSameRun,
  otherRun,
  unwritableResults,
  withLockedRunFolder,
  type LockedJournal,
} from '../results/lockedRunFolder';
import { manifestVersion, readManifest, writeManifest, writeResult } from '../results/runFolder';
import type { RunKind } from '../results/mergeShards';
import type { JudgedRepair } from '../study/resolution';
import type { JudgeRequest } from './judgeRequest';
import { judgedDocument } from './judgedRepairsSchema';
import { asBatch, sameCodePatches } from './repairFolder';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** For each code patch, a digest of all that its judgement depends on. */
export const judgedKeys = (request: JudgeRequest): string[] =>
  entryKeys(asBatch(request)).map((key, place) => {
    const { ranked, stages } = request.repairs[place] ?? {};
    const more = ranked === undefined && stages === undefined ? [] : [ranked ?? {}, stages ?? {}];
    return sha256OfJson([key, judgedVersion, ...more]);
  });

/**
 * The name of a run that the caller did not name.
 *
 * @param out absent where no results are written
 * @throws HumanError when a manifest in the folder cannot be read
 */
export const defaultJudgedRun = (
  out: string | undefined,
  request: Omit<JudgeRequest, 'results'>,
): Promise<string> =>
  firstRunId(async (runId) => {
    if (out === undefined) return true;
    const known = await readManifest(judgedFolder(out, runId));
    return known === undefined || isSameRun(known.same, sameCodePatches(request));
  });

/**
 * Locks the folder of a run during `work`: a new one, or one that the same command left unfinished.
 *
 * @throws HumanError when the folder cannot be written, is full, belongs to another run, or is in
 *   use
 */
export function withJudgedFolder<T>(
  request: JudgeRequest,
  place: ResultsPlace,
  signal: AbortSignal,
  work: (folder: string, journal: LockedJournal<JudgedLine>, held: AbortSignal) => Promise<T>,
): Promise<T> {
  const { out, runId } = place;
  const folder = judgedFolder(out, runId);
  const begin = async (): Promise<readonly JudgedLine[]> => {
    const same = sameCodePatches(request);
    const known = request.fresh ? undefined : await readManifest(folder);
    if (known !== undefined) {
      if (known.digest !== digestOfSame(same)) throw otherRun(out, runId, known.same, same);
      return (await readJournalLines(folder, judgedLineSchema)).lines;
    }
    await rm(journalPath(folder), { force: true });
    await rm(judgedResultPath(folder), { force: true });
    await writeManifest(folder, {
      ...manifestOf(asBatch(request), place, candidatesOf(request)),
      ...{ version: manifestVersion, created: new Date().toISOString() },
      ...{ same: { ...same }, digest: digestOfSame(same) },
    }).catch((error: unknown) => {
      throw unwritableResults(out, error);
    });
    return [];
  };
  return withLockedRunFolder(folder, { out, runId, signal }, begin, (journal, held) =>
    work(folder, journal, held),
  );
}

function candidatesOf({ instances, repairs }: JudgeRequest): number {
  const ids = new Set(instances.map(({ id }) => id));
  return repairs.filter(({ instanceId }) => ids.has(instanceId)).length;
}

/** Path of the document of a run, which `--json` prints too. */
export const judgedResultPath = (folder: string): string => join(folder, 'result.json');

/** Runs over code patches: `resolutions/<run>`, with the files that SWE-bench leaves. */
export const judgedRuns: RunKind<JudgedLine> = {
  parent: judgedFolderName,
  shape: judgedLineSchema,
  isGraded: ({ hindrance }) => hindrance === undefined,
  foldersOf: (run, line) => [sweBenchFolder(run, line)],
  // SWE-bench leaves no report of a patch without a grade.
  isWhole: async (results, run, line) =>
    line.resolution === undefined || (await hasReport(results, run, line)),
  async summarise(out, { run, instances, models, engine }, lines) {
    const placeOf = ({ model }: JudgedRepair): number => models.indexOf(model);
    const order = new Map(instances.map(({ id }, at) => [id, at]));
    const judged = lines
      .map(({ key: _key, finished: _finished, ...each }): JudgedRepair => each)
      .sort(
        (one, other) =>
          placeOf(one) - placeOf(other) ||
          (order.get(one.instance) ?? 0) - (order.get(other.instance) ?? 0) ||
          one.sample - other.sample,
      );
    const ids = instances.map(({ id }) => id);
    const written = await writeSweBenchSummaries(out, run, judged, ids);
    const document = judgedDocument(
      { judged, reused: 0 },
      { run, instances, engine, problems: [] },
    );
    const path = judgedResultPath(judgedFolder(out, run));
    await writeResult(path, `${JSON.stringify(document, null, 2)}\n`);
    return [...written, path];
  },
};
