import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { RetryingMemo } from '../domain/retryingMemo';
import type { ChangedLine } from '../domain/changeCoverage';
import type { Instance } from '../domain/instance';
import { sides as bothSides, type Outcome, type Side } from '../domain/outcome';
import { Cancelled, HumanError, throwIfAborted } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { turnsOf, type Turns } from '../domain/turns';
import {
  SandboxUnusable,
  type DebuggedProgram,
  type Engine,
  type EngineWork,
  type Environment,
  type Sandboxes,
  type RunRecord,
} from '../engine/engine';
import { emptyTrace, type ExecutionTrace } from '../engine/tracer/readTrace';
import { planScript, planTests, type TestFile } from '../engine/planTests';
import type { TestPlan } from '../engine/testPlan';
import { applyPatch } from '../patch/unified/applyPatch';
import { changedLines } from '../patch/changedLines';
import { unsafePath } from '../patch/unsafePath';
import { parseUnified } from '../patch/unified/parseUnified';
import { testFilesOf } from '../patch/testFiles';
import type { PythonParser } from '../python/parser';
import { findTests, importsPytest } from '../python/tests';
import { textOf } from '../patch/bytes';
import { treeEntries } from '../repository/treeFiles';
import { holdTrees, type Trees } from '../repository/trees';
import { candidateLines, type CandidateLines, type Place } from './coverage/candidateLines';
import { linesByFile, ofOwnLines } from './coverage/countedLines';
import { debugSandboxes } from './debugSandboxes';
import { environmentFault } from './environmentFault';
import type { RunKey, RunStore } from './runStore';

/** Both sides of one run. */
export interface BothSides {
  readonly base: RunRecord;
  readonly fixed: RunRecord;
}

/** A test patch and the files that a run of it covers. */
export interface TestSet {
  /** Unified diff; empty for T^R. */
  readonly patch: string;
  readonly files: readonly string[];
  /** Test ids to run instead of the whole files. */
  readonly select?: readonly string[];
  /** The files are one script, run by itself. */
  readonly script?: boolean;
}

export interface RunOptions {
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** Whether a kept run of the same test set may be used instead of running. */
  readonly reuse: boolean;
  /** `PYTHONHASHSEED` of the run, 0 by default. A run with another seed is neither kept nor reused. */
  readonly hashSeed?: number | undefined;
  /** The sides to run on; both by default. */
  readonly sides?: readonly Side[];
  readonly onOutput?: ((side: Side, text: string) => void) | undefined;
  /** Told of outcomes while tests run, where the engine sees them: for show, not for a grade. */
  readonly onOutcome?: ((side: Side, test: string, outcome: Outcome) => void) | undefined;
}

/**
 * One instance at work: its trees, a warm pair of sandboxes, and the runs already done. Runs of one
 * session happen one after the other, both sides of each in parallel.
 */
export interface InstanceSession {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly engine: Engine;
  readonly python: PythonParser;
  /** Lines that X* removes (numbered in R) and adds (numbered in R∘X*). */
  readonly changed: {
    readonly removed: readonly ChangedLine[];
    readonly added: readonly ChangedLine[];
  };
  /** Test files of T*. */
  readonly goldenFiles: readonly string[];
  /** A file of R, as `textOf` gives it; undefined when R has none at this path, or it leaves R. */
  readFileOfR(path: string): Promise<string | undefined>;
  /**
   * Runs a test set on both sides; undefined on a side that was not asked for.
   * @throws GitError when the patch does not apply to a side, Cancelled
   */
  run(set: TestSet, options: RunOptions): Promise<SessionRun>;
  /**
   * Hands a test set on one side to a debugger, in sandboxes of its own: runs go on meanwhile. Not kept,
   * and nothing is counted.
   *
   * @param start starts the debugger and resolves when it has ended
   * @throws HumanError where the engine's sandboxes are out of a debugger's reach; GitError, Cancelled
   */
  debug(
    set: TestSet,
    side: Side,
    options: Pick<RunOptions, 'signal' | 'reporter'>,
    start: (program: DebuggedProgram) => Promise<void>,
  ): Promise<DebuggedRun>;
  /** What the tests run with: found, pulled or built when asked for the first time. */
  environment(work: EngineWork): Promise<Environment>;
  /** Opens the pair of sandboxes, so that the first run does not wait for it. */
  warmUp(work: EngineWork): Promise<void>;
  dispose(): Promise<void>;
}

/** What came of one run. Counts are numbered as in the trees with the patch. */
export interface SessionRun {
  readonly plan: TestPlan;
  readonly records: Partial<BothSides>;
  /** Where the changed lines stood while it ran. */
  readonly lines: Readonly<Record<Side, CandidateLines>>;
  /** Why a side says nothing about the tests, because of what is installed. */
  readonly faults: Readonly<Partial<Record<Side, string>>>;
  /** Digest of what it ran with. */
  readonly environment: string;
}

/** What came of tests under a debugger. */
export interface DebuggedRun {
  readonly plan: TestPlan;
  readonly trace: ExecutionTrace;
}

