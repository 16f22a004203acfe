import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeResult } from './runFolder';
import { readPlainText } from '../files/plainFile';

const liveState = z.object({
  done: z.number().int().nonnegative(),
  total: z.number().int().nonnegative(),
  running: z
    .array(z.object({ instance: z.string(), model: z.string(), since: z.string() }))
    .readonly(),
  paused: z.boolean(),
  pid: z.number().int(),
  /** ISO 8601. */
  started: z.string(),
  /** Candidates per hour; absent until it is known. */
  perHour: z.number().exactOptional(),
  secondsLeft: z.number().exactOptional(),
});

/**
 * The progress of a running batch, in a file beside its journal. If the process of a state no
 * longer exists, the run was interrupted.
 */
export type LiveState = Readonly<z.infer<typeof liveState>>;

export const livePath = (folder: string): string => join(folder, 'live.json');

/** Undefined where no run is under way, or the file is damaged. */
export async function readLive(folder: string): Promise<LiveState | undefined> {
  const text = await readPlainText(livePath(folder)).catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return liveState.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Writes the newest state, at most twice a second. */
interface LiveWriter {
  update(state: LiveState): void;
  /** Removes the file. */
  end(): Promise<void>;
}

const interval = 500;

export function liveWriter(folder: string): LiveWriter {
  const path = livePath(folder);
  let next: LiveState | undefined;
  let timer: NodeJS.Timeout | undefined;
  let last = -Infinity;
  let writing: Promise<void> = Promise.resolve();
  let ended = false;
  const write = (): void => {
    timer = undefined;
    if (next === undefined || ended) return;
    const text = `${JSON.stringify(next)}\n`;
    next = undefined;
    last = performance.now();
    // The file is for display only: the batch goes on if it cannot be written.
    writing = writing.then(() => writeResult(path, text)).catch(() => undefined);
  };
  return {
    update(state) {
      next = state;
      if (timer !== undefined || ended) return;
      const wait = Math.max(0, last + interval - performance.now());
      if (wait === 0) write();
      else timer = setTimeout(write, wait);
    },
    async end() {
      ended = true;
      clearTimeout(timer);
      await writing;
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
}
