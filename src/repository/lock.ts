import { Cancelled, HumanError, throwIfAborted, systemCode, type Reporter } from '../domain/work';
import { sha256 } from '../files/digest';
import { makeFolder } from '../files/wholeFile';
import { noSpace } from './storage';
import { randomUUID } from 'node:crypto';
import { readFile, rm, rmdir, stat, writeFile, readdir, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';

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
        `Another process took over while this one was suspended (${options.what})`,
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

/** Identifies a process, even if a later one gets the same number. */
interface Owner {
  readonly pid: number;
  /** Digest of the machine and, in containers, of the namespace of its process numbers. */
  readonly machine: string;
  /** Start time in the kernel's own format; empty where it is not available. */
  readonly started: string;
}

let own: Promise<Owner> | undefined;

function thisProcess(): Promise<Owner> {
  own ??= (async () => {
    const space = await readlink('/proc/self/ns/pid').catch(() => '');
    return {
      pid: process.pid,
      machine: sha256(`${hostname()}\0${space}`).slice(0, 12),
      started: await startOf(process.pid),
    };
  })();
  return own;
}

/** Field 22 of /proc/PID/stat (proc(5)): clock ticks from boot to the start of the process. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name in parentheses, which may contain blanks and
  // parentheses.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** This process as one word, which other processes can read and pass to {@link hasEnded}. */
export async function ownerWord(): Promise<string> {
  const { pid, machine, started } = await thisProcess();
  return `${pid}-${machine}-${started}`;
}

/**
 * Whether the process of an {@link ownerWord} has ended. False when that cannot be known, because
 * it belongs to another machine or the word is damaged.
 */
export async function hasEnded(word: string): Promise<boolean> {
  const match = /^(\d{1,10})-([0-9a-f]{12})-(\d*)$/.exec(word);
  if (match === null) return false;
  const pid = Number(match[1]);
  if (match[2] !== (await thisProcess()).machine) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === 'ESRCH';
  }
  const started = await startOf(pid);
  return match[3] !== '' && started !== '' && started !== match[3];
}

/** Whether the process of an {@link ownerWord} runs, or ran, on this machine. */
const isOfThisMachine = async (word: string): Promise<boolean> =>
  word.split('-')[1] === (await thisProcess()).machine;

/** Milliseconds after which a mark from another machine counts as left over. */
const foreignMark = 24 * 3600 * 1000;

/**
 * Marks a folder as in use by this process until the returned function is called. A mark is void
 * once its process has ended, however that happened.
 */
export async function holdFolder(folder: string): Promise<() => Promise<void>> {
  const marks = marksOf(folder);
  await makeFolder(marks);
  const mark = join(marks, `${await ownerWord()}.${randomUUID()}`);
  await writeFile(mark, '');
  return () => rm(mark, { force: true });
}

/** Numbers of the processes that use a folder now. Marks of ended processes are removed. */
export async function holdersOf(folder: string): Promise<number[]> {
  const marks = marksOf(folder);
  const holders: number[] = [];
  for (const name of await readdir(marks).catch(() => [])) {
    const word = name.split('.')[0] ?? '';
    const written = await stat(join(marks, name)).catch(() => undefined);
    if (written === undefined) continue;
    const isOurs = await isOfThisMachine(word);
    const left = isOurs ? await hasEnded(word) : Date.now() - written.mtimeMs > foreignMark;
    if (left) await rm(join(marks, name), { force: true });
    else holders.push(Number.parseInt(word, 10));
  }
  return [...new Set(holders)];
}

const marksOf = (folder: string): string => `${folder}.in-use`;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Removes the unfinished `path.UUID…` that killed processes left beside `path`. Call it only under
 * the lock of `path`; without the lock, processes may still be writing to these.
 */
export async function removeAbandonedBeside(path: string): Promise<void> {
  const start = `${basename(path)}.`;
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (name.startsWith(start) && uuid.test(name.slice(start.length))) {
      await removeForce(join(dirname(path), name));
    }
  }
}

/** Removes a folder that a dying process may still be writing to. */
export const removeForce = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
