import type { ChangedLine } from '../domain/changeCoverage';
import type { Instance } from '../domain/instance';
import { sideName, sides as bothSides, type Outcome, type Side } from '../domain/outcome';
import {
  RetryingMemo,
  Cancelled,
  HumanError,
  messageOf,
  throwIfAborted,
  type Reporter,
  turnsOf,
  type Turns,
} from '../domain/work';
import {
  EnvironmentChanged,
  SandboxUnusable,
  type DebuggedProgram,
  type Engine,
  type EngineWork,
  type WorkspaceWork,
  type Environment,
  type RunRecord,
  type Sandbox,
  type Workspace,
} from '../engine/engine';
import {
  planScriptOfRepository,
  planTests,
  type TestFile,
  type TestPlan,
  emptyTrace,
  type ExecutionTrace,
} from '../engine/runners';
import { recipeOf, versionTag } from '../environments/recipes';
import { applyPatch } from '../patch/applyPatch';
import { textOf } from '../patch/bytes';
import { changedLines } from '../patch/changedLines';
import { parseUnified } from '../patch/parseUnified';
import type { FormatDescriptor } from '../patch/toUnified';
import { unsafePath } from '../patch/unsafePath';
import type { PythonParser } from '../python/parser';
import { findTests, importsPytest } from '../python/tests';
import { treeEntries } from '../repository/treeFiles';
import { holdTrees, type Trees } from '../repository/trees';
import { candidateLines, type CandidateLines, type FileLine } from './coverage/candidateLines';
import { goldenTestsOf, type GoldenTests } from './goldenTests';
import { namesOfOtherRuns, withTestNames } from './results';
import { environmentFault, type EnvironmentFault } from './runs/environmentFault';
import { QueuedSandboxes } from './runs/queuedSandboxes';
import type { BothSides, RunKey, RunStore } from './testRun';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A test patch and the files that a run of it covers. */
export interface TestSet {
  /** Unified diff; empty for T^R. */
  readonly patch: string;
  readonly files: readonly string[];
  /** Test ids to run instead of the whole files. */
  readonly select?: readonly string[];
  /** The files are one script, which runs on its own. */
  readonly script?: boolean;
  /**
   * Unified diff that the sandboxes get in place of `patch`: the same tests beside other edits of
   * the code, on the one side that the run is for.
   */
  readonly loaded?: string;
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
  /**
   * Whether another run decides, so that this one may begin with R loaded. It is neither kept nor
   * reused.
   */
  readonly isPreliminary?: boolean | undefined;
  readonly onOutput?: ((side: Side, text: string) => void) | undefined;
  /**
   * Called with outcomes while tests run, where the engine sees them. They are for display, not for
   * a grade.
   */
  readonly onOutcome?: ((side: Side, test: string, outcome: Outcome) => void) | undefined;
}

/**
 * An open instance: its trees, a warm pair of sandboxes, and the finished runs. Runs of one session
 * follow one another, each on both sides in parallel.
 */