export async function openSession(parts: {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly engine: Engine;
  readonly python: PythonParser;
  readonly store: RunStore;
  /** The sides that there is a sandbox of; both by default. Runs are on these, and debuggers on any. */
  readonly sides?: readonly Side[];
}): Promise<InstanceSession> {
  const { instance, trees, engine, python, store, sides = bothSides } = parts;
  const readFileOf =
    (side: Side) =>
    async (path: string): Promise<string | undefined> =>
      readWithin(trees[side], path);
  const readFileOfR = readFileOf('base');

  // On a snapshot the hunks may lie elsewhere than the patch says: count the lines where they went in.
  const golden = parseUnified(trees.golden ?? instance.goldenPatch);
  const placed = await applyPatch(golden, readFileOfR);
  const changed = changedLines(placed.ok ? placed.placed : golden);
  const ownLines = {
    base: changed.removed,
    // With the numbers of removed lines as well: the reference harness looks those up on R∘X*, where
    // they are other lines, and its grading needs what it would have found there.
    fixed: [...changed.added, ...changed.removed],
  };
  let disposed = false;
  const place = new RetryingMemo((work: EngineWork) => engine.prepare(instance, trees, work));
  // A pair whose opening failed or was cancelled is not kept.
  const pair = new RetryingMemo(async (work: EngineWork) => {
    try {
      return await (await place.get(work)).openPair(work, sides);
    } catch (error) {
      // What it was to be opened in may be gone as well, such as an image that was cleaned away.
      place.forget();
      throw error;
    }
  });
  const currentEnvironment = async (work: EngineWork): Promise<Environment> => {
    const found = await place.get(work);
    return (await found.current?.()) ?? found.environment;
  };
  const warm = (work: EngineWork): Promise<Sandboxes<Side>> => {
    // A run that was waiting its turn would open sandboxes that nobody removes.
    if (disposed) return Promise.reject(new Cancelled());
    return pair.get(work);
  };
  const discard = async (): Promise<void> => {
    const opened = await pair.made();
    pair.forget();
    await opened?.dispose();
  };
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queue.then(work, work);
    queue = turn.catch(() => undefined);
    return turn;
  };

  const filesWith = async (set: TestSet): Promise<TestFile[]> => {
    const after = await contentsWith(set.patch, readFileOfR);
    return Promise.all(
      set.files.map(async (path) => {
        const source = (after.has(path) ? after.get(path) : await readFileOfR(path)) ?? '';
        const styles = findTests(python, source, { path }).map((test) => test.style);
        return {
          path,
          importsPytest: importsPytest(source),
          unittestTests: styles.filter((style) => style === 'unittest').length,
          pytestTests: styles.filter((style) => style === 'pytest').length,
        };
      }),
    );
  };

  const planOf = async (set: TestSet, environment: Environment): Promise<TestPlan> => {
    const [script] = set.script === true ? set.files : [];
    return script !== undefined
      ? planScript(script)
      : planTests({
          repo: instance.repo,
          version: instance.version,
          files: await filesWith(set),
          environment,
          readFileOfR,
          select: set.select,
        });
  };

  const release = await holdTrees(trees);
  const debugging = debugSandboxes();
  const session: InstanceSession = {
    instance,
    trees,
    engine,
    python,
    changed,
    goldenFiles: testFilesOf(parseUnified(instance.goldenTests)),
    readFileOfR,
    run: (set, options) =>
      inTurn(async () => {
        const { signal } = options;
        throwIfAborted(signal);
        const environment = await currentEnvironment(options);
        const plan = await planOf(set, environment);
        const wanted = options.sides ?? sides;
        const closed = wanted.find((side) => !sides.includes(side));
        if (closed !== undefined) throw new Error(`this session has no sandbox of ${closed}`);
        const lines = {
          base: await candidateLines(set.patch, readFileOf('base')),
          fixed: await candidateLines(set.patch, readFileOf('fixed')),
        };
        const placesOf = (side: Side): Place[] => [
          // By number as well, which is how the reference harness looks them up.
          ...ownLines[side],
          ...ownLines[side].flatMap((at) => lines[side].with(at) ?? []),
        ];
        const countLines = linesByFile(bothSides.flatMap(placesOf));
        const key = (side: Side): RunKey => ({
          instance: instance.id,
          tree: trees.digest[side],
          patch: set.patch,
          environment: environment.digest,
          request: { plan, countLines, timeoutSeconds: options.timeoutSeconds },
        });
        const isOfTree = once(() => moduleNames(trees, set.patch));
        const faults: { base?: string; fixed?: string } = {};
        const faultOf = async (record: RunRecord): Promise<string | undefined> =>
          // The names of modules are asked for only where it depends on them.
          environmentFault(record, () => false) === undefined
            ? undefined
            : environmentFault(record, await isOfTree());

        const one = async (side: Side): Promise<RunRecord | undefined> => {
          if (plan.files.length === 0) return undefined;
          const run = async (): Promise<RunRecord> => {
            const sandbox = (await warm(options))[side];
            await sandbox.load(set.patch, signal);
            const record = await sandbox.run({
              ...key(side).request,
              hashSeed: options.hashSeed,
              signal,
              onOutput:
                options.onOutput === undefined
                  ? undefined
                  : (text) => options.onOutput?.(side, text),
              onOutcome:
                options.onOutcome === undefined
                  ? undefined
                  : (test, outcome) => options.onOutcome?.(side, test, outcome),
            });
            if (record.ending === 'cancelled') throw new Cancelled();
            return record;
          };
          const isUsual = (options.hashSeed ?? 0) === 0;
          const mayKeep = async (record: RunRecord) => (await faultOf(record)) === undefined;
          const record = isUsual
            ? await store.getOrRun(key(side), options.reuse, run, mayKeep)
            : await run();
          const fault = await faultOf(record);
          if (fault !== undefined) faults[side] = fault;
          return ofOwnLines(record, linesByFile(placesOf(side)));
        };
        const attempt = () => Promise.allSettled(wanted.map(one));
        const unusable = (each: PromiseSettledResult<unknown>): boolean =>
          each.status === 'rejected' && each.reason instanceof SandboxUnusable;
        let done = await attempt();
        if (done.some(unusable)) {
          // What the tests of another candidate did to the sandboxes is no fault of this one.
          await discard();
          done = await attempt();
          if (done.some(unusable)) await discard();
        }
        const failed = done.find((each) => each.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
        const records: { base?: RunRecord; fixed?: RunRecord } = {};
        for (const [index, side] of wanted.entries()) {
          const settled = done[index];
          if (settled?.status === 'fulfilled' && settled.value !== undefined) {
            records[side] = settled.value;
          }
        }
        return { plan, records, lines, faults, environment: environment.digest };
      }),
    debug: (set, side, options, start) =>
      debugging.inTurn(async () => {
        throwIfAborted(options.signal);
        const prepared = await place.get(options);
        const plan = await planOf(set, await currentEnvironment(options));
        const sandbox = (await debugging.open(() => prepared.openPair(options)))[side];
        if (sandbox.debug === undefined) {
          throw new HumanError(
            `A debugger does not reach into the sandboxes of the ${engine.name} engine`,
            'Use the local engine',
          );
        }
        if (plan.files.length === 0) return { plan, trace: emptyTrace() };
        try {
          await sandbox.load(set.patch, options.signal);
        } catch (error) {
          if (error instanceof SandboxUnusable) await debugging.discard();
          throw error;
        }
        return { plan, trace: await sandbox.debug({ plan }, start) };
      }),
    environment: currentEnvironment,
    warmUp: (work) =>
      inTurn(async () => {
        await warm(work);
      }),
    dispose: () =>
      inTurn(async () => {
        disposed = true;
        await debugging.dispose();
        await discard();
        await release();
      }),
  };
  return session;
}

