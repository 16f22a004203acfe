import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HumanError } from '../../domain/problem';
import type { RunEntry } from '../../domain/study/entry';
import { candidateKey, journalPath, readJournal, type JournalLine } from '../runs/journal';
import { readManifest, writeManifest, type RunManifest } from '../runs/manifest';
import { reportPath, reportsFolder, runFolder } from '../runs/runFolder';
import { readReport, writeInstanceReport, type InstanceReport } from '../report';
import type { BatchEntry } from './entry';
import {
  digestOfSame,
  firstRunId,
  otherRun,
  unwritable,
  withHeldJournal,
  type FolderRequest,
  type Sameness,
} from './heldFolder';

/** A candidate that is finished. */
export interface Finished {
  readonly entry: RunEntry;
  readonly report: InstanceReport;
}

/** The results folder of a run that is under way; nobody else writes it meanwhile. */
export interface RunResults {
  /** The folder of the run, `DIR/runs/<run>`. */
  readonly folder: string;
  /**
   * What an earlier command has finished of a candidate, if all that it depends on is the same and its
   * report can be read back. What could not be evaluated then is tried again.
   */
  kept(
    of: Pick<RunEntry, 'instance' | 'model' | 'sample'>,
    key: string,
  ): Promise<Finished | undefined>;
  /**
   * Keeps a finished candidate: its report first, then its line in the journal.
   * @throws HumanError when the folder cannot be written any more
   */
  record(finished: Finished, batchEntry: BatchEntry, key: string): Promise<void>;
  /** What an error of writing means for a person. */
  lost(error: unknown): HumanError;
}

/** What is asked of a run folder. */
export interface ResultsRequest extends FolderRequest {
  readonly manifest: Omit<RunManifest, 'version' | 'created' | 'digest'>;
  /** Begin anew, whatever is there. */
  readonly fresh: boolean;
}

/**
 * Opens the results folder of a run for `work`: a new one, or one that the same command has left
 * unfinished. The signal given to `work` also fires when the folder is lost to another process, as after
 * the machine slept.
 *
 * @throws HumanError when the folder cannot be written, is full, belongs to another run, or is in use
 */
export async function withResults<T>(
  request: ResultsRequest,
  work: (results: RunResults, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { out, runId } = request;
  const folder = runFolder(out, runId);
  return withHeldJournal<JournalLine, T>(
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
            await writeInstanceReport(out, runId, batchEntry, report);
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

/** Checks what there is, and leaves a manifest of this run; gives the candidates that are finished. */
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
        `The folder ${out} holds reports of a run ${runId} that another program began, or an older version of this one`,
        'Name another run with --run-id, another folder with --out, or write over them with --fresh',
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
    throw unwritable(out, error);
  });
  return [];
}

/**
 * The name of a run that nobody has named: `run`, or the first of `run-2`, `run-3`, … that the folder has
 * not for something else, so that no evaluation is in the way of another.
 *
 * @param out absent where no results are written
 * @throws HumanError when a manifest in the folder cannot be read
 */
export async function usualRunId(out: string | undefined, same: Sameness): Promise<string> {
  return firstRunId(async (runId) => {
    if (out === undefined) return true;
    const known = await readManifest(runFolder(out, runId));
    const isFree = known === undefined && !(await hasReports(out, runId));
    return isFree || known?.digest === digestOfSame(same);
  });
}

const hasReports = async (out: string, runId: string): Promise<boolean> =>
  (await readdir(reportsFolder(out, runId)).catch(() => [])).length > 0;
