import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { Cancelled, messageOf, throwIfAborted, type Reporter } from '../../domain/work';
import { sideName, sides, type Side } from '../../domain/outcome';
import { makeFolder } from '../../files/wholeFile';
import { hasEnded, ownerWord } from '../../repository/lock';
import { fullDisk, compiledFolder } from '../../repository/storage';
import type { Trees } from '../../repository/trees';
import { patchedFiles } from '../../repository/treeFiles';
import { openWorkingCopy, type WorkingCopy } from '../../repository/workingCopy';
import {
  sandboxesOf,
  SandboxUnusable,
  type Audience,
  type DebuggedProgram,
  type Engine,
  type EngineWork,
  type Sandboxes,
  type ExpectedRun,
  type RunRecord,
  type RunRequest,
  type Sandbox,
} from '../engine';
import { outputLimit } from '../programs/boundedOutput';
import {
  endRun,
  preloadModules,
  type LoadedAgent,
  ReadyAgents,
  runMark,
  runProcess,
  type ProcessRequest,
  type ProcessResult,
} from '../programs/process';
import { mayStartAhead, runnerOf } from '../runners/runners';
import { followTrace } from '../tracer/followTrace';
import { emptyTrace, readTrace, type ExecutionTrace } from '../tracer/readTrace';
import { alikeInPair, keptCompiledFiles, type CompiledOfPair } from './compilePristine';
import { watchEnvironment, type EnvironmentWatch } from './environmentWatch';
import { newRecordKey, type RecordKey } from '../tracer/recordKey';
import { localServices } from './localServices';
import { loadingTime, warmKeyOf, WarmStart } from '../sandbox/warmStart';
import type { LocalEnvironment } from './python';
import { missingPrograms } from '../sandbox/services';
import { treeVariable, type EnvironmentMaker } from '../environmentMaker';

export interface LocalOptions {
  readonly environments: EnvironmentMaker;
  /** Folder for working copies and compiled files. */
  readonly storage: string;
  /** Folder of the Python files of the tracer. */
  readonly tracer: string;
  /** Interpreter or virtual environment. */
  readonly python?: string | undefined;
  /** Whether the user waits for runs, so that each is prepared before it is asked for. */
  readonly isAwaited?: boolean | undefined;
  /** Seconds from which on loading R ahead of a run is worth it. */
  readonly warmFrom?: number | undefined;
}

/**
 * Runs tests on this machine with the user's interpreter. Tests are isolated only by a process
 * group, a private home and an environment without the user's secrets. So this engine is for code
 * that the user would run anyway.
 */
export async function localEngine(options: LocalOptions): Promise<Engine> {
  const { environments, storage, tracer, python } = options;
  const watch = await watchEnvironment(python, tracer, storage);
  const folder = join(storage, 'pairs');
  await removeAbandoned(folder);
  const pairs = new LocalPairs(options, watch, folder);
  // Its description and environment change with what is installed, so wrappers must not copy them.
  return {
    name: 'local',
    get description() {
      // Packages can be installed while the engine is open.
      const { packages, description } = watch.environment;
      const { pytest } = packages;
      return `local engine, ${description}, ${pytest === undefined ? 'pytest not installed' : `pytest ${pytest}`}`;
    },
    get environment() {
      return watch.environment;
    },
    prepare: (instance, trees, { audience = 'grading' }) =>
      Promise.resolve({
        get environment() {
          return watch.environment;
        },
        current: () => watch.current(),
        latest: () => watch.latest(),
        openPair: (work, asked?: readonly Side[]) =>
          pairs.open(
            { id: instance.id, trees, audience, tag: environments.surroundings(instance).tag },
            asked ?? sides,
            work,
          ),
      }),
    dispose: () => pairs.dispose(),
  };
}

class LocalPairs {
  private readonly over = new AbortController();
  /** Functions that remove the open pairs. */
  private readonly removers = new Set<() => Promise<void>>();
  private hasLogged = false;

  constructor(
    private readonly options: LocalOptions,
    private readonly watch: EnvironmentWatch,
    private readonly folder: string,
  ) {}

