import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256OfJson } from '../files/digest';
import { Cancelled, HumanError, messageOf, systemCode } from '../domain/work';
import { holderWatch, withLock } from '../repository/lock';
import { makeFolder, besideOf } from '../files/wholeFile';
import { noSpace } from '../repository/storage';
import { openJournal } from './journal';
import { removeBeside } from './runFolder';

/** The folder in which a command keeps its results. */
export interface FolderRequest {
  /** The results folder, as the user named it. */
  readonly out: string;
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** `manifest.same`: digests by the words that name them in a refusal. */
export type Sameness = Readonly<Record<string, string>>;

/** The journal of a folder that this process has locked. */
export interface LockedJournal<Line> {
  /** What an earlier command finished. */
  readonly lines: readonly Line[];
  /**
   * Saves a finished item: calls `write`, then appends the line that it returns.
   *
   * @throws HumanError when the folder can no longer be written
   */
  keep(write: () => Promise<Line>): Promise<void>;
  /** The message for the user about an error of writing. */
  lost(error: unknown): HumanError;
}

/**
 * Locks the folder of a run during `work`. The signal for `work` also fires when another process
 * takes the folder over, as after the machine slept.
 *
 * @param folder folder of the run, below `out`
 * @param begin checks the existing run, and returns the valid lines of its journal
 * @throws HumanError when the folder cannot be written, is full, or is in use; what `begin`
 *   throws
 */
export async function withLockedRunFolder<Line extends object, T>(
  folder: string,
  request: FolderRequest,
  begin: () => Promise<readonly Line[]>,
  work: (journal: LockedJournal<Line>, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { out, signal } = request;
  await probe(out, folder);
  return alone(folder, request, async (held) => {
    await removeBeside(folder, probeName);
    const lines = await begin();
    const journal = await openJournal<Line>(folder).catch((error: unknown) => {
      throw unwritableResults(out, error);
    });
    let kept = lines.length;
    try {
      return await work(
        {
          lines,
          lost: (error) => lost(out, error, kept),
          async keep(write) {
            try {
              await journal.append(await write());
              kept += 1;
            } catch (error) {
              throw lost(out, error, kept);
            }
          },
        },
        held,
      );
    } finally {
      await journal.close().catch(() => undefined);
    }
  }).catch((error: unknown) => {
    // Releasing the lock of a deleted folder fails.
    if (error instanceof HumanError || error instanceof Cancelled || signal.aborted) throw error;
    throw isOfFiles(error) ? unwritableResults(out, error) : error;
  });
}

/** The word for the place of a shard in its run, among the digests of {@link Sameness}. */
export const shardKey = '--shard';

/** The digests of the whole run to which a shard belongs. */
export function sameOfWhole({ [shardKey]: _shard, ...same }: Sameness): Sameness {
  return same;
}

/** Whether two runs, or a shard and its run, or two shards, are of one run. */
export const isSameRun = (one: Sameness, other: Sameness): boolean =>
  digestOfSame(sameOfWhole(one)) === digestOfSame(sameOfWhole(other));

export const digestOfSame = (same: Sameness): string => sha256OfJson(Object.entries(same).sort());

/**
 * The name of a run that the caller did not name: `run`, or the first of `run-2`, `run-3`, … for
 * which `fits` resolves to true. Runs thus do not collide.
 */
export async function firstRunId(fits: (runId: string) => Promise<boolean>): Promise<string> {
  for (let n = 1; ; n++) {
    const runId = n === 1 ? 'run' : `run-${n}`;
    if (await fits(runId)) return runId;
  }
}

/** The refusal of a folder that holds a different run, with the differences. */
export function otherRun(out: string, runId: string, known: Sameness, asked: Sameness): HumanError {
  const names = [...new Set([...Object.keys(asked), ...Object.keys(known)])];
  const isDigest = (value: string | undefined): boolean => /^[0-9a-f]{64}$/.test(value ?? '');
  const differences = names
    .filter((name) => known[name] !== asked[name])
    .map((name) =>
      isDigest(known[name]) || isDigest(asked[name])
        ? `${name} differ`
        : `${name} was ${known[name] ?? 'not given'} and is ${asked[name] ?? 'not given'}`,
    );
  return new HumanError(
    `The folder ${out} has a different run ${runId}: ${differences.join('; ')}`,
    'Specify another run with --run-id or another folder with --out, or restart this one with --fresh',
  );
}

/** Bytes that must fit before a batch begins: a report of a large test file and its two logs. */
const probeBytes = 1 << 20;

const probeName = 'probe';

/**
 * Checks at the start, rather than after the first hour, whether the results folder can be written.
 */
async function probe(out: string, folder: string): Promise<void> {
  const path = besideOf(join(folder, probeName));
  try {
    await makeFolder(folder);
    const file = await open(path, 'wx');
    try {
      await file.writeFile(Buffer.alloc(probeBytes, 0x20));
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unwritableResults(out, error);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

export function unwritableResults(out: string, error: unknown): HumanError {
  if (error instanceof HumanError && noSpace(error, out) === undefined) return error;
  return noSpace(error, out) === undefined
    ? new HumanError(
        `The results folder ${out} cannot be written (${messageOf(error)})`,
        'Specify a writable folder with --out',
      )
    : new HumanError(
        `No space left on the disk of the results folder ${out}`,
        'Free some space, or choose another folder with --out',
      );
}

function lost(out: string, error: unknown, kept: number): HumanError {
  const why =
    noSpace(error, out) === undefined
      ? `is no longer writable (${messageOf(error)})`
      : 'is on a full disk';
  return new HumanError(
    `The results folder ${out} ${why}. Stopped; ${kept} finished results are saved`,
    'Fix the problem and repeat the command to resume',
  );
}

const isOfFiles = (error: unknown): boolean => systemCode(error) !== undefined;

/** Calls `work` if no other process writes this run, and refuses otherwise. */
async function alone<T>(
  folder: string,
  { out, runId, signal }: FolderRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const refusal = new AbortController();
  const path = join(folder, 'run');
  let begun = false;
  let waits = true;
  const refuse = async (): Promise<void> => {
    const isHeld = holderWatch(path);
    // A lock without a known holder may be left by a process killed just then, and soon frees. A
    // holder counts only when seen twice: between the two looks the lock may have become ours.
    for (let seen = 0; waits; seen = (await isHeld()) ? seen + 1 : 0) {
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
          // `withLock` reports progress only when another process holds the lock.
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
      'Wait until it has finished, or specify another run with --run-id',
    );
  } finally {
    waits = false;
  }
}
