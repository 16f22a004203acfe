import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A `git` that records its commands and, at a chosen one, stalls until it is released. */
export interface StallingGit {
  /** Environment in which this `git` comes first on the path. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when a command stalls. */
  stalled(): Promise<void>;
  letGo(): Promise<void>;
  /** First words of the commands run so far, such as `clone --bare`. */
  commands(): string[];
}

/** @param at the command that stalls, as a shell pattern for all its arguments */
export async function stallingGit(folder: string, at: string): Promise<StallingGit> {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  await mkdir(folder, { recursive: true });
  const [log, mark, go] = ['log', 'mark', 'go'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const script = join(folder, 'git');
  await writeFile(
    script,
    `#!/bin/sh
echo "$*" >> '${log}'
case "$*" in ${at})
  : > '${mark}'
  n=0; while [ ! -e '${go}' ] && [ $n -lt 6000 ]; do sleep 0.1; n=$((n+1)); done;;
esac
exec '${real}' "$@"
`,
  );
  await chmod(script, 0o755);
  return {
    env: { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` },
    async stalled() {
      while (!existsSync(mark)) await sleep(20);
    },
    letGo: () => writeFile(go, ''),
    commands: () =>
      (existsSync(log) ? readFileSync(log, 'utf8') : '')
        .split('\n')
        .map((line) => line.replace(/(^| )(-[cC] \S+|--git-dir \S+)(?= |$)/g, '').trim())
        .filter(Boolean),
  };
}

/** A separate process that prepares the trees of the instance in `request`, a JSON file. */
export interface Preparing {
  readonly child: ChildProcess;
  /** What it wrote: its progress, and `done` with the folder of R or `failed` with the message. */
  readonly output: () => string;
  /** Resolves with the output when the process has ended. */
  readonly ended: Promise<string>;
}

export function prepareElsewhere(
  request: string,
  env: Readonly<Record<string, string>> = {},
): Preparing {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(__dirname, 'prepareProcess.ts'), request],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<string>((resolve) => child.on('close', () => resolve(text)));
  return { child, output: () => text, ended };
}