  async open<S extends Side>(
    request: PairRequest,
    asked: readonly Side[],
    { signal, reporter }: EngineWork,
  ): Promise<Sandboxes<S>> {
    throwIfAborted(signal);
    if (this.over.signal.aborted) throw new Cancelled();
    const { environment } = this.watch;
    // The name is short, since tests create sockets below it, and their paths are limited to about
    // a hundred characters.
    const folder = join(this.folder, randomBytes(4).toString('hex'));
    const compiled = await this.compiledFilesOf(request, environment);
    const boxes: LocalSandbox[] = [];
    const remove = async (): Promise<void> => {
      this.removers.delete(remove);
      for (const { agents, warm } of boxes) {
        agents.dispose();
        await warm.discard();
      }
      await removeForce(folder);
    };
    // Names and order do not reveal the side, and neither copy is beside the other.
    const names = distinctNames(asked.length);
    const open = (side: Side, index: number): Promise<LocalSandbox> =>
      openBox(join(folder, names[index] ?? ''), request.trees[side], signal, {
        side,
        compiled,
        tag: request.tag,
        watch: this.watch,
        tracer: this.options.tracer,
        folder,
        options: this.options,
        onLacks: (what) => this.logLacks(what, reporter),
        agents: new ReadyAgents(() => this.watch.environment.interpreter),
        warm: new WarmStart(this.options.warmFrom),
      });
    try {
      await makeFolder(this.folder);
      await mkdir(folder);
      await writeFile(join(folder, ownerFile), await ownerWord());
      // Wait for all of them, so that none writes into a folder that is being removed.
      const opened = await Promise.allSettled(inRandomOrder(asked).map(open));
      const failed = opened.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      this.removers.add(remove);
      boxes.push(...opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
      compiled?.sandboxesHave(boxes.map(({ copy }) => copy.modules));
      return { ...sandboxesOf<S>(boxes.map(localSandbox)), dispose: remove };
    } catch (error) {
      const full = await fullDisk(error, this.folder);
      await remove();
      throw full ?? error;
    }
  }

  /** Says once what this system does not have. */
  private logLacks(what: readonly string[], reporter: Reporter): void {
    if (this.hasLogged) return;
    this.hasLogged = true;
    const words = what.map((each) => lacked.get(each) ?? each);
    reporter.log(`local engine: this system ${words.join(', and ')}`);
  }

  async dispose(): Promise<void> {
    this.over.abort();
    this.watch.dispose();
    await Promise.all([...this.removers].map((remove) => remove()));
  }

  private async compiledFilesOf(
    { id, audience }: PairRequest,
    { build, compiledSuffix, interpreter }: LocalEnvironment,
  ): Promise<CompiledOfPair | undefined> {
    if (compiledSuffix === undefined) return undefined;
    // Which modules are compiled reveals what T* imports, also on R. So models get compiled files
    // of their own.
    const name = audience === 'model' ? `${build}-of-models` : build;
    const folder = join(compiledFolder(this.options.storage, id), name);
    const { signal } = this.over;
    return alikeInPair(await keptCompiledFiles(folder, interpreter, compiledSuffix, signal));
  }
}

/** What the agent says that a system lacks, in words. */
const lacked: ReadonlyMap<string, string> = new Map([
  ['orphans', 'cannot find orphaned processes of a run'],
  ['memory', "cannot limit a run's memory"],
  ['processes', "cannot limit a run's processes"],
]);

interface PairRequest {
  readonly id: string;
  readonly trees: Trees;
  readonly audience: Audience;
  /** Name of the tag in the repositories of both sides. */
  readonly tag: string | undefined;
}

/** Names of folders, all different and of equal length. */
function distinctNames(count: number): string[] {
  const names = new Set<string>();
  while (names.size < count) names.add(randomBytes(2).toString('hex'));
  return [...names];
}

function inRandomOrder<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, order: randomInt(1 << 30) }))
    .sort((one, other) => one.order - other.order)
    .map(({ value }) => value);
}

/** File that names the process that has opened a pair. */
const ownerFile = 'owner';

interface LocalSandbox {
  readonly side: Side;
  readonly tree: string;
  readonly copy: WorkingCopy;
  readonly compiled: CompiledOfPair | undefined;
  /** Folder of this sandbox only, emptied after every run. */
  readonly scratch: string;
  readonly watch: EnvironmentWatch;
  readonly tracer: string;
  /** Folder of the pair. */
  readonly folder: string;
  readonly onLacks: ProcessRequest['onLacks'];
  readonly agents: ReadyAgents;
  readonly warm: WarmStart<LoadedRun>;
  readonly options: LocalOptions;
}

