import { createHash, randomUUID } from 'node:crypto';
import { lutimes, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { throwIfAborted } from '../../domain/problem';
import type { Side } from '../../domain/outcome';
import { git } from '../../repository/git';
import { applyToTree, copyTree, resetTree, type Trees } from '../../repository/trees';
import type { Engine, Pair, RunRecord, RunRequest, Sandbox } from '../engine';
import { runProcess } from '../process';
import { readTrace } from '../trace/readTrace';
import { guard, type Guardian } from './guardian';
import { findPython, type LocalEnvironment } from './python';

export interface LocalOptions {
  /** Folder for working copies and compiled files. */
  readonly storage: string;
  /** Folder of the Python files of the tracer. */
  readonly tracer: string;
  /** Interpreter or virtual environment. */
  readonly python?: string | undefined;
}

/** Bytes of output after which a run is stopped: far more than any real suite prints. */
const outputLimit = 64 * 1024 * 1024;

/**
 * Runs tests on this machine with an interpreter of the user's. There is no isolation beyond a
 * process group, a private home and an environment without the user's secrets: for code that one
 * would run anyway.
 */
export async function localEngine(options: LocalOptions): Promise<Engine> {
  const environment = await findPython(options.python, options.tracer);
  const pairs = join(options.storage, 'pairs');
  await removeAbandoned(pairs);
  return {
    name: 'local',
    environment,
    async openPair(trees: Trees, signal?: AbortSignal): Promise<Pair> {
      throwIfAborted(signal);
      const folder = join(pairs, `${process.pid}-${randomUUID()}`);
      await mkdir(folder, { recursive: true });
      const guardian = guard(environment.interpreter, folder);
      const open = async (side: Side): Promise<Sandbox> => {
        const tree = join(folder, side);
        await copyTree(trees[side], tree);
        return localSandbox({
          side,
          tree,
          commit: (await git(['rev-parse', 'HEAD'], { cwd: tree })).trim(),
          scratch: join(folder, `${side}-runs`),
          environment,
          tracer: options.tracer,
          guardian,
        });
      };
      const [base, fixed] = await Promise.all([open('base'), open('fixed')]);
      return {
        base,
        fixed,
        async dispose() {
          guardian.dismiss();
          await rm(folder, { recursive: true, force: true, maxRetries: 3 });
        },
      };
    },
  };
}

interface LocalSandbox {
  readonly side: Side;
  readonly tree: string;
  /** The commit that is the tree without a candidate. */
  readonly commit: string;
  /** Private to this sandbox, emptied after every run. */
  readonly scratch: string;
  readonly environment: LocalEnvironment;
  readonly tracer: string;
  readonly guardian: Guardian;
}

function localSandbox(box: LocalSandbox): Sandbox {
  return {
    side: box.side,
    async load(patch, signal) {
      // Not cut short: these take a moment, and a git that was killed leaves locks to the next one.
      throwIfAborted(signal);
      await removeLocks(join(box.tree, '.git'));
      await resetTree(box.tree, undefined, box.commit);
      throwIfAborted(signal);
      if (patch.trim() === '') return;
      await applyToTree(box.tree, patch);
      await stampEdits(box.tree, undefined);
      throwIfAborted(signal);
    },
    run: (request) => runIn(box, request),
  };
}

/** Locks that a test of the last candidate left in the copy's repository; nobody else works there. */
async function removeLocks(gitFolder: string): Promise<void> {
  const names = await readdir(gitFolder, { recursive: true }).catch(() => []);
  for (const name of names) {
    if (name.endsWith('.lock')) await rm(join(gitFolder, name), { force: true });
  }
}

async function runIn(box: LocalSandbox, request: RunRequest): Promise<RunRecord> {
  const run = join(box.scratch, randomUUID());
  const traceFolder = join(run, 'trace');
  const home = join(run, 'home');
  const temporary = join(run, 'tmp');
  await Promise.all([traceFolder, home, temporary].map((path) => mkdir(path, { recursive: true })));
  const config = join(run, 'trace.json');
  await writeFile(
    config,
    JSON.stringify({
      format: 1,
      root: box.tree,
      files: Object.fromEntries(request.countLines),
      out: traceFolder,
      outcomes: true,
    }),
  );
  try {
    const { plan } = request;
    const result = await runProcess({
      argv: [box.environment.interpreter, ...plan.args],
      cwd: join(box.tree, plan.cwd),
      env: {
        ...(await environmentOf(box, request.hashSeed ?? 0)),
        ...plan.env,
        HOME: home,
        TMPDIR: temporary,
        TEMP: temporary,
        TMP: temporary,
        SWT_TRACE_CONFIG: config,
      },
      timeoutSeconds: request.timeoutSeconds,
      outputLimit,
      signal: request.signal,
      guardian: box.guardian,
      onOutput: request.onOutput,
    });
    return {
      ending: result.ending,
      exitCode: result.exitCode,
      killedBy: result.killedBy,
      startError: result.startError,
      log: result.output,
      seconds: result.seconds,
      trace: await readTrace(traceFolder),
    };
  } finally {
    await removeForce(run);
  }
}

/** Only what programs need to start: no keys or tokens of the user reach the tests. */
const passedOn = [
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LD_LIBRARY_PATH',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'SystemRoot',
  'ComSpec',
  'PATHEXT',
];

async function environmentOf(box: LocalSandbox, hashSeed: number): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const name of passedOn) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const bin = dirname(box.environment.interpreter);
  env['PATH'] = [bin, process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  const isVirtual = await exists(join(bin, '..', 'pyvenv.cfg'));
  if (isVirtual) env['VIRTUAL_ENV'] = dirname(bin);
  if (box.environment.userBase !== undefined) env['PYTHONUSERBASE'] = box.environment.userBase;
  // The tree comes before an installed copy of the same package, in either usual layout.
  const src = join(box.tree, 'src');
  env['PYTHONPATH'] = [box.tracer, ...((await exists(src)) ? [src] : []), box.tree].join(delimiter);
  env['PYTHONHASHSEED'] = String(hashSeed);
  env['PYTHONIOENCODING'] = 'utf-8';
  env['PYTHONUNBUFFERED'] = '1';
  return env;
}

/**
 * Gives every edited file a modification time made from its content. Python takes a compiled file as
 * current when time (in whole seconds) and size agree, so two candidates written within a second
 * could otherwise run each other's tests.
 */
async function stampEdits(tree: string, signal: AbortSignal | undefined): Promise<void> {
  const status = await git(
    ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignored'],
    {
      cwd: tree,
      signal,
    },
  );
  for (const entry of status.split('\0')) {
    const path = join(tree, entry.slice(3));
    if (entry === '' || !path.endsWith('.py')) continue;
    const content = await readFile(path).catch(() => undefined);
    if (content === undefined) continue; // deleted by the candidate
    const seconds = createHash('sha256').update(content).digest().readUInt32LE(0) % 1_500_000_000;
    await lutimes(path, seconds, seconds);
  }
}

/** Pairs of processes that were killed before they could remove them. */
async function removeAbandoned(pairs: string): Promise<void> {
  for (const name of await readdir(pairs).catch(() => [])) {
    const pid = Number(name.split('-')[0]);
    if (!isAlive(pid)) await removeForce(join(pairs, name));
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A test may leave folders that cannot be listed; they are left rather than fail the run. */
async function removeForce(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined)) !== undefined;
