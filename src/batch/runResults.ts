import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Prediction } from '../domain/instance';
import { HumanError } from '../domain/work';
import type { RunEntry } from '../study/entry';
import { type JournalLine, candidateKey, journalPath, readJournal } from '../results/journal';
import {
  type RunManifest,
  readManifest,
  writeManifest,
  reportPath,
  reportsFolder,
  runFolder,
} from '../results/runFolder';
import { readReport, writeReport } from '../results/report';
import type { Report } from '../results/reportSchema';
import type { BatchEntry } from '../results/entry';
import {
  type FolderRequest,
  type Sameness,
  digestOfSame,
  firstRunId,
  isSameRun,
  otherRun,
  unwritableResults,
  withLockedRunFolder,
} from '../results/lockedRunFolder';

/** A finished candidate. */
interface Finished {
  readonly entry: RunEntry;
  readonly report: Report;
}

/** The results folder of a running batch; no other process writes it meanwhile. */
export interface RunResults {
  /** The folder of the run, `DIR/runs/<run>`. */
  readonly folder: string;
  /**
   * The result of an earlier command for a candidate, if all that it depends on is the same and its
   * report can be read. A candidate that could not be evaluated then is tried again.
   */
  kept(
    of: Pick<RunEntry, 'instance' | 'model' | 'sample'>,
    key: string,
  ): Promise<Finished | undefined>;
  /**
   * Saves a finished candidate: first its report, then its line in the journal.
   *
   * @throws HumanError when the folder can no longer be written
   */
  record(finished: Finished, batchEntry: BatchEntry, key: string): Promise<void>;
  /** The message for the user about an error of writing. */
  lost(error: unknown): HumanError;
}

/** What the caller asks of a run folder. */
interface ResultsRequest extends FolderRequest {
  readonly manifest: Omit<RunManifest, 'version' | 'created' | 'digest'>;
  readonly predictions: readonly Prediction[];
  /** Restart the run, whatever the folder holds. */
  readonly fresh: boolean;
}

/**
 * Opens the results folder of a run for `work`: a new one, or one that the same command left
 * unfinished. The signal for `work` also fires when another process takes the folder over, as after
 * the machine slept.
 *
 * @throws HumanError when the folder cannot be written, is full, belongs to another run, or is in
 *   use
 */
export async function withResults<T>(
  request: ResultsRequest,
  work: (results: RunResults, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { out, runId } = request;
  const folder = runFolder(out, runId);
  return withLockedRunFolder<JournalLine, T>(
    folder,
    request,
    () => begin(folder, request),
    (journal, held) => {
      const finished = new Map(journal.lines.map((line) => [candidateKey(line), line]));
      const results: RunResults = {
        folder,
        lost: (error) => journal.lost(error),
        async kept(of, key) {
          const line = finished.get(candidateKey(of));
          if (line === undefined || line.key !== key || !line.evaluated) return undefined;
          const report = await readReport(join(out, line.report), line);
          return report === undefined ? undefined : { entry: entryOfLine(line), report };
        },
        record: ({ entry, report }, batchEntry, key) =>
          journal.keep(async () => {
            await writeReport(out, runId, batchEntry, report);
            return {
              ...entry,
              key,
              finished: new Date().toISOString(),
              report: reportPath(runId, entry),
            };
          }),
      };
      return work(results, held);
    },
  );
}

function entryOfLine({ key: _key, finished: _finished, ...entry }: JournalLine): RunEntry {
  return entry;
}

/**
 * Checks the existing run, and writes a manifest of this one.
 *
 * @returns the candidates that are finished
 */
async function begin(folder: string, request: ResultsRequest): Promise<readonly JournalLine[]> {
  const { out, runId, fresh } = request;
  const { same } = request.manifest;
  const digest = digestOfSame(same);
  if (!fresh) {
    const known = await readManifest(folder);
    if (known !== undefined) {
      if (known.digest !== digest) throw otherRun(out, runId, known.same, same);
      return (await readJournal(folder)).lines;
    }
    if (await hasReports(out, runId)) {
      throw new HumanError(
        `The folder ${out} has reports of a run ${runId} that another program started`,
        'Specify another run with --run-id or another folder with --out, or overwrite the reports with --fresh',
      );
    }
  }
  await rm(journalPath(folder), { force: true });
  await writeManifest(folder, {
    version: 1,
    created: new Date().toISOString(),
    ...request.manifest,
    digest,
  }).catch((error: unknown) => {
    throw unwritableResults(out, error);
  });
  return [];
}

/**
 * The name of a run that the caller did not name. It is `run`, or the first of `run-2`, `run-3`, …
 * that the folder does not use for another evaluation.
 *
 * @param out absent where no results are written
 * @throws HumanError when a manifest in the folder cannot be read
 */
export async function defaultRunId(out: string | undefined, same: Sameness): Promise<string> {
  return firstRunId(async (runId) => {
    if (out === undefined) return true;
    const known = await readManifest(runFolder(out, runId));
    const isFree = known === undefined && !(await hasReports(out, runId));
    // The folder of another shard is refused later: under another name it would not be merged.
    return isFree || (known !== undefined && isSameRun(known.same, same));
  });
}

const hasReports = async (out: string, runId: string): Promise<boolean> =>
  (await readdir(reportsFolder(out, runId)).catch(() => [])).length > 0;