/** @param folder created for this sandbox only */
async function openBox(
  folder: string,
  from: string,
  signal: AbortSignal | undefined,
  { tag, ...parts }: Omit<LocalSandbox, 'tree' | 'copy' | 'scratch'> & Pick<PairRequest, 'tag'>,
): Promise<LocalSandbox> {
  const tree = join(folder, 'tree');
  await mkdir(folder);
  const copy = await openWorkingCopy(from, tree, join(folder, 'git'), signal, {
    compiled: parts.compiled,
    installed: parts.watch.environment.written,
    tag,
  });
  // The name is short: a test may create a socket below it, and its path is limited to some hundred
  // characters.
  return { ...parts, tree, copy, scratch: join(folder, 'r') };
}

function localSandbox(box: LocalSandbox): Sandbox {
  // A random name: a number would differ where one side has run more often than the other.
  const nextRun = (): string => join(box.scratch, randomBytes(2).toString('hex'));
  return {
    side: box.side,
    async load(patch, signal) {
      throwIfAborted(signal);
      box.agents.prepare();
      try {
        await box.copy.reset();
      } catch (error) {
        throw (
          (await fullDisk(error, box.scratch)) ??
          new SandboxUnusable(
            `The sandbox of ${sideName[box.side]} cannot be restored: ${messageOf(error)}`,
            'Run the tests again',
          )
        );
      }
      throwIfAborted(signal);
      if (box.options.isAwaited === true) {
        box.warm.candidateEdits((await patchedFiles(box.tree, patch, signal)).keys());
      }
      if (patch.trim() !== '') {
        await box.copy.apply(patch).catch(async (error: unknown) => {
          throw (await fullDisk(error, box.scratch)) ?? error;
        });
      }
      throwIfAborted(signal);
    },
    run: (request) => inWatch(box, () => runIn(box, nextRun(), request)),
    ...(box.options.isAwaited === true && {
      expect: async (request: ExpectedRun) => {
        await box.warm.discard();
        const { beforeR } = runnerOf(request.plan.runner);
        if (beforeR === undefined || !isAwaited(box, request)) {
          return `${request.plan.runner} prepares R in its own way, or needs services`;
        }
        // Nothing of a candidate may be there while R is loaded.
        await box.copy.reset();
        return expectIn(box, nextRun(), request, beforeR);
      },
    }),
    debug: (request, start) => inWatch(box, () => debugIn(box, nextRun(), request, start)),
  };
}

/**
 * Runs tests. Compiled files that they wrote are compiled again, from the pristine tree and in the
 * background.
 */
async function inWatch<T>({ watch, tree, copy, compiled }: LocalSandbox, run: () => Promise<T>) {
  try {
    return await watch.during(dirname(tree), run);
  } finally {
    compiled?.add(await copy.compiledByRun());
  }
}

/** Loads R for a run. @param run folder for that run only, not created yet */
async function expectIn(
  box: LocalSandbox,
  run: string,
  request: ExpectedRun,
  beforeR: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const { texts, signal } = request;
  const key = newRecordKey();
  const more = { tests: Object.fromEntries(texts), environment: beforeR };
  const prepared = await makeFolders(box, run, { ...request, key }, more);
  const { interpreter, args, cwd, env } = prepared.program;
  const argv = [interpreter, ...args].slice(0, 3);
  const found = await preloadModules(interpreter, {
    ...{ argv, cwd, env, signal, timeoutSeconds: loadingTime },
  });
  if ('why' in found) {
    await removeForce(run);
    return found.why;
  }
  const { agent, seconds } = found;
  const end = async (): Promise<void> => {
    agent.wire.close();
    await removeForce(run);
  };
  const process = { ...prepared, run, key, agent };
  return box.warm.keep(
    { key: warmKeyOf(request, box.watch.environment.digest), process, end },
    seconds,
  );
}

