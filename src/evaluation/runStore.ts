import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../repository/makeFolder';
import { runsFolder } from '../repository/storage';
import type { RunRecord, RunRequest } from '../engine/engine';
import { whyBrokenOff } from './results';

/** Raised when a kept run means something else than before. */
const format = 2;

/** Everything that a run depends on. Equal keys, equal run. */
export interface RunKey {
  /** Id of the instance; its runs lie in its folder, and are freed with it. */
  readonly instance: string;
  /** Object id of the tree without the candidate. */
  readonly tree: string;
  /** The patch that was loaded, or empty. */
  readonly patch: string;
  readonly environment: string;
  readonly request: Pick<RunRequest, 'plan' | 'countLines' | 'timeoutSeconds'>;
}

/** Finished runs, kept on disk, so that base and golden runs are done once per instance. */
export interface RunStore {
  /**
   * The kept run of this key, or else what `run` gives, which is then kept. Two callers at once share
   * one run. A run that broke off (stopped, killed, a test without an end) is returned but not kept: it
   * says nothing about the next.
   *
   * @param reuse false to run in any case
   */
  getOrRun(key: RunKey, reuse: boolean, run: () => Promise<RunRecord>): Promise<RunRecord>;
}

/**
 * @param storage the storage folder; runs lie below `instances/<id>/runs`
 * @param options.fresh use only runs that this store itself has made: each is made once more
 */
export function runStore(storage: string, options: { readonly fresh?: boolean } = {}): RunStore {
  const made = new Set<string>();
  const pathOf = (key: RunKey): string => {
    const digest = createHash('sha256')
      .update(
        JSON.stringify([
          format,
          key.tree,
          key.patch,
          key.environment,
          key.request.plan,
          [...key.request.countLines],
          key.request.timeoutSeconds,
        ]),
      )
      .digest('hex');
    return join(runsFolder(storage, key.instance), digest.slice(0, 2), `${digest}.json`);
  };
  const underWay = new Map<string, Promise<RunRecord>>();
  const read = async (path: string): Promise<RunRecord | undefined> => {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    // The first line is the digest of the rest: an entry cut off by a full disk is not used.
    const end = text.indexOf('\n');
    const body = text.slice(end + 1);
    if (end < 0 || text.slice(0, end) !== digestOf(body)) return undefined;
    return JSON.parse(body, reviveMaps) as RunRecord;
  };
  const keep = async (path: string, record: RunRecord): Promise<void> => {
    await makeFolder(dirname(path));
    const body = JSON.stringify(record, keepMaps);
    const beside = `${path}.${randomUUID()}`;
    try {
      await writeFile(beside, `${digestOf(body)}\n${body}`);
      await rename(beside, path);
    } finally {
      await rm(beside, { force: true });
    }
  };
  return {
    async getOrRun(key, reuse, run) {
      const path = pathOf(key);
      for (let same; reuse && (same = underWay.get(path)) !== undefined;) {
        try {
          return await same;
        } catch {
          // Cancelled, or failed, for the one who asked first: no reason not to run it for us.
        }
      }
      const work = (async () => {
        const mayRead = reuse && (options.fresh !== true || made.has(path));
        const kept = mayRead ? await read(path) : undefined;
        if (kept !== undefined) return kept;
        const record = await run();
        // A full disk costs the next caller a run, and this one nothing.
        if (whyBrokenOff(record) === undefined) {
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

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex');

const keepMaps = (_name: string, value: unknown): unknown =>
  value instanceof Map ? { $map: [...(value as Map<unknown, unknown>)] } : value;

const reviveMaps = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$map' in value
    ? new Map(value.$map as [unknown, unknown][])
    : value;