export interface InstanceSession {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly engine: Engine;
  readonly python: PythonParser;
  /** Formats that candidates may have apart from the unified one. */
  readonly formats: readonly FormatDescriptor[];
  /** Lines that X* removes (numbered in R) and adds (numbered in R∘X*). */
  readonly changed: {
    readonly removed: readonly ChangedLine[];
    readonly added: readonly ChangedLine[];
  };
  /** T* and its files, found once. */
  goldenTests(signal?: AbortSignal): Promise<GoldenTests>;
  /**
   * A file of R as text, as `textOf` gives it; undefined when R has no file at this path, or the
   * path leaves R.
   */
  readFileOfR(path: string): Promise<string | undefined>;
  /**
   * Runs a test set on both sides; undefined on a side that was not asked for.
   *
   * @throws GitError when the patch does not apply to a side, Cancelled
   */
  run(set: TestSet, options: RunOptions): Promise<SessionRun>;
  /**
   * Starts a debugger on a test set on one side, in sandboxes of its own, so that runs continue
   * meanwhile. The run is not kept, and no lines are counted.
   *
   * @param start starts the debugger and resolves when it has ended
   * @throws HumanError where a debugger cannot reach the engine's sandboxes; GitError, Cancelled
   */
  debug(
    set: TestSet,
    side: Side,
    options: Pick<RunOptions, 'signal' | 'reporter'>,
    start: (program: DebuggedProgram) => Promise<void>,
  ): Promise<DebuggedRun>;
  /** The environment of the tests: found, pulled or built on the first call. */
  environment(work: EngineWork): Promise<Environment>;
  /**
   * Opens a copy of R to work in, apart from the sandboxes of runs. The caller disposes of it.
   *
   * @throws HumanError where the engine has none, Cancelled
   */
  openWorkspace(work: WorkspaceWork): Promise<Workspace>;
  /** The plan that runs whole test files of R, in the environment of its tests. */
  planOnR(
    files: readonly string[],
    work: EngineWork,
  ): Promise<{ readonly plan: TestPlan; readonly environment: Environment }>;
  /**
   * Prepares a preliminary run of a test set, which then begins with R loaded, where the engine does
   * that. Returns at once; the reporter learns why it is not done.
   */
  expect(set: TestSet, options: RunOptions): void;
  /** Whether a preliminary run is prepared, or being prepared. */
  isExpecting(): boolean;
  /** Ends warm starts for this session, for a reason in words. */
  distrust(why: string, reporter: Reporter): void;
  /** Opens the pair of sandboxes in advance, so that the first run does not wait for it. */
  warmUp(work: EngineWork): Promise<void>;
  dispose(): Promise<void>;
}

/** The result of one run. Counts have line numbers of the trees with the patch. */
export interface SessionRun {
  readonly plan: TestPlan;
  /** Tests whose ids change between runs have the names on R∘X* that they have on R. */
  readonly records: Partial<BothSides>;
  /** These names, by the ids on R∘X*; absent where no id changes. */
  readonly changedNames?: ReadonlyMap<string, string>;
  /** Where the changed lines stood during the run. */
  readonly lines: Readonly<Record<Side, CandidateLines>>;
  /** Why, because of what is installed, a side says nothing about the tests. */
  readonly faults: Readonly<Partial<Record<Side, EnvironmentFault>>>;
  /** Digest of the environment of the run. */
  readonly environment: string;
}

/** The result of tests under a debugger. */
export interface DebuggedRun {
  readonly plan: TestPlan;
  readonly trace: ExecutionTrace;
}

interface SessionParts {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly engine: Engine;
  readonly python: PythonParser;
  /** Formats that candidates may have apart from the unified one; none by default. */
  readonly formats?: readonly FormatDescriptor[] | undefined;
  readonly store: RunStore;
  /** The sides that get a sandbox; both by default. Runs use only these, debuggers use any. */
  readonly sides?: readonly Side[];
}

export async function openSession(parts: SessionParts): Promise<InstanceSession> {
  const { instance, trees, engine, python, formats = [] } = parts;
  // On a snapshot, hunks may apply at other lines than the patch says: count the lines where the
  // hunks were applied.
  const golden = parseUnified(trees.golden ?? instance.goldenPatch);
  const placed = await applyPatch(golden, readerOf(trees.base));
  const changed = changedLines(placed.ok ? placed.placed : golden);
  const release = await holdTrees(trees);
  const work = new SessionWork(parts, changed);
  // A plain object, since callers derive sessions from others by spreading them.
  return {
    instance,
    trees,
    engine,
    python,
    formats,
    changed,
    goldenTests: (signal) => work.goldenTests.get(signal),
    readFileOfR: readerOf(trees.base),
    run: (set, options) => work.run(set, options),
    debug: (set, side, options, start) => work.debug(set, side, options, start),
    environment: (asked) => work.environment(asked),
    openWorkspace: (asked) => work.openWorkspace(asked),
    planOnR: (files, asked) => work.planOnR(files, asked),
    expect: (set, options) => work.expect(set, options),
    isExpecting: () => work.isExpecting,
    distrust: (why, reporter) => work.distrust(why, reporter),
    warmUp: (asked) => work.warmUp(asked),
    dispose: () => work.dispose(release),
  };
}