/** @param fresh folder for this run only, not created yet; where R is loaded, there is one already */
async function runIn(box: LocalSandbox, fresh: string, request: RunRequest): Promise<RunRecord> {
  const { isPreliminary = false } = request;
  const taken = isPreliminary
    ? await box.warm.take(warmKeyOf(request, box.watch.environment.digest))
    : undefined;
  const warm = taken !== undefined && 'process' in taken ? taken.process : undefined;
  const key = warm?.key ?? newRecordKey();
  const run = warm?.run ?? fresh;
  const whyFresh = taken !== undefined && 'why' in taken ? taken.why : undefined;
  const within = async ({ program, traceFolder }: Prepared): Promise<RunRecord> => {
    const { onOutcome, plan, signal } = request;
    const found = await localServices(plan.services ?? [], box.options, signal).catch(
      (error: unknown) => {
        if (error instanceof Cancelled || signal?.aborted === true) return undefined;
        throw error;
      },
    );
    if (found === undefined) return cancelledRecord();
    const unfollow = onOutcome === undefined ? undefined : followTrace(traceFolder, onOutcome, key);
    let result: ProcessResult;
    try {
      result = await runProcess({
        ...{ python: program.interpreter, folder: box.folder, signal, outputLimit },
        argv: [program.interpreter, ...program.args],
        ...{ cwd: program.cwd, env: program.env },
        ...{ services: found.services, serviceEnv: serviceEnv(program.env) },
        timeoutSeconds: request.timeoutSeconds,
        onOutput: request.onOutput,
        ...{ onLacks: box.onLacks, agents: box.agents },
        ...{ loaded: warm?.agent, tests: plan.files },
        ahead: isAwaited(box, request)
          ? {
              variables: ofRun,
              // Without it, the interpreter would look for packages in the home of the user.
              meanwhile: { HOME: join(box.scratch, 'none') },
              environment: box.watch.environment.digest,
            }
          : undefined,
      });
    } finally {
      unfollow?.();
    }
    const missing = await notOnPath(plan.programs ?? [], program.env['PATH'] ?? '');
    const remarks = [
      ...found.remarks,
      ...result.remarks,
      ...missingPrograms(missing, result.output),
    ];
    const trace = await readTrace(traceFolder, key);
    const why = whyFresh ?? trace.warm?.why;
    return {
      ending: result.ending,
      exitCode: result.exitCode,
      killedBy: result.killedBy,
      startError: result.startError,
      log: result.output,
      seconds: result.seconds,
      trace,
      folders: [box.tree, box.scratch, dirname(box.tree), box.tracer],
      ...(remarks.length > 0 && { remarks }),
      ...(why !== undefined && { whyFresh: why }),
    };
  };
  if (warm === undefined) return withFolders(box, run, { ...request, key }, within);
  try {
    await writeFile(join(run, keyFile), key.content, { mode: 0o600 });
    return await within(warm);
  } finally {
    await removeForce(run);
  }
}

/** Variables of a program that each run has for itself. */
const ofRun: ReadonlySet<string> = new Set([
  ...['HOME', 'TMPDIR', 'TEMP', 'TMP', 'SWT_TRACE_CONFIG'],
]);

/** Whether the next run like this one may wait for its tests in a started interpreter. */
const isAwaited = (
  { options, watch }: LocalSandbox,
  { plan, hashSeed = 0 }: Pick<RunRequest, 'plan' | 'hashSeed'>,
): boolean =>
  options.isAwaited === true &&
  process.platform !== 'win32' &&
  hashSeed === 0 &&
  mayStartAhead(plan, watch.environment);

/** Nothing of the tracer, and no folder of the tree, whose modules could shadow a service's own. */
const serviceEnv = ({ PATH = '', HOME = '', TMPDIR = '' }: DebuggedProgram['env']) => ({
  ...{ PATH, HOME, TMPDIR, LANG: 'C.UTF-8' },
});

/** Those of some programs that no folder of the path has. */
async function notOnPath(names: readonly string[], path: string): Promise<string[]> {
  const found = await Promise.all(
    names.map(async (name) => {
      const places = path
        .split(delimiter)
        .flatMap((folder) => [name, `${name}.exe`].map((file) => join(folder, file)));
      return (await Promise.all(places.map(exists))).includes(true);
    }),
  );
  return names.filter((_, index) => found[index] !== true);
}

const cancelledRecord = (): RunRecord => ({
  ending: 'cancelled',
  exitCode: undefined,
  killedBy: undefined,
  startError: undefined,
  log: '',
  seconds: 0,
  trace: emptyTrace(),
});

function debugIn(
  box: LocalSandbox,
  run: string,
  request: Pick<RunRequest, 'plan' | 'hashSeed'>,
  start: (program: DebuggedProgram) => Promise<void>,
): Promise<ExecutionTrace> {
  const mark = randomUUID();
  // Counting and debugging would interfere. A process of the debugger also starts first, and would
  // take the key.
  const uncounted = { ...request, countLines: new Map<string, readonly number[]>() };
  return withFolders(box, run, uncounted, async ({ program, traceFolder }) => {
    try {
      await start({ ...program, env: { ...program.env, [runMark]: mark } });
    } finally {
      await endRun(program.interpreter, mark);
    }
    return readTrace(traceFolder);
  });
}

