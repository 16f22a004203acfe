import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { Cancelled, messageOf, throwIfAborted } from '../../domain/problem';
import { sideName, sides, type Side } from '../../domain/outcome';
import { makeFolder } from '../../repository/makeFolder';
import { hasEnded, ownerWord } from '../../repository/owner';
import { fullDisk } from '../../repository/space';
import type { Trees } from '../../repository/trees';
import { openWorkingCopy, type WorkingCopy } from '../../repository/workingCopy';
import {
  sandboxesOf,
  SandboxUnusable,
  type DebuggedProgram,
  type Engine,
  type Sandboxes,
  type RunRecord,
  type RunRequest,
  type Sandbox,
} from '../engine';
import { outputLimit } from '../boundedOutput';
import { killMarked } from '../killing';
import { runMark, runProcess } from '../process';
import { followTrace } from '../trace/followTrace';
import { readTrace, type Trace } from '../trace/readTrace';
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

/**
 * Runs tests on this machine with an interpreter of the user's. There is no isolation beyond a
 * process group, a private home and an environment without the user's secrets: for code that one
 * would run anyway.
 */
export async function localEngine(options: LocalOptions): Promise<Engine> {
  const environment = await findPython(options.python, options.tracer);
  const pairs = join(options.storage, 'pairs');
  await removeAbandoned(pairs);
  const { pytest } = environment;
  let isDisposed = false;
  const pairsOpen = new Set<() => Promise<void>>();
  return {
    name: 'local',
    description: `local engine, ${environment.description}, ${pytest === undefined ? 'pytest not installed' : `pytest ${pytest}`}`,
    environment,
    prepare: (_instance, trees) =>
      Promise.resolve({
        environment,
        openPair: ({ signal }, asked?: readonly Side[]) => openPair(trees, asked ?? sides, signal),
      }),
    async dispose() {
      isDisposed = true;
      await Promise.all([...pairsOpen].map((remove) => remove()));
    },
  };

  async function openPair<S extends Side>(
    trees: Trees,
    asked: readonly Side[],
    signal?: AbortSignal,
  ): Promise<Sandboxes<S>> {
    throwIfAborted(signal);
    if (isDisposed) throw new Cancelled();
    // Short, since tests put sockets below it, whose paths may have about a hundred characters.
    const folder = join(pairs, randomBytes(4).toString('hex'));
    const guardian = guard(environment.interpreter, folder);
    const remove = async (): Promise<void> => {
      pairsOpen.delete(remove);
      guardian.dismiss();
      await removeForce(folder);
    };
    const open = async (side: Side): Promise<Sandbox> => {
      const tree = join(folder, side);
      const copy = await openWorkingCopy(trees[side], tree, join(folder, `${side}.git`), signal);
      return localSandbox({
        side,
        tree,
        copy,
        scratch: join(folder, `${side}-runs`),
        environment,
        tracer: options.tracer,
        guardian,
      });
    };
    try {
      await makeFolder(pairs);
      await mkdir(folder);
      await writeFile(join(folder, ownerFile), await ownerWord());
      // All to their end, so that none still writes what is removed.
      const opened = await Promise.allSettled(asked.map(open));
      const failed = opened.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      pairsOpen.add(remove);
      const boxes = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      return { ...sandboxesOf<S>(boxes), dispose: remove };
    } catch (error) {
      const full = await fullDisk(error, pairs);
      await remove();
      throw full ?? error;
    }
  }
}

/** Names the process that has a pair open. */
const ownerFile = 'owner';

interface LocalSandbox {
  readonly side: Side;
  readonly tree: string;
  readonly copy: WorkingCopy;
  /** Private to this sandbox, emptied after every run. */
  readonly scratch: string;
  readonly environment: LocalEnvironment;
  readonly tracer: string;
  readonly guardian: Guardian;
}

function localSandbox(box: LocalSandbox): Sandbox {
  let runs = 0;
  return {
    side: box.side,
    async load(patch, signal) {
      throwIfAborted(signal);
      try {
        await box.copy.reset();
      } catch (error) {
        throw (
          (await fullDisk(error, box.scratch)) ??
          new SandboxUnusable(
            `The sandbox of ${sideName[box.side]} cannot be put back: ${messageOf(error)}`,
            'Run the tests again',
          )
        );
      }
      throwIfAborted(signal);
      if (patch.trim() !== '') await box.copy.apply(patch);
      throwIfAborted(signal);
    },
    run: (request) => runIn(box, join(box.scratch, String(++runs)), request),
    debug: (request, start) => debugIn(box, join(box.scratch, String(++runs)), request, start),
  };
}