/** The sandboxes of a session, and the work done in them. */
class SessionWork {
  readonly ownLines: Readonly<Record<Side, readonly ChangedLine[]>>;
  private readonly sides: readonly Side[];
  /** Ends the preparation of the next preliminary run. */
  private expecting: AbortController | undefined;
  /** Whether the sandboxes of the last run can prepare the next one. */
  mayExpect = false;
  /** Why no run of this session begins with R loaded any more. */
  private whyFresh: string | undefined;
  readonly goldenTests = new RetryingMemo((signal: AbortSignal | undefined) => {
    const { instance, trees } = this.parts;
    return goldenTestsOf(instance, trees, readerOf(trees.base), signal);
  });
  private readonly prepared = new RetryingMemo((work: EngineWork) => {
    const { engine, instance, trees } = this.parts;
    return engine.prepare(instance, trees, work);
  });
  readonly warm = new QueuedSandboxes(async (work: EngineWork) => {
    try {
      return await (await this.prepared.get(work)).openPair(work, this.sides);
    } catch (error) {
      // What the pair was opened from may be missing as well, such as an image that was cleaned
      // away.
      this.prepared.forget();
      throw error;
    }
  });
  private readonly debugging = new QueuedSandboxes(async (work: EngineWork) =>
    (await this.prepared.get(work)).openPair(work),
  );

  constructor(
    readonly parts: SessionParts,
    { removed, added }: InstanceSession['changed'],
  ) {
    this.sides = parts.sides ?? bothSides;
    // On R∘X* count also the lines with the numbers of removed lines. The reference harness looks
    // those up there, although they are other lines, and its grading needs the same counts.
    this.ownLines = { base: removed, fixed: [...added, ...removed] };
  }

  get isExpecting(): boolean {
    return this.expecting !== undefined;
  }

  expect(set: TestSet, options: RunOptions): void {
    this.expecting?.abort();
    this.expecting = undefined;
    if (!this.mayExpect || this.whyFresh !== undefined) return;
    const expecting = new AbortController();
    this.expecting = expecting;
    const prepare = async (): Promise<void> => {
      const { signal } = expecting;
      if (signal.aborted) return;
      try {
        const why = await this.prepareFor(set, { ...options, signal });
        if (why !== undefined && !signal.aborted) this.distrust(why, options.reporter);
      } catch (error) {
        // The next run meets the same problem, and reports it.
        if (this.expecting === expecting) this.expecting = undefined;
        if (!(error instanceof Cancelled)) options.reporter.log(`warm start: ${messageOf(error)}`);
      }
    };
    void this.warm.inTurn(prepare);
  }

  distrust(why: string, reporter: Reporter): void {
    this.expecting?.abort();
    this.expecting = undefined;
    this.whyFresh = why;
    reporter.log(`${this.parts.instance.id}: each run begins in a fresh process: ${why}`);
  }

  /** @returns why the next preliminary run begins in a fresh process nevertheless */
  private async prepareFor(set: TestSet, options: RunOptions): Promise<string | undefined> {
    const boxes = await this.warm.open(options);
    const environment = await this.environment(options);
    const plan = await this.planOf(set, environment);
    const lines = await this.linesOf(set);
    const run = new OneRun(this, { set, options, plan, lines, environment: environment.digest });
    const read = readerOf(this.parts.trees.base);
    const after = await contentsWith(set.patch, read);
    const texts = new Map<string, string>();
    for (const path of plan.files) {
      const text = after.has(path) ? after.get(path) : await read(path);
      if (text !== undefined) texts.set(path, text);
    }
    const whys = await Promise.all(this.sides.map((side) => run.expectOn(boxes[side], texts)));
    return whys.find((why) => why !== undefined);
  }

  run(set: TestSet, options: RunOptions): Promise<SessionRun> {
    // Nobody waits for modules that this run does not use.
    if (options.isPreliminary !== true) this.expecting?.abort();
    this.expecting = undefined;
    return this.warm.inTurn(async () => {
      // People may install packages between two runs, but hardly more often than this.
      for (let left = 2; left > 0; left -= 1) {
        try {
          return await this.runNow(set, options);
        } catch (error) {
          if (!(error instanceof EnvironmentChanged)) throw error;
        }
      }
      return this.runNow(set, options);
    });
  }