interface Prepared {
  readonly program: DebuggedProgram;
  readonly traceFolder: string;
}

/** A run whose process has loaded R. */
interface LoadedRun extends Prepared {
  /** Folder of that run alone. */
  readonly run: string;
  readonly key: RecordKey;
  readonly agent: LoadedAgent;
}

/** Creates the folders and the environment of one run, and removes the folders afterwards. */
async function withFolders<T>(
  box: LocalSandbox,
  run: string,
  request: FolderRequest,
  work: (prepared: Prepared) => Promise<T>,
): Promise<T> {
  try {
    const prepared = await makeFolders(box, run, request);
    if (request.key !== undefined) {
      await writeFile(join(run, keyFile), request.key.content, { mode: 0o600 });
    }
    return await work(prepared);
  } finally {
    await removeForce(run);
  }
}

type FolderRequest = Pick<RunRequest, 'plan' | 'countLines' | 'hashSeed'> & {
  readonly key?: RecordKey;
};

/** Name of the file with the key of a run, in its folder. */
const keyFile = 'key';

/** @param more further parameters for the tracer */
async function makeFolders(
  box: LocalSandbox,
  run: string,
  { plan, countLines, hashSeed, key }: FolderRequest,
  more: object = {},
): Promise<Prepared> {
  const traceFolder = join(run, 'trace');
  const home = join(run, 'home');
  const temporary = join(run, 't');
  await Promise.all([traceFolder, home, temporary].map((path) => mkdir(path, { recursive: true })));
  const config = join(run, 'trace.json');
  const isRelay = runnerOf(plan.runner).isRelay === true;
  await writeFile(
    config,
    JSON.stringify({
      format: 2,
      root: box.tree,
      files: Object.fromEntries(countLines),
      out: traceFolder,
      outcomes: true,
      ...(key === undefined ? {} : { key: join(run, keyFile), relay: isRelay }),
      ...more,
    }),
  );
  const program: DebuggedProgram = {
    interpreter: box.watch.environment.interpreter,
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
  return { program, traceFolder };
}

/**
 * Only the variables that programs need to start: no keys or tokens of the user reach the tests.
 */
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
  const bin = dirname(box.watch.environment.interpreter);
  env['PATH'] = [bin, process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  const isVirtual = await exists(join(bin, '..', 'pyvenv.cfg'));
  if (isVirtual) env['VIRTUAL_ENV'] = dirname(bin);
  if (box.watch.environment.userBase !== undefined)
    env['PYTHONUSERBASE'] = box.watch.environment.userBase;
  // The tree precedes an installed copy of the same package, in any common layout.
  const src = join(box.tree, 'src');
  const lib = join(box.tree, 'lib');
  const folders = [
    ...((await exists(src)) ? [src] : []),
    box.tree,
    ...((await holdsPackages(lib)) ? [lib] : []),
  ];
  env['PYTHONPATH'] = [box.tracer, ...folders].join(delimiter);
  env[treeVariable] = folders.join(delimiter);
  env['PYTHONHASHSEED'] = String(hashSeed);
  env['PYTHONIOENCODING'] = 'utf-8';
  env['PYTHONUNBUFFERED'] = '1';
  return env;
}

/** Whether a folder contains packages, since other kinds of folders are called `lib` too. */
async function holdsPackages(folder: string): Promise<boolean> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (await exists(join(folder, name, '__init__.py'))) return true;
  }
  return false;
}

/** Removes pairs of processes that were killed before they could remove them. */
async function removeAbandoned(pairs: string): Promise<void> {
  for (const name of await readdir(pairs).catch(() => [])) {
    const folder = join(pairs, name);
    const owner = await readFile(join(folder, ownerFile), 'utf8').catch(() => undefined);
    const made = await stat(folder).catch(() => undefined);
    // A pair without its owner's name is being created at this moment, or was when its process was
    // killed.
    const isOld = made !== undefined && Date.now() - made.mtimeMs > 60_000;
    if (owner === undefined ? isOld : await hasEnded(owner)) await removeForce(folder);
  }
}

/**
 * A test may leave folders that cannot be listed. They are left behind, so that the run does not
 * fail.
 */
async function removeForce(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined)) !== undefined;
