import { readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { Cancelled, HumanError, throwIfAborted, systemCode } from '../domain/humanError';
import type { Reporter } from '../domain/reporter';
import { makeFolder } from '../files/makeFolder';
import { hasEnded, isOfThisMachine, ownerWord } from './owner';
import { noSpace } from './space';

/**
 * Milliseconds without a sign of life after which a lock is taken over. It is long because an
 * editor can be busy or asleep for a while. A process that has ended is recognised at once by its
 * number.
 */
const stale = 30_000;

interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** What the other process does during the wait: `prepares sympy__sympy-23117`. */
  readonly what: string;
}

/**
 * Does `work` while no other process, and no other code in this one, holds the lock at `path`.
 * Reports progress when it has to wait. Takes over a lock whose holder has ended, however that
 * happened.
 *
 * The signal given to `work` also fires when the lock is lost, for example after the machine slept.
 *
 * @throws Cancelled, also while waiting; HumanError when the folder of locks cannot be written
 */
export async function withLock<T>(
  path: string,
  options: LockOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const release = await acquire(path, options, () => lost.abort());
  try {
    const both = options.signal ? AbortSignal.any([options.signal, lost.signal]) : lost.signal;
    return await work(both);
  } catch (error) {
    if (lost.signal.aborted && options.signal?.aborted !== true && error instanceof Cancelled) {
      throw new HumanError(
        `Another process took over while this one stood still (${options.what})`,
        'Try again',
      );
    }
    throw error;
  } finally {
    await release();
  }
}

async function acquire(
  path: string,
  { signal, reporter, what }: LockOptions,
  onLost: () => void,
): Promise<() => Promise<void>> {
  let told = false;
  for (;;) {
    throwIfAborted(signal);
    const release = await tryLock(path, onLost);
    if (release !== undefined) {
      if (told) reporter.progress('');
      return release;
    }
    await breakIfAbandoned(path);
    if (!told) {
      // A short wait without a message, for another process that only reads a few files.
      const short = await tryFor(path, onLost, 300, signal);
      if (short !== undefined) return short;
      told = true;
      reporter.progress(`waiting for another process that ${what}`);
    }
    await sleep(100, undefined, { signal }).catch(() => undefined);
  }
}

async function tryFor(
  path: string,
  onLost: () => void,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<(() => Promise<void>) | undefined> {
  for (const end = performance.now() + milliseconds; performance.now() < end;) {
    await sleep(25, undefined, { signal }).catch(() => undefined);
    throwIfAborted(signal);
    const release = await tryLock(path, onLost);
    if (release !== undefined) return release;
  }
  return undefined;
}

/** A function that releases the lock; undefined when another process holds it. */
async function tryLock(
  path: string,
  onLost: () => void,
): Promise<(() => Promise<void>) | undefined> {
  let release: () => Promise<void>;
  try {
    await makeFolder(dirname(path));
    release = await lock(path, { ...lockOptions(path), stale, onCompromised: onLost });
  } catch (error) {
    if (systemCode(error) === 'ELOCKED') return undefined;
    throw noSpace(error, dirname(path)) ?? error;
  }
  // The lock works without the owner's name, but a killed owner is then noticed later.
  await writeFile(ownerPath(path), `${await ownerWord()} ${await identity(path)}`).catch(
    () => undefined,
  );
  return async () => {
    await rm(ownerPath(path), { force: true });
    // Fails when the lock was lost, because another process holds it then.
    await release().catch(() => undefined);
  };
}

/**
 * Looks at the lock at `path`, as often as it is called: whether a process is known to hold it. A
 * lock without a name is being made, or was left by a process that was killed while making it. The
 * process of another machine counts once it has renewed the lock since the first look, since its
 * machine may be gone. `withLock` takes over such locks after a while.
 */
export function holderWatch(path: string): () => Promise<boolean> {
  const first = renewedAt(path);
  return async () => {
    const word = await ownerOf(path);
    if (word === undefined || (await hasEnded(word))) return false;
    return (await isOfThisMachine(word)) || (await renewedAt(path)) !== (await first);
  };
}

/** When the holder of the lock last gave a sign of life, in milliseconds; 0 without a lock. */
const renewedAt = (path: string): Promise<number> =>
  stat(`${path}.lock`).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** The word of the process that holds the present lock. */
async function ownerOf(path: string): Promise<string | undefined> {
  const text = await readFile(ownerPath(path), 'utf8').catch(() => '');
  const [word = '', id] = text.split(' ');
  return id !== undefined && id === (await identity(path)) ? word : undefined;
}

/** Takes the lock away from a process that has ended. Only one process at a time checks. */
async function breakIfAbandoned(path: string): Promise<void> {
  const abandoned = async (): Promise<boolean> => {
    const word = await ownerOf(path);
    return word !== undefined && (await hasEnded(word));
  };
  if (!(await abandoned())) return;
  const breaking = `${path}.breaking`;
  const release = await lock(breaking, { ...lockOptions(breaking), stale: 5_000 }).catch(
    () => undefined,
  );
  if (release === undefined) return;
  try {
    if (!(await abandoned())) return;
    // Remove the name first, because no process breaks a new lock without a name.
    await rm(ownerPath(path), { force: true });
    await rmdir(`${path}.lock`).catch(() => undefined);
  } finally {
    await release().catch(() => undefined);
  }
}

const lockOptions = (path: string) => ({
  realpath: false,
  lockfilePath: `${path}.lock`,
  retries: 0,
});

const ownerPath = (path: string): string => `${path}.owner`;

/** Distinguishes this lock from one made later at the same path. */
async function identity(path: string): Promise<string> {
  const info = await stat(`${path}.lock`).catch(() => undefined);
  return info === undefined ? 'none' : `${info.ino}:${info.birthtimeMs}`;
}