  private async runNow(set: TestSet, options: RunOptions): Promise<SessionRun> {
    throwIfAborted(options.signal);
    const place = await this.prepared.get(options);
    const { environment, isPresent } = (await place.latest?.()) ?? {
      environment: await this.environment(options),
      isPresent: true,
    };
    const plan = await this.planOf(set, environment);
    const wanted = options.sides ?? this.sides;
    const closed = wanted.find((side) => !this.sides.includes(side));
    if (closed !== undefined) throw new Error(`this session has no sandbox for ${closed}`);
    const lines = await this.linesOf(set);
    const run = new OneRun(this, { set, options, plan, lines, environment: environment.digest });
    const done = await run.on(wanted);
    // A run checks the environment itself, but a kept one does not.
    const isNew = wanted.every((side) => run.ran.has(side));
    const now = isNew || isPresent ? environment : await this.environment(options);
    if (now.digest !== environment.digest) {
      throw new EnvironmentChanged('The environment changed during the run', 'Run the tests again');
    }
    return { plan, lines, environment: environment.digest, ...done, ...namedAsOnR(done.records) };
  }

  private async linesOf({ patch }: TestSet): Promise<SessionRun['lines']> {
    const { trees } = this.parts;
    return {
      base: await candidateLines(patch, readerOf(trees.base)),
      fixed: await candidateLines(patch, readerOf(trees.fixed)),
    };
  }

  debug(
    set: TestSet,
    side: Side,
    options: EngineWork,
    start: (program: DebuggedProgram) => Promise<void>,
  ): Promise<DebuggedRun> {
    return this.debugging.inTurn(async () => {
      throwIfAborted(options.signal);
      const plan = await this.planOf(set, await this.environment(options));
      const sandbox = (await this.debugging.open(options))[side];
      if (sandbox.debug === undefined) {
        throw new HumanError(
          `The ${this.parts.engine.name} engine does not support debugging`,
          'Use the local engine',
        );
      }
      if (plan.files.length === 0) return { plan, trace: emptyTrace() };
      try {
        await sandbox.load(set.patch, options.signal);
      } catch (error) {
        if (error instanceof SandboxUnusable) await this.debugging.discard();
        throw error;
      }
      return { plan, trace: await sandbox.debug({ plan }, start) };
    });
  }

  async environment(work: EngineWork): Promise<Environment> {
    const found = await this.prepared.get(work);
    return (await found.current?.()) ?? found.environment;
  }

  async openWorkspace(work: WorkspaceWork): Promise<Workspace> {
    const place = await this.prepared.get(work);
    if (place.openWorkspace === undefined) {
      throw new HumanError(
        `The ${this.parts.engine.name} engine cannot isolate commands: they would run on this machine with access to your files`,
        'Use the docker engine',
      );
    }
    return place.openWorkspace(work);
  }

  async planOnR(files: readonly string[], work: EngineWork) {
    const environment = await this.environment(work);
    return { plan: await this.planOf({ patch: '', files }, environment), environment };
  }

  warmUp(work: EngineWork): Promise<void> {
    return this.warm.inTurn(async () => {
      await this.warm.open(work);
    });
  }

  /** @param release releases the trees once nothing uses them any more */
  dispose(release: () => Promise<void>): Promise<void> {
    this.expecting?.abort();
    return this.warm.inTurn(async () => {
      await this.debugging.dispose();
      await this.warm.dispose();
      await release();
    });
  }

  private async planOf(set: TestSet, environment: Environment): Promise<TestPlan> {
    const [script] = set.script === true ? set.files : [];
    const { instance, trees } = this.parts;
    const { repo, version } = instance;
    const recipe = recipeOf(repo, version);
    const of = { repo, version, readFileOfR: readerOf(trees.base) };
    if (script !== undefined) return planScriptOfRepository(script, of, recipe);
    const { select } = set;
    return planTests({ ...of, files: await this.filesWith(set), environment, select }, recipe);
  }

