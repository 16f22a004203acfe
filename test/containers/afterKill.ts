import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { plainDocker } from './dockerForTests';

/** Kills a command with SIGKILL as soon as something holds, if it has not ended before. */
export async function killedWhen(
  child: ChildProcess,
  holds: () => Promise<boolean>,
): Promise<void> {
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null;
  while (!ended()) {
    if (await holds()) child.kill('SIGKILL');
    await sleep(20);
  }
}

/** Whether a trace has at least so many outputs of a stage. */
export async function hasOutputs(out: string, stage: string, count: number): Promise<boolean> {
  const text = await readFile(`${out}.trace.jsonl`, 'utf8').catch(() => '');
  return text.split(`"stage":${JSON.stringify(stage)},`).length > count;
}

/** Command lines of processes of this machine that name a path. */
export async function processesOn(path: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.map((line) => line.replaceAll('\0', ' ')).filter((line) => line.includes(path));
}

/** Names of all volumes of the engine. */
export async function volumeNames(): Promise<string[]> {
  const { Volumes } = await plainDocker.listVolumes();
  return Volumes.map(({ Name }) => Name).sort();
}
