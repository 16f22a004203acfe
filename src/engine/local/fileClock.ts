import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A moment by the clock that a disk takes the times of changes from. */
export interface FileMoment {
  /** The number of the disk. */
  readonly device: bigint;
  /** Nanoseconds since 1970; whatever is changed after this moment has a later time. */
  readonly ns: bigint;
}

/**
 * The present moment by the clock of a folder's disk. That clock advances only every few
 * milliseconds, so this waits until it has. Undefined where it does not advance.
 *
 * @throws what writing into the folder throws
 */
export async function fileMoment(folder: string): Promise<FileMoment | undefined> {
  const path = join(folder, randomUUID());
  try {
    const first = await changeTime(path);
    for (let tries = 0; tries < 50; tries += 1) {
      if ((await changeTime(path)).ns > first.ns) return first;
      await delay(1);
    }
    return undefined;
  } finally {
    await rm(path, { force: true });
  }
}

async function changeTime(path: string): Promise<FileMoment> {
  await writeFile(path, 'x');
  const { dev, ctimeNs } = lstatSync(path, { bigint: true });
  return { device: dev, ns: ctimeNs };
}

/**
 * Whether something was last changed at a moment at the latest. A removed file changes its folder.
 * False where that cannot be known, such as on another disk. No program can set these times.
 */
export function isNotAfter(path: string, moment: FileMoment): boolean {
  const info =
    lstatSync(path, { bigint: true, throwIfNoEntry: false }) ??
    lstatSync(dirname(path), { bigint: true, throwIfNoEntry: false });
  return info !== undefined && info.dev === moment.device && info.ctimeNs <= moment.ns;
}
