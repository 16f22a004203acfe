import { harnessTransitions } from '../domain/harness';
import type { ChangeCoverage } from '../domain/changeCoverage';
import type { Instance } from '../domain/instance';
import {
  sideName,
  sides,
  standing,
  type Outcome,
  type Side,
  type TestTransition,
} from '../domain/outcome';
import { Cancelled, HumanError, messageOf, throwIfAborted, type Reporter } from '../domain/work';
import {
  soundnessOf,
  type FlakyTest,
  type ListDisagreement,
  type UnsoundReason,
  type Validation,
} from '../domain/soundness';
import { isLimit, type StrictEvidence } from '../domain/verdict';
import type { Engine, Environment } from '../engine/engine';
import { unittest } from '../engine/runners';
import type { PythonParser } from '../python/parser';
import { GitError } from '../repository/git';
import { GoldenPatchUnfit, prepareTrees, remarkOn } from '../repository/trees';
import { sourceOf, type Sources } from '../repository/source';
import {
  coverageOf,
  harnessRuns,
  noteOnGolden,
  remarksOf,
  runSet,
  strictEvidence,
  type SetRun,
  withNewPaths,
  describeFault,
  howToFix,
  ranWith,
} from '../evaluation/testSetRuns';
import { updateState } from '../repository/instanceState';
import { ownTestsOf } from '../evaluation/prepareCandidate';
import type { GoldenTests } from '../evaluation/goldenTests';
import { endingOf, whyNotRunnable } from '../evaluation/results';
import { runStore } from '../evaluation/testRun';
import {
  openSession,
  type InstanceSession,
  type RunOptions,
  type TestSet,
} from '../evaluation/session';
import {
  compareLists,
  countTransitions,
  judgeSoundness,
  nothingRan,
  oneLine,
  tellingLine,
} from './soundness';