  private async filesWith(set: TestSet): Promise<TestFile[]> {
    const { trees, python } = this.parts;
    const read = readerOf(trees.base);
    const after = await contentsWith(set.patch, read);
    return Promise.all(
      set.files.map(async (path) => {
        const source = (after.has(path) ? after.get(path) : await read(path)) ?? '';
        const styles = findTests(python, source, { path }).map((test) => test.style);
        return {
          path,
          importsPytest: importsPytest(source),
          unittestTests: styles.filter((style) => style === 'unittest').length,
          pytestTests: styles.filter((style) => style === 'pytest').length,
        };
      }),
    );
  }
}

function namedAsOnR({
  base,
  fixed,
}: SessionRun['records']): Pick<SessionRun, 'changedNames'> | Pick<SessionRun, 'records'> {
  if (base === undefined || fixed === undefined) return {};
  const names = namesOfOtherRuns([base], [fixed]);
  if (names.size === 0) return {};
  return {
    records: { base, fixed: withTestNames(fixed, (id) => names.get(id) ?? id) },
    changedNames: names,
  };
}

/** What describes one run; `environment` is the digest. */
interface OneRunParts extends Pick<SessionRun, 'plan' | 'lines' | 'environment'> {
  readonly set: TestSet;
  readonly options: RunOptions;
}

/** One test set, run on the sides of a session. */
class OneRun {
  /** Sides whose tests have run, so that no kept run is used for them. */
  readonly ran = new Set<Side>();
  private readonly isOfTree = new RetryingMemo(() =>
    moduleNames(this.session.parts.trees, this.parts.set.patch),
  );
  private readonly request: RunKey['request'];

  constructor(
    private readonly session: SessionWork,
    private readonly parts: OneRunParts,
  ) {
    const { plan, options } = parts;
    const countLines = linesByFile(bothSides.flatMap((side) => this.placesOf(side)));
    this.request = { plan, countLines, timeoutSeconds: options.timeoutSeconds };
  }

  /**
   * Runs on these sides in parallel. If a sandbox turned out unusable, runs once more in a new
   * pair.
   */
  async on(sides: readonly Side[]): Promise<Pick<SessionRun, 'records' | 'faults'>> {
    if (this.parts.plan.files.length === 0) return { records: {}, faults: {} };
    const { warm } = this.session;
    const attempt = () => Promise.allSettled(sides.map((side) => this.onSide(side)));
    const isUnusable = (each: PromiseSettledResult<unknown>): boolean =>
      each.status === 'rejected' && each.reason instanceof SandboxUnusable;
    let done = await attempt();
    if (done.some(isUnusable)) {
      // The candidate is not to blame for what another candidate's tests did to the sandboxes.
      await warm.discard();
      done = await attempt();
      if (done.some(isUnusable)) await warm.discard();
    }
    const records: { base?: RunRecord; fixed?: RunRecord } = {};
    const faults: { base?: EnvironmentFault; fixed?: EnvironmentFault } = {};
    for (const settled of done) {
      if (settled.status === 'rejected') throw settled.reason;
      const { side, record, fault } = settled.value;
      records[side] = record;
      if (fault !== undefined) faults[side] = fault;
    }
    return { records, faults };
  }

  /** Prepares the run in a sandbox. @returns why it begins in a fresh process nevertheless */
  expectOn(sandbox: Sandbox, texts: ReadonlyMap<string, string>): Promise<string | undefined> {
    const { signal } = this.parts.options;
    return sandbox.expect?.({ ...this.request, texts, signal }) ?? Promise.resolve(undefined);
  }

  private async onSide(side: Side) {
    const { options } = this.parts;
    const run = () => this.inSandbox(side);
    const mayKeep = async (record: RunRecord) => (await this.faultOf(record)) === undefined;
    const isUsual = (options.hashSeed ?? 0) === 0 && options.isPreliminary !== true;
    const record = isUsual
      ? await this.session.parts.store.getOrRun(this.keyOf(side), options.reuse, run, mayKeep)
      : await run();
    return {
      side,
      record: ofOwnLines(record, linesByFile(this.placesOf(side))),
      fault: await this.faultOf(record),
    };
  }

