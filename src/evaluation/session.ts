import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ChangedLine } from '../domain/changeCoverage';
import type { Instance } from '../domain/instance';
import { sides as bothSides, type Outcome, type Side } from '../domain/outcome';
import { Cancelled, HumanError, throwIfAborted } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import {
  SandboxUnusable,
  type DebuggedProgram,
  type Engine,
  type EngineWork,
  type Environment,
  type Sandboxes,
  type RunRecord,
  type TestPlace,
} from '../engine/engine';
import { emptyTrace, type Trace } from '../engine/trace/readTrace';
import { planScript, planTests, type TestFile, type TestPlan } from '../engine/testCommand';
import { applyPatch } from '../patch/apply';
import { changedLines } from '../patch/changedLines';
import { unsafePath } from '../patch/safety';
import { parseUnified } from '../patch/unified';
import { testFilesOf } from '../patch/testFiles';
import type { PythonParser } from '../python/parser';
import { findTests, importsPytest } from '../python/tests';
import { textOf } from '../patch/bytes';
import { holdTrees, type Trees } from '../repository/trees';
import { debugSandboxes } from './debugSandboxes';
import { candidateLines, type CandidateLines, type Place } from './candidateLines';
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
}

/** What came of tests under a debugger. */
export interface DebuggedRun {
  readonly plan: TestPlan;
  readonly trace: Trace;
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
  const countLines = {
    base: changed.removed,
    // With the numbers of removed lines as well: the reference harness looks those up on R∘X*, where
    // they are other lines, and its grading needs what it would have found there.
    fixed: [...changed.added, ...changed.removed],
  };
  let pair: Promise<Sandboxes<Side>> | undefined;
  let disposed = false;
  let place: Promise<TestPlace> | undefined;
  const prepared = (work: EngineWork): Promise<TestPlace> => {
    place ??= engine.prepare(instance, trees, work).catch((error: unknown) => {
      place = undefined;
      throw error;
    });
    return place;
  };
  const warm = (work: EngineWork): Promise<Sandboxes<Side>> => {
    // A run that was waiting its turn would open sandboxes that nobody removes.
    if (disposed) return Promise.reject(new Cancelled());
    // A pair whose opening failed or was cancelled is not kept.
    pair ??= prepared(work)
      .then((each) => each.openPair(work, sides))
      .catch((error: unknown) => {
        pair = undefined;
        // What it was to be opened in may be gone as well, such as an image that was cleaned away.
        place = undefined;
        throw error;
      });
    return pair;
  };
  const discard = async (): Promise<void> => {
    const opened = await pair?.catch(() => undefined);
    pair = undefined;
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
        const { environment } = await prepared(options);
        const plan = await planOf(set, environment);
        const wanted = options.sides ?? sides;
        const closed = wanted.find((side) => !sides.includes(side));
        if (closed !== undefined) throw new Error(`this session has no sandbox of ${closed}`);
        const lines = {
          base: await candidateLines(set.patch, readFileOf('base')),
          fixed: await candidateLines(set.patch, readFileOf('fixed')),
        };
        const key = (side: Side): RunKey => ({
          instance: instance.id,
          tree: trees.digest[side],
          patch: set.patch,
          environment: environment.digest,
          request: {
            plan,
            // By number as well, which is how the reference harness looks them up.
            countLines: linesByFile([
              ...countLines[side],
              ...countLines[side].flatMap((at) => lines[side].with(at) ?? []),
            ]),
            timeoutSeconds: options.timeoutSeconds,
          },
        });

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
          return isUsual ? store.getOrRun(key(side), options.reuse, run) : run();
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
        return { plan, records, lines };
      }),
    debug: (set, side, options, start) =>
      debugging.inTurn(async () => {
        throwIfAborted(options.signal);
        const place = await prepared(options);
        const plan = await planOf(set, place.environment);
        const sandbox = (await debugging.open(() => place.openPair(options)))[side];
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
    environment: async (work) => (await prepared(work)).environment,
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

function linesByFile(lines: readonly Place[]): ReadonlyMap<string, readonly number[]> {
  const files = new Map<string, number[]>();
  for (const { path, line } of lines) {
    const lines = files.get(path) ?? [];
    if (path.endsWith('.py') && !lines.includes(line)) files.set(path, [...lines, line]);
  }
  return files;
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
): Promise<ReadonlyMap<string, string | undefined>> {
  if (patch.trim() === '') return new Map();
  const applied = await applyPatch(parseUnified(patch), read);
  return applied.ok ? applied.files : new Map();
}
