import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cancelled, HumanError, messageOf } from '../../domain/problem';
import type { RunEntry } from '../../domain/study/entry';
import { isKnownToBeHeld, withLock } from '../../repository/lock';
import { noSpace } from '../../repository/space';
import {
  candidateKey,
  journalPath,
  openJournal,
  readJournal,
  type JournalLine,
} from '../runs/journal';
import { readManifest, writeManifest, type RunManifest } from '../runs/manifest';
import { reportPath, reportsFolder, runFolder } from '../runs/runFolder';
import { besideOf } from '../../repository/wholeFile';
import { removeBeside } from '../runs/writeResult';
import { readReport, writeInstanceReport, type InstanceReport } from '../report';
import type { BatchEntry } from './entry';

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
export interface ResultsRequest {
  readonly out: string;
  readonly runId: string;
  readonly manifest: Omit<RunManifest, 'version' | 'created' | 'digest'>;
  /** Begin anew, whatever is there. */
  readonly fresh: boolean;
  readonly signal: AbortSignal;
}

/** `manifest.same`, in the words in which a difference is told. */
export type Sameness = Readonly<Record<string, string>>;

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex');

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
  const { out, runId, signal } = request;
  const folder = runFolder(out, runId);
  await probe(out, folder);
  return alone(folder, request, async (held) => {
    const lines = await begin(folder, request);
    const journal = await openJournal(folder).catch((error: unknown) => {
      throw unwritable(out, error);
    });
    let kept = lines.length;
    const finished = new Map(lines.map((line) => [candidateKey(line), line]));
    try {
      const results: RunResults = {
        folder,
        lost: (error) => lost(out, error, kept),
        async kept(of, key) {
          const line = finished.get(candidateKey(of));
          if (line === undefined || line.key !== key || !line.evaluated) return undefined;
          const report = await readReport(join(out, line.report), line);
          return report === undefined ? undefined : { entry: entryOfLine(line), report };
        },
        async record({ entry, report }, batchEntry, key) {
          try {
            await writeInstanceReport(out, runId, batchEntry, report);
            await journal.append({
              ...entry,
              key,
              finished: new Date().toISOString(),
              report: reportPath(runId, entry),
            });
            kept += 1;
          } catch (error) {
            throw lost(out, error, kept);
          }
        },
      };
      return await work(results, held);
    } finally {
      await journal.close().catch(() => undefined);
    }
  }).catch((error: unknown) => {
    // The lock of a folder that is gone.
    if (error instanceof HumanError || error instanceof Cancelled || signal.aborted) throw error;
    throw isOfFiles(error) ? unwritable(out, error) : error;
  });
}

function entryOfLine({ key: _key, finished: _finished, ...entry }: JournalLine): RunEntry {
  return entry;
}