  private async inSandbox(side: Side): Promise<RunRecord> {
    const { set, options } = this.parts;
    const { signal, hashSeed, isPreliminary, onOutput, onOutcome } = options;
    const sandbox = (await this.session.warm.open(options))[side];
    this.session.mayExpect = sandbox.expect !== undefined;
    await sandbox.load(set.loaded ?? set.patch, signal);
    const record = await sandbox.run({
      ...this.request,
      hashSeed,
      isPreliminary,
      signal,
      onOutput: onOutput && ((text) => onOutput(side, text)),
      onOutcome: onOutcome && ((test, outcome) => onOutcome(side, test, outcome)),
    });
    if (record.ending === 'cancelled') throw new Cancelled();
    if (record.whyFresh !== undefined) {
      options.reporter.log(`${sideName[side]}: a fresh process ran: ${record.whyFresh}`);
    }
    this.ran.add(side);
    return record;
  }

  private keyOf(side: Side): RunKey {
    const { instance, trees } = this.session.parts;
    return {
      instance: instance.id,
      tree: trees.digest[side],
      patch: this.parts.set.loaded ?? this.parts.set.patch,
      environment: this.parts.environment,
      tag: versionTag(instance),
      request: this.request,
    };
  }

  private placesOf(side: Side): FileLine[] {
    const own = this.session.ownLines[side];
    // Also by line number, which is how the reference harness looks them up.
    return [...own, ...own.flatMap((at) => this.parts.lines[side].with(at) ?? [])];
  }

  private async faultOf(record: RunRecord): Promise<EnvironmentFault | undefined> {
    // The module names are read only where the answer depends on them.
    if (environmentFault(record, () => false) === undefined) return undefined;
    return environmentFault(record, await this.isOfTree.get());
  }
}

/** Reads files of a tree, by unchecked paths. */
const readerOf =
  (tree: string) =>
  (path: string): Promise<string | undefined> =>
    readWithin(tree, path);

/**
 * A file of a tree by an unchecked path, as `textOf` gives it. Reads nothing outside the tree,
 * whatever the path says and wherever a link leads, and nothing of `.git`.
 */
export async function readWithin(tree: string, path: string): Promise<string | undefined> {
  if (unsafePath(path) !== undefined) return undefined;
  try {
    const [root, place] = await Promise.all([realpath(tree), realpath(join(tree, path))]);
    const within = relative(root, place).split(sep).join('/');
    return unsafePath(within) === undefined ? textOf(await readFile(place)) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Tells whether a module can be imported from files of the trees, or of a patch to them, by the
 * first part of its name.
 */
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
 * The files of a patch after it is applied, by path; undefined for a file that it deletes. Empty
 * when the patch does not apply, which the caller has already checked.
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

/** Python files to the numbers of lines in them, in ascending order. */
type LinesByFile = ReadonlyMap<string, readonly number[]>;

/**
 * Lines grouped by file, both sorted. Only Python files are included, since no other lines are
 * counted.
 */
function linesByFile(lines: readonly FileLine[]): LinesByFile {
  const files = new Map<string, Set<number>>();
  for (const { path, line } of lines) {
    if (!path.endsWith('.py')) continue;
    files.set(path, (files.get(path) ?? new Set()).add(line));
  }
  return new Map(
    [...files]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([path, numbers]) => [path, [...numbers].sort((one, other) => one - other)]),
  );
}

/**
 * A run with the counts of its own side's lines only. Each run counts the lines of both sides:
 * tests can read which lines are counted, and could otherwise tell their side.
 */
function ofOwnLines(record: RunRecord, lines: LinesByFile): RunRecord {
  const { trace } = record;
  return {
    ...record,
    trace: {
      ...trace,
      counts: trace.counts.filter(({ path, line }) => lines.get(path)?.includes(line) === true),
      files: trace.files.filter(({ path }) => lines.has(path)),
      elsewhere: trace.elsewhere.filter(({ path }) => lines.has(path)),
    },
  };
}