/** @param run folder for what belongs to this run only; not there yet */
function runIn(box: LocalSandbox, run: string, request: RunRequest): Promise<RunRecord> {
  return withFolders(box, run, request, async ({ program, traceFolder }) => {
    const { onOutcome } = request;
    const unfollow = onOutcome === undefined ? undefined : followTrace(traceFolder, onOutcome);
    const result = await runProcess({
      argv: [program.interpreter, ...program.args],
      cwd: program.cwd,
      env: program.env,
      timeoutSeconds: request.timeoutSeconds,
      outputLimit,
      signal: request.signal,
      keeper: box.environment.interpreter,
      guardian: box.guardian,
      onOutput: request.onOutput,
    }).finally(unfollow);
    return {
      ending: result.ending,
      exitCode: result.exitCode,
      killedBy: result.killedBy,
      startError: result.startError,
      log: result.output,
      seconds: result.seconds,
      trace: await readTrace(traceFolder),
    };
  });
}

function debugIn(
  box: LocalSandbox,
  run: string,
  request: Pick<RunRequest, 'plan' | 'hashSeed'>,
  start: (program: DebuggedProgram) => Promise<void>,
): Promise<Trace> {
  const mark = randomUUID();
  // Counting and a debugger would be in each other's way.
  const uncounted = { ...request, countLines: new Map<string, readonly number[]>() };
  return withFolders(box, run, uncounted, async ({ program, traceFolder }) => {
    try {
      await start({ ...program, env: { ...program.env, [runMark]: mark } });
    } finally {
      await killMarked(mark);
    }
    return readTrace(traceFolder);
  });
}

interface Prepared {
  readonly program: DebuggedProgram;
  readonly traceFolder: string;
}

/** Makes the folders of one run for as long as it takes, and what starts the program in them. */
async function withFolders<T>(
  box: LocalSandbox,
  run: string,
  { plan, countLines, hashSeed }: Pick<RunRequest, 'plan' | 'countLines' | 'hashSeed'>,
  work: (prepared: Prepared) => Promise<T>,
): Promise<T> {
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
      files: Object.fromEntries(countLines),
      out: traceFolder,
      outcomes: true,
    }),
  );
  try {
    const program: DebuggedProgram = {
      interpreter: box.environment.interpreter,
      args: plan.args,
      cwd: join(box.tree, plan.cwd),
      env: {
        ...(await environmentOf(box, hashSeed ?? 0)),
        ...plan.env,
        HOME: home,
        TMPDIR: temporary,
        TEMP: temporary,
        TMP: temporary,
        SWT_TRACE_CONFIG: config,
      },
      tree: box.tree,
      scratch: run,
    };
    return await work({ program, traceFolder });
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
  // The tree comes before an installed copy of the same package, in any usual layout.
  const src = join(box.tree, 'src');
  const lib = join(box.tree, 'lib');
  env['PYTHONPATH'] = [
    box.tracer,
    ...((await exists(src)) ? [src] : []),
    box.tree,
    ...((await holdsPackages(lib)) ? [lib] : []),
  ].join(delimiter);
  env['PYTHONHASHSEED'] = String(hashSeed);
  env['PYTHONIOENCODING'] = 'utf-8';
  env['PYTHONUNBUFFERED'] = '1';
  return env;
}

/** Whether a folder is one of packages: others are called `lib` too. */
async function holdsPackages(folder: string): Promise<boolean> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (await exists(join(folder, name, '__init__.py'))) return true;
  }
  return false;
}

/** Pairs of processes that were killed before they could remove them. */
async function removeAbandoned(pairs: string): Promise<void> {
  for (const name of await readdir(pairs).catch(() => [])) {
    const folder = join(pairs, name);
    const owner = await readFile(join(folder, ownerFile), 'utf8').catch(() => undefined);
    const made = await stat(folder).catch(() => undefined);
    // Without its owner's name it is being made at this moment, or was when its process was killed.
    const isOld = made !== undefined && Date.now() - made.mtimeMs > 60_000;
    if (owner === undefined ? isOld : await hasEnded(owner)) await removeForce(folder);
  }
}

/** A test may leave folders that cannot be listed; they are left rather than fail the run. */
async function removeForce(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined)) !== undefined;
