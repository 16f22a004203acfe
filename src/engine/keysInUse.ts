import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { formsOf, redactor, type Redact } from '../domain/redact';

interface Held {
  /** Values that were taken out of the environment, by the names of their variables. */
  readonly taken: Map<string, string>;
  readonly keys: Set<string>;
  redact: Redact;
  longest: number;
}

/** One for the process: the extension is several bundles, each with its own copy of this module. */
const place = Symbol.for('swt-bench.keysInUse');

const held = (): Held => {
  const global = globalThis as { [place]?: Held };
  return (global[place] ??= {
    taken: new Map(),
    keys: new Set(),
    redact: (text) => text,
    longest: 0,
  });
};

/** Tells of a key, so that it is taken out of everything that is written from now on. */
export function useKey(key: string): void {
  const known = held();
  if (known.keys.has(key)) return;
  known.keys.add(key);
  known.redact = redactor([...known.keys]);
  known.longest = formsOf([...known.keys])[0]?.length ?? 0;
}

/** A text without the keys in use, in whatever form they are written. */
export const redactKeys: Redact = (text) => held().redact(text);

/** Characters of the longest form of a key in use; 0 where there is none. */
export const longestKey = (): number => held().longest;

/** Names under which an environment usually holds what nobody else may read. */
const secretName = /(?:^|_)(?:API_?KEY|ACCESS_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$/i;

/**
 * Takes keys of models out of the environment and keeps them in memory, so that no process that is
 * started from now on inherits them. On Linux they also go from what `/proc/PID/environ` shows of this
 * process. What else the environment seems to hold of secrets stays, since git or a registry may need it,
 * and is redacted likewise.
 *
 * @param names the variables that hold keys of models
 */
export function takeKeys(names: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  const { taken } = held();
  const gone: string[] = [];
  for (const name of names) {
    const value = env[name];
    if (value === undefined) continue;
    delete env[name];
    gone.push(name);
    taken.set(name, value);
    useKey(value.trim());
  }
  if (env === process.env && gone.length > 0) wipe(gone);
  noteKeys(names, env);
}

/**
 * Tells of the keys in an environment that they are in use, and leaves them where they are: the process is
 * not ours alone.
 */
export function noteKeys(names: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  for (const name of names) if (env[name] !== undefined) useKey(env[name].trim());
  for (const [name, value = ''] of Object.entries(env)) {
    const text = value.trim();
    if (secretName.test(name) && text.length >= 12 && !/[\s/\\]/.test(text)) useKey(text);
  }
}

/** A key of the environment, whether it was taken out of it or is still there. */
export function keyOfEnvironment(
  names: readonly string[],
  env: NodeJS.ProcessEnv = { ...Object.fromEntries(held().taken), ...process.env },
): string | undefined {
  return names.map((name) => env[name]?.trim()).find(Boolean);
}

/**
 * Overwrites variables where the kernel shows them. The system keeps the environment that a process was
 * started with in the process' own memory, whatever becomes of its variables
 * (https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html). To be called when no variable points
 * there any more. What cannot be done is left: the keys are then as readable as before.
 */
function wipe(names: readonly string[]): void {
  if (process.platform !== 'linux') return;
  let memory: number | undefined;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // The fields behind the name of the program, of which the first is number 3; env_start is number 50.
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[50 - 3]);
    const environment = readFileSync('/proc/self/environ');
    if (!Number.isSafeInteger(start) || start === 0) return;
    memory = openSync('/proc/self/mem', 'r+');
    let at = 0;
    for (const entry of environment.toString('latin1').split('\0')) {
      const equals = entry.indexOf('=');
      const length = entry.length - equals - 1;
      if (names.includes(entry.slice(0, equals)) && length > 0) {
        writeSync(memory, Buffer.alloc(length), 0, length, start + at + equals + 1);
      }
      at += entry.length + 1;
    }
  } catch {
    // A kernel, or a container, that does not let a process write there.
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
}