interface ValidateOptions {
  /** Number of runs of T* and T^R on both sides; at least 1. */
  readonly repetitions: number;
  /** Limit in seconds for one run on one side. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

interface ValidateRequest extends ValidateOptions {
  readonly instance: Instance;
  readonly engine: Engine;
  readonly python: PythonParser;
  readonly sources: Sources;
  readonly storage: string;
}

/** A validation, and the environment of its tests where they ran. */
export interface Validated {
  readonly validation: Validation;
  readonly environment?: Environment | undefined;
  /** Why R could not be had; nothing was validated then. */
  readonly sourceProblem?: Error | undefined;
}

/**
 * Determines whether an instance is sound, and stores the result in its state. What prevents this
 * (R is not available, T* does not apply, an image cannot be built) is a result too. An attempt
 * that could validate nothing does not replace the result of one that could.
 *
 * @throws Cancelled, and then nothing is stored; HumanError when the result cannot be stored
 */
export async function validateOne(request: ValidateRequest): Promise<Validated> {
  const { instance, storage, signal, reporter } = request;
  const validated = await prepareAndValidate(request);
  const { validation } = validated;
  throwIfAborted(signal);
  const isValidated = (each: Validation): boolean => soundnessOf(each) !== 'not validated';
  await updateState(
    storage,
    instance.id,
    (kept) =>
      !isValidated(validation) && kept.validation !== undefined && isValidated(kept.validation)
        ? kept
        : { ...kept, validation },
    { signal, reporter },
  );
  return validated;
}

async function prepareAndValidate(request: ValidateRequest): Promise<Validated> {
  const { instance, engine, python, storage, signal, reporter } = request;
  const started = performance.now();
  let session: InstanceSession | undefined;
  let hasTrees = false;
  try {
    reporter.progress(`${instance.id}: preparing R and R∘X*`);
    const source = await sourceOf(instance, request.sources);
    const trees = await prepareTrees(instance, source, storage, { signal, reporter });
    hasTrees = true;
    const store = runStore(storage);
    session = await openSession({ instance, trees, engine, python, store });
    return await validateInstance(session, request);
  } catch (error) {
    if (error instanceof Cancelled || signal?.aborted === true) throw new Cancelled();
    if (!(error instanceof HumanError) && !(error instanceof GitError)) throw error;
    const kind = whyNothingRan(error, hasTrees);
    const validation: Validation = {
      ...unknownYet,
      id: instance.id,
      reasons: [{ kind, explanation: oneLine(error.message), tests: [] }],
      date: new Date().toISOString(),
      engine: engine.name,
      environment: engine.environment?.description ?? engine.description,
      seconds: secondsSince(started),
    };
    const isSource = kind === 'source not available';
    return {
      validation,
      environment: engine.environment,
      ...(isSource ? { sourceProblem: error } : {}),
    };
  } finally {
    await session?.dispose();
  }
}

function whyNothingRan(error: Error, hasTrees: boolean): UnsoundReason['kind'] {
  if (error instanceof GoldenPatchUnfit) return 'golden patch does not apply';
  return hasTrees ? 'environment failed' : 'source not available';
}

/**
 * The result for one instance of a batch; `failure` is a fault of this program, and nothing is
 * stored then.
 */
export type ValidationEntry =
  | ({ readonly id: string } & Validated)
  | { readonly id: string; readonly failure: string };

/**
 * Validates instances, several at once; each result is stored as soon as it is known. Results have
 * the order of the instances. A failure of one does not affect the others.
 *
 * @param onEntry called as each is done
 * @throws Cancelled
 */
export async function validateBatch(
  request: Omit<ValidateRequest, 'instance'> & {
    readonly instances: readonly Instance[];
    readonly workers: number;
  },
  onEntry: (entry: ValidationEntry) => void,
): Promise<ValidationEntry[]> {
  const { instances, workers, reporter, signal } = request;
  const entries = new Map<string, ValidationEntry>();
  const left = [...instances];
  const work = async (): Promise<void> => {
    for (let instance = left.shift(); instance !== undefined; instance = left.shift()) {
      throwIfAborted(signal);
      const { id } = instance;
      let entry: ValidationEntry;
      try {
        entry = { id, ...(await validateOne({ ...request, instance })) };
      } catch (error) {
        if (error instanceof Cancelled || signal?.aborted === true) throw new Cancelled();
        const known = error instanceof HumanError;
        entry = { id, failure: known ? error.message : `internal error: ${messageOf(error)}` };
        if (!known && error instanceof Error) reporter.log(error.stack ?? error.message);
      }
      entries.set(id, entry);
      onEntry(entry);
    }
  };
  const count = Math.max(1, Math.min(workers, instances.length));
  const ends = await Promise.allSettled(Array.from({ length: count }, work));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return instances.flatMap(({ id }) => entries.get(id) ?? []);
}

/** A validation without any observation. */
const unknownYet = {
  reasons: [],
  repetitions: 0,
  flaky: [],
  golden: {},
  base: {},
  added: 0,
  removed: 0,
} satisfies Partial<Validation>;

/**
 * Runs T*, and T^R in the files of T*, on both sides, again and again. No kept run is reused, and
 * repetition k has `PYTHONHASHSEED` k-1. All other runs share one seed, with which a test that
 * depends on the order of a set would never reveal this. Stops early when nothing can run here or a
 * run is stopped, since the next repetition would end in the same way.
 *
 * @throws Cancelled, HumanError when the engine has no sandboxes
 */
async function validateInstance(
  session: InstanceSession,
  options: ValidateOptions,
): Promise<Validated> {
  const { instance, engine, trees } = session;
  const started = performance.now();
  const tests = await session.goldenTests(options.signal);
  const unfit = whyGoldenTestsUnfit(tests);
  const { begun, rounds, hindrance } =
    'problem' in tests || unfit !== undefined
      ? notRun(unfit)
      : await repeatRuns(session, tests, options);
  const [first] = rounds;
  const judged =
    first === undefined ? undefined : judgeSoundness(rounds.map((each) => each.evidence));
  // If the tests cannot run here, their failures say nothing.
  const isHindered = hindrance?.kind === 'environment failed';
  const remarks = [
    remarkOn(trees) ?? [],
    first === undefined ? [] : remarksOf(first.golden),
    first === undefined || isHindered
      ? []
      : ((await noteOnGolden(session, first.evidence, options)) ?? []),
  ].flat();
  const disagreement =
    first === undefined || isHindered ? undefined : disagreementWith(instance, first, session);
  // Where nothing ran, no environment is pulled or built only to name it.
  const environment = begun === 0 ? engine.environment : await session.environment(options);
  const { source } = trees;
  const validation: Validation = {
    ...unknownYet,
    id: instance.id,
    reasons: [hindrance ?? [], isHindered ? [] : (judged?.reasons ?? [])].flat(),
    repetitions: begun,
    date: new Date().toISOString(),
    engine: engine.name,
    environment: environment?.description ?? engine.description,
    ...(source.kind === 'snapshot' ? { source: `snapshot ${source.from}` } : {}),
    ...(judged === undefined
      ? {}
      : { flaky: judged.flaky, ...(isHindered ? {} : { failToPass: judged.failToPass }) }),
    ...(first === undefined ? {} : seenIn(first, session)),
    ...(disagreement === undefined ? {} : { disagreement }),
    ...(remarks.length === 0 ? {} : { remarks }),
    seconds: secondsSince(started),
  };
  return { validation, environment };
}

/** The repetitions of one validation. */
interface Repetitions {
  /** Number of repetitions, the last of which may not have come to its end. */
  readonly begun: number;
  readonly rounds: readonly Round[];
  /** What ended them early. */
  readonly hindrance?: UnsoundReason | undefined;
}

const notRun = (hindrance: UnsoundReason | undefined): Repetitions => ({
  begun: 0,
  rounds: [],
  hindrance,
});

async function repeatRuns(
  session: InstanceSession,
  { patch: goldenTests, files }: Pick<TestSet, 'patch' | 'files'>,
  options: ValidateOptions,
): Promise<Repetitions> {
  const { instance } = session;
  const { repetitions, timeoutSeconds, reporter } = options;
  const own = await ownTestsOf(session, goldenTests, files);
  const rounds: Round[] = [];
  for (let begun = 1; begun <= repetitions; begun += 1) {
    const run = (patch: string, paths: readonly string[], name: string): Promise<SetRun> => {
      reporter.progress(`${instance.id}: ${name} tests, repetition ${begun} of ${repetitions}`);
      return runSet(session, { patch, files: paths }, {
        ...options,
        reuse: false,
        hashSeed: begun - 1,
      } satisfies RunOptions);
    };
    const golden = await run(goldenTests, files, 'golden');
    const hindrance =
      stopOf('golden', golden, begun, timeoutSeconds) ??
      (begun === 1 ? await whyNothingRuns(session, golden, options) : undefined);
    if (hindrance !== undefined) return { begun, rounds, hindrance };
    const base = withNewPaths(await run('', own.filesOfR, 'base'), own.renamed);
    const stop = stopOf('base', base, begun, timeoutSeconds);
    if (stop !== undefined) return { begun, rounds, hindrance: stop };
    const evidence = strictEvidence(golden, base, own);
    rounds.push({ golden, base, evidence });
    // Where R's own tests run, the environment is fit, and T* itself is broken.
    if (begun === 1 && nothingRan(evidence.candidate) && nothingRan(evidence.base)) {
      const why = await whyNoTestRan(session, golden, options);
      return { begun, rounds, hindrance: why };
    }
  }
  return { begun: repetitions, rounds };
}

/** One repetition that ran to its end. */
interface Round {
  readonly golden: SetRun;
  readonly base: SetRun;
  readonly evidence: StrictEvidence;
}

function whyGoldenTestsUnfit(tests: GoldenTests): UnsoundReason | undefined {
  if ('problem' in tests) {
    return {
      kind: 'golden patch does not apply',
      explanation: `the golden tests do not apply ${oneLine(tests.problem)}`,
      tests: [],
    };
  }
  // Never run an empty list of files: a runner without arguments runs the whole suite.
  return tests.files.length > 0
    ? undefined
    : {
        kind: 'no F→P',
        explanation: 'the golden tests change no Python test file, so there is nothing to run',
        tests: [],
      };
}

/** Why this environment cannot run T*, so that a run says nothing about the instance. */
async function whyNothingRuns(
  session: InstanceSession,
  { records, notes, faults }: SetRun,
  options: ValidateOptions,
): Promise<UnsoundReason | undefined> {
  const unrunnable =
    records === undefined
      ? undefined
      : (whyNotRunnable(records.base) ?? whyNotRunnable(records.fixed));
  const { fixed } = faults;
  if (fixed !== undefined && unrunnable === undefined) {
    return environmentFailed(await describeFault(session, fixed, false, options));
  }
  if (records !== undefined && unrunnable === undefined && notes.length === 0) return undefined;
  const why = oneLine(unrunnable ?? notes.join('; '));
  const environment = await session.environment(options);
  const next = environment.packages['pytest'] === undefined ? `: ${howToFix(environment)}` : '';
  return environmentFailed(`the golden tests cannot all run here: ${why}${next}`);
}

async function whyNoTestRan(
  session: InstanceSession,
  { records }: SetRun,
  options: ValidateOptions,
): Promise<UnsoundReason> {
  const line = records && (tellingLine(records.fixed.log) ?? tellingLine(records.base.log));
  const why = line ?? (records === undefined ? 'nothing ran' : endingOf(records.fixed));
  const where = await ranWith(session, options);
  return environmentFailed(`no golden test can run on either side (${why}); ${where}`);
}

const environmentFailed = (explanation: string): UnsoundReason => ({
  kind: 'environment failed',
  explanation,
  tests: [],
});

/** The reason from a run that was stopped: whatever it prints, it did not end on its own. */
function stopOf(
  tests: FlakyTest['tests'],
  { records }: SetRun,
  repetition: number,
  timeoutSeconds: number,
): UnsoundReason | undefined {
  if (records === undefined) return undefined;
  const stopped = sides.filter((side) => isLimit(records[side].ending));
  if (stopped.length === 0) return undefined;
  const tried = (side: Side): string[] =>
    records[side].trace.unfinished.flatMap(({ lastTest }) => lastTest ?? []);
  const how = stopped.map((side) => {
    const why =
      records[side].ending === 'timed out'
        ? `at the time limit of ${timeoutSeconds} s`
        : endingOf(records[side]).replace(/^stopped /, '');
    const [during] = tried(side);
    return `on ${sideName[side]} ${why}${during === undefined ? '' : ` in ${oneLine(during)}`}`;
  });
  return {
    kind: 'timed out',
    explanation: `the ${tests} tests were stopped ${how.join(', ')} (repetition ${repetition})`,
    tests: [...new Set(stopped.flatMap(tried))],
  };
}

/** The observations of a repetition apart from reasons. */
function seenIn({ golden, base, evidence }: Round, session: InstanceSession): Partial<Validation> {
  const nothing = { own: new Set<string>(), removed: new Set<string>() };
  const share = baseCoverageOf(
    coverageOf(session, undefined, base, { golden, goldenBase: base }, nothing),
  );
  const before = new Set(evidence.base.map((each) => each.test));
  const transitions = evidence.candidate.filter(leftTrace);
  const after = new Set(transitions.map((each) => each.test));
  return {
    golden: countTransitions(transitions),
    goldenAdded: countTransitions(transitions.filter((each) => !before.has(each.test))),
    base: countTransitions(evidence.base),
    added: [...after].filter((test) => !before.has(test)).length,
    removed: [...before].filter((test) => !after.has(test)).length,
    ...(share === undefined ? {} : { baseCoverage: share }),
  };
}

function disagreementWith(
  { failToPass }: Instance,
  { golden, evidence }: Round,
  session: InstanceSession,
): ListDisagreement | undefined {
  if (failToPass === undefined) return undefined;
  const { pre, post } = harnessRuns(session, golden);
  const byHarness = harnessTransitions(pre.statuses, post.statuses).FAIL_TO_PASS;
  const passes = (outcome: Outcome): boolean => standing(outcome) === 'passes';
  const byId = evidence.candidate
    .filter((each) => passes(each.fixed.outcome) && !passes(each.base.outcome))
    .map((each) => each.test);
  // Where the harness uses pytest and this machine does not, the log has other names.
  return golden.plan.runner === unittest.name
    ? compareLists(failToPass, byId, byHarness)
    : compareLists(failToPass, byHarness, byId);
}

const leftTrace = (each: TestTransition): boolean =>
  sides.some((side) => each[side].outcome !== 'missing');

/** Share of the executable changed lines that T^R runs; undefined when none is executable. */
function baseCoverageOf({ lines, executable }: ChangeCoverage): number | undefined {
  if (executable === 0) return undefined;
  const run = lines.filter((line) => line.state !== 'not executable' && line.counts.base > 0);
  return run.length / executable;
}

const secondsSince = (started: number): number => Math.round(performance.now() - started) / 1000;
