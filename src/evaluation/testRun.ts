import { sides, type Side } from '../domain/outcome';
import type { RunRecord, RunRequest } from '../engine/engine';
import type { TestPlan } from '../engine/runners';
import { sha256, sha256OfJson } from '../files/digest';
import { writeWholeFile } from '../files/wholeFile';
import { runsFolder } from '../repository/storage';
import { contradictionsOf } from './findings/inconsistentRecords';
import { whyIncomplete, whyNotRunnable } from './results';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export { contradictionsOf } from './findings/inconsistentRecords';

/** Both sides of one run. */
export interface BothSides {
  readonly base: RunRecord;
  readonly fixed: RunRecord;
}

/** One run of tests on one side, as results keep it. */
export interface TestRun {
  readonly ending: string;
  readonly exit_code: number | null;
  readonly seconds: number;
  readonly runner: string;
  /** How the changed lines were counted: monitoring, bytecode or settrace. */
  readonly techniques: readonly string[];
  readonly problems: readonly string[];
  /** Bounded output. If the run did not come to its end, the last line says how it ended. */
  readonly log: string;
}

export function testRun(plan: TestPlan, record: RunRecord): TestRun {
  return {
    ending: record.ending,
    exit_code: record.exitCode ?? null,
    seconds: Math.round(record.seconds * 1000) / 1000,
    runner: plan.runner,
    techniques: record.trace.techniques,
    problems: record.trace.problems,
    log: logWithEnding(record),
  };
}

/** Why a run does not show what all of its tests do; undefined where it came to its end. */
export const whyNotToTheEnd = (record: RunRecord): string | undefined =>
  whyNotRunnable(record) ?? whyIncomplete(record);

/** The output of a run. Where it did not come to its end, the reason is in the last line. */
function logWithEnding(record: RunRecord): string {
  const why = whyNotToTheEnd(record);
  if (why === undefined) return record.log;
  const start = record.log === '' || record.log.endsWith('\n') ? record.log : `${record.log}\n`;
  return `${start}swt-bench: ${why}\n`;
}

/** A run of the golden or base tests that does not tell what its tests do. */
export interface BrokenRun {
  /** T*, the tests of R beside T*, or the tests of R beside the candidate's. */
  readonly of: 'golden' | 'golden base' | 'base';
  readonly side: Side;
  /** Bounded output; its last line says how the run ended. */
  readonly log: string;
}

/** The sides on which a run broke off, or could not run its tests at all. */
export function brokenRuns(
  run: { readonly records: BothSides | undefined } | undefined,
  of: BrokenRun['of'],
): BrokenRun[] {
  const records = run?.records;
  if (records === undefined) return [];
  return sides.flatMap((side) => {
    const record = records[side];
    return whyNotToTheEnd(record) === undefined ? [] : [{ of, side, log: logWithEnding(record) }];
  });
}

/** Raised when the meaning of a kept run changes. */
const format = 3;

/** Everything that a run depends on: runs with equal keys are equal. */
export interface RunKey {
  /** Id of the instance; its runs are in its folder and are deleted with it. */
  readonly instance: string;
  /** Object id of the tree without the candidate. */
  readonly tree: string;
  /** The applied test patch, or empty. */
  readonly patch: string;
  readonly environment: string;
  /** Name of the tag that the tests see in their repository. */
  readonly tag?: string | undefined;
  readonly request: Pick<RunRequest, 'plan' | 'countLines' | 'timeoutSeconds'>;
}

/** Finished runs on disk, so that base and golden runs are done once per instance. */
export interface RunStore {
  /**
   * Returns the kept run of this key, or else calls `run` and keeps its result. Two callers at once
   * share one run. A run that broke off (stopped, killed, a test without an end) is returned but
   * not kept: it does not predict the next run. The same holds for a run whose records contradict
   * each other.
   *
   * @param reuse false to run in any case
   * @param mayKeep decides on each run that came to its end; without it all of these are kept
   */
  getOrRun(
    key: RunKey,
    reuse: boolean,
    run: () => Promise<RunRecord>,
    mayKeep?: (record: RunRecord) => Promise<boolean>,
  ): Promise<RunRecord>;
}

/**
 * @param storage the storage folder; runs are below `instances/<id>/runs`
 * @param options.fresh use only runs that this store itself has made: each run is made once more
 */
export function runStore(storage: string, options: { readonly fresh?: boolean } = {}): RunStore {
  const made = new Set<string>();
  const underWay = new Map<string, Promise<RunRecord>>();
  return {
    async getOrRun(key, reuse, run, mayKeep = () => Promise.resolve(true)) {
      const path = pathOf(storage, key);
      for (let same; reuse && (same = underWay.get(path)) !== undefined;) {
        try {
          return await same;
        } catch {
          // The first caller's run was cancelled or failed, which is no reason not to run it here.
        }
      }
      const work = (async () => {
        const mayRead = reuse && (options.fresh !== true || made.has(path));
        const kept = mayRead ? await readKept(path) : undefined;
        if (kept !== undefined) return kept;
        const record = await run();
        // When the disk is full, the next caller runs again; this caller loses nothing.
        const { runner } = key.request.plan;
        const isWhole =
          whyIncomplete(record) === undefined && contradictionsOf(record, runner).length === 0;
        if (isWhole && (await mayKeep(record))) {
          await keep(path, record).then(
            () => made.add(path),
            () => undefined,
          );
        }
        return record;
      })();
      underWay.set(path, work);
      try {
        return await work;
      } finally {
        if (underWay.get(path) === work) underWay.delete(path);
      }
    },
  };
}

function pathOf(storage: string, key: RunKey): string {
  const digest = sha256OfJson([
    format,
    key.tree,
    key.patch,
    key.environment,
    key.request.plan,
    [...key.request.countLines],
    key.request.timeoutSeconds,
    ...(key.tag === undefined ? [] : [key.tag]),
  ]);
  return join(runsFolder(storage, key.instance), digest.slice(0, 2), `${digest}.json`);
}

async function readKept(path: string): Promise<RunRecord | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // The first line is the digest of the rest: an entry that a full disk cut off is not used.
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (end < 0 || text.slice(0, end) !== sha256(body)) return undefined;
  return JSON.parse(body, reviveMaps) as RunRecord;
}

async function keep(path: string, record: RunRecord): Promise<void> {
  const body = JSON.stringify(record, keepMaps);
  await writeWholeFile(path, `${sha256(body)}\n${body}`);
}

const keepMaps = (_name: string, value: unknown): unknown =>
  value instanceof Map ? { $map: [...(value as Map<unknown, unknown>)] } : value;

const reviveMaps = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$map' in value
    ? new Map(value.$map as [unknown, unknown][])
    : value;