/** Checks what there is, and leaves a manifest of this run; gives the candidates that are finished. */
async function begin(folder: string, request: ResultsRequest): Promise<readonly JournalLine[]> {
  const { out, runId, fresh } = request;
  const { same } = request.manifest;
  const digest = digestOfSame(same);
  await removeBeside(folder, probeName);
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

const digestOfSame = (same: Sameness): string => digestOf(Object.entries(same).sort());

/**
 * The name of a run that nobody has named: `run`, or the first of `run-2`, `run-3`, … that the folder has
 * not for something else, so that no evaluation is in the way of another.
 *
 * @param out absent where no results are written
 * @throws HumanError when a manifest in the folder cannot be read
 */
export async function usualRunId(out: string | undefined, same: Sameness): Promise<string> {
  for (let n = 1; ; n++) {
    const runId = n === 1 ? 'run' : `run-${n}`;
    if (out === undefined) return runId;
    const known = await readManifest(runFolder(out, runId));
    const isFree = known === undefined && !(await hasReports(out, runId));
    if (isFree || known?.digest === digestOfSame(same)) return runId;
  }
}

const hasReports = async (out: string, runId: string): Promise<boolean> =>
  (await readdir(reportsFolder(out, runId)).catch(() => [])).length > 0;

/** The refusal of a folder that holds a run of something else, with what differs. */
function otherRun(out: string, runId: string, known: Sameness, asked: Sameness): HumanError {
  const names = [...new Set([...Object.keys(asked), ...Object.keys(known)])];
  const isDigest = (value: string | undefined): boolean => /^[0-9a-f]{64}$/.test(value ?? '');
  const differences = names
    .filter((name) => known[name] !== asked[name])
    .map((name) =>
      isDigest(known[name]) || isDigest(asked[name])
        ? `${name} are others`
        : `${name} was ${known[name] ?? 'not given'} and is ${asked[name] ?? 'not given'}`,
    );
  return new HumanError(
    `The folder ${out} holds a run ${runId} of something else: ${differences.join('; ')}`,
    'Name another run with --run-id or another folder with --out, or begin this one anew with --fresh',
  );
}

/** Bytes that have to fit before a batch begins: a report of a large test file and its two logs. */
const probeBytes = 1 << 20;

const probeName = 'probe';

/** Finds out now, and not after the first hour, whether the results folder can be written. */
async function probe(out: string, folder: string): Promise<void> {
  const path = besideOf(join(folder, probeName));
  try {
    await mkdir(folder, { recursive: true });
    const file = await open(path, 'wx');
    try {
      await file.writeFile(Buffer.alloc(probeBytes, 0x20));
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unwritable(out, error);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

function unwritable(out: string, error: unknown): HumanError {
  if (error instanceof HumanError && noSpace(error, out) === undefined) return error;
  return noSpace(error, out) === undefined
    ? new HumanError(
        `The results folder ${out} cannot be written (${messageOf(error)})`,
        'Name a folder that you may write with --out',
      )
    : new HumanError(
        `No space left on the disk of the results folder ${out}`,
        'Free some, or name another folder with --out',
      );
}

function lost(out: string, error: unknown, kept: number): HumanError {
  const why =
    noSpace(error, out) === undefined
      ? `cannot be written any more (${messageOf(error)})`
      : 'has no space left on its disk';
  return new HumanError(
    `The results folder ${out} ${why}: stopped, with ${kept} finished candidate${kept === 1 ? '' : 's'} kept`,
    'Mend that, and give the same command again to go on',
  );
}

const isOfFiles = (error: unknown): boolean =>
  typeof (error as NodeJS.ErrnoException | null)?.code === 'string';

/** Does `work` if no other process writes this run, and refuses otherwise. */
async function alone<T>(
  folder: string,
  { out, runId, signal }: ResultsRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const refusal = new AbortController();
  const path = join(folder, 'run');
  let begun = false;
  let waits = true;
  const refuse = async (): Promise<void> => {
    // Without a name it may be what a process left that was killed at that moment: that passes. Seen
    // twice, since it may have become ours between the look and the beginning of the work.
    for (let seen = 0; waits; seen = (await isKnownToBeHeld(path)) ? seen + 1 : 0) {
      if (seen === 2) return refusal.abort();
      await sleep(100);
    }
  };
  try {
    return await withLock(
      path,
      {
        signal: AbortSignal.any([signal, refusal.signal]),
        reporter: {
          log: () => undefined,
          // It is told only when somebody else holds the lock.
          progress: (text) => {
            if (text !== '') void refuse();
          },
        },
        what: `writes the run ${runId}`,
      },
      (held) => {
        begun = true;
        waits = false;
        return work(held);
      },
    );
  } catch (error) {
    if (begun || !refusal.signal.aborted || signal.aborted) throw error;
    throw new HumanError(
      `Another process is writing the run ${runId} in ${out}`,
      'Wait until it has ended, or name another run with --run-id',
    );
  } finally {
    waits = false;
  }
}
