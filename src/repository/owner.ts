import { randomUUID } from 'node:crypto';
import { readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../files/sha256';
import { makeFolder } from '../files/makeFolder';
import { systemCode } from '../domain/humanError';

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
export const isOfThisMachine = async (word: string): Promise<boolean> =>
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