/**
 * A file of a tree by a path that nobody may have checked, as `textOf` gives it. Nothing beyond the tree
 * is read, whatever the path says and wherever a link leads, nor anything of `.git`.
 */
async function readWithin(tree: string, path: string): Promise<string | undefined> {
  if (unsafePath(path) !== undefined) return undefined;
  try {
    const [root, place] = await Promise.all([realpath(tree), realpath(join(tree, path))]);
    const within = relative(root, place).split(sep).join('/');
    return unsafePath(within) === undefined ? textOf(await readFile(place)) : undefined;
  } catch {
    return undefined;
  }
}

/** Asks at most once. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

/** First parts of the names under which files of the trees, or of a patch to them, can be imported. */
async function moduleNames(trees: Trees, patch: string): Promise<(module: string) => boolean> {
  const listed = await Promise.all(bothSides.map((side) => treeEntries(trees[side])));
  const added = parseUnified(patch).files.flatMap(({ newPath }) => newPath ?? []);
  const names = new Set(
    [...listed.flatMap((entries) => [...entries.keys()]), ...added].flatMap((path) =>
      path.split('/').map((part) => part.split('.')[0] ?? ''),
    ),
  );
  return (module) => names.has(module);
}

/** Files of a test set that R already has: what T^R can run. */
export async function existingIn(trees: Trees, files: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    files.map(async (path) => {
      const info = await stat(join(trees.base, path)).catch(() => undefined);
      return info?.isFile() === true ? [path] : [];
    }),
  );
  return found.flat();
}

/**
 * Files as a patch leaves them, by path; undefined for a file it deletes. Empty when the patch does
 * not apply, which the caller has found out before.
 */
export async function contentsWith(
  patch: string,
  read: (path: string) => Promise<string | undefined>,
  turns: Turns = turnsOf(undefined),
): Promise<ReadonlyMap<string, string | undefined>> {
  if (patch.trim() === '') return new Map();
  const applied = await applyPatch(parseUnified(patch), read, turns);
  return applied.ok ? applied.files : new Map();
}
