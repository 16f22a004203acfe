import type { LineCounts } from '../domain/changeCoverage';
import { standing, pairResults } from '../domain/outcome';
import { fileOf, functionOf, isScope } from '../domain/testId';
import { HumanError } from '../domain/work';
import { workerPool } from '../engine/workerPool';
import type { RunRecord } from '../engine/engine';
import { script } from '../engine/runners';
import type { CandidateResult } from '../evaluation/candidateResult';
import { stackPatches } from '../evaluation/prepareCandidate';
import {
  endingOf,
  ranToTimeLimit,
  lineCountsOf,
  resultsOf,
  scriptResult,
  transitionsBetween,
} from '../evaluation/results';
import {
  openSession,
  readWithin,
  type InstanceSession,
  type RunOptions,
  type TestSet,
} from '../evaluation/session';
import type { RunStore } from '../evaluation/testRun';
import { parseUnified } from '../patch/parseUnified';
import type { MutantResults, TestedMutant } from './mutantSchema';
import { mutantsOf, type MutantsOfInstance, type RunnableMutant } from './mutantsOf';

interface MutantOptions extends Pick<RunOptions, 'signal' | 'reporter' | 'reuse'> {
  /** Limit for one run, as in the evaluation; runs on mutants get less, see `limitOf`. */
  readonly timeoutSeconds: number;
  /** Mutants that run at once. Each but the first needs a sandbox of its own. */
  readonly workers: number;
  /** Where finished runs are kept. */
  readonly store: RunStore;
  readonly onTested?: ((done: number, of: number) => void) | undefined;
}

/**
 * Runs the tests of a candidate on R∘X* with each mutant. Only its own tests that pass on R∘X* run,
 * and of these only the ones that reach the mutant. Runs are kept.
 *
 * @param result the candidate's evaluation in this session
 * @throws Cancelled; what the engine throws
 */
export async function testMutants(
  session: InstanceSession,
  result: Pick<CandidateResult, 'patch' | 'ownTests' | 'tests' | 'runs'>,
  { made, mutants }: MutantsOfInstance,
  options: MutantOptions,
): Promise<MutantResults> {
  const baseline = await baselineOf(session, result, options);
  const tested = new Map<RunnableMutant, TestedMutant>();
  const sandboxes = new FixedSandboxes(session, options.store);
  const { signal = new AbortController().signal, onTested, reporter } = options;
  try {
    await workerPool(mutants, options.workers, signal, async (mutant, stop) => {
      const found = await testMutant(mutant, baseline, sandboxes, { ...options, signal: stop });
      tested.set(mutant, found);
      reporter.progress(`mutant ${tested.size} of ${mutants.length}`);
      onTested?.(tested.size, mutants.length);
    });
  } finally {
    await sandboxes.dispose();
  }
  return { made, tested: mutants.flatMap((mutant) => tested.get(mutant) ?? []) };
}

/**
 * Makes the mutants of an instance and runs the tests of a candidate on them; or says why there are
 * none.
 *
 * @throws Cancelled; what the engine throws
 */
export async function testOnMutants(
  session: InstanceSession,
  result: Parameters<typeof testMutants>[1],
  { limit, ...options }: MutantOptions & { readonly limit: number },
): Promise<MutantResults | { readonly failure: string }> {
  const made = await mutantsOf(session, limit, options);
  return 'failure' in made ? made : testMutants(session, result, made, options);
}

/** What the candidate's tests do on R∘X* without a mutant. */
interface Baseline {
  readonly set: TestSet;
  readonly record: RunRecord;
  /** Own test functions that pass. */
  readonly functions: readonly string[];
  readonly counts: LineCounts;
}

/**
 * Runs the own tests that pass on R∘X*, by their names. Where the runner does not find one of them by
 * its name, the whole files run.
 *
 * @returns undefined when no own test passes on R∘X*
 */
async function baselineOf(
  session: InstanceSession,
  { patch, ownTests, tests, runs }: Pick<CandidateResult, 'patch' | 'ownTests' | 'tests' | 'runs'>,
  options: MutantOptions,
): Promise<Baseline | undefined> {
  const own = new Set(ownTests);
  const functions = [
    ...new Set(
      tests
        .filter(({ fixed }) => standing(fixed.outcome) === 'passes')
        .map(({ test }) => functionOf(test))
        .filter((name) => own.has(name)),
    ),
  ];
  if (functions.length === 0) return undefined;
  const files = [...new Set(functions.map(fileOf))];
  const sets: TestSet[] =
    runs.fixed?.runner === script.name
      ? [{ patch, files, script: true }]
      : [
          { patch, files, select: functions },
          { patch, files },
        ];
  for (const set of sets) {
    const { records, lines } = await session.run(set, { ...options, sides: ['fixed'] });
    const record = records.fixed;
    if (record === undefined) return undefined;
    const passing = new Set(
      (set.script === true ? [scriptResult(record, files[0] ?? '')] : resultsOf(record, functions))
        .filter(({ outcome }) => standing(outcome) === 'passes')
        .map(({ test }) => functionOf(test)),
    );
    const isLast = set === sets.at(-1);
    if (!isLast && !functions.every((name) => passing.has(name))) continue;
    return {
      set,
      record,
      functions: functions.filter((name) => passing.has(name)),
      counts: lineCountsOf(record, (at) => lines.fixed.without(at)),
    };
  }
  return undefined;
}

async function testMutant(
  mutant: RunnableMutant,
  baseline: Baseline | undefined,
  sandboxes: FixedSandboxes,
  options: MutantOptions,
): Promise<TestedMutant> {
  const { path, line, column, operator, before, after } = mutant;
  const place = { path, line, column, operator, before, after };
  const notCovered = { ...place, status: 'not covered', killedBy: [] } as const;
  if (baseline === undefined) return notCovered;
  const { set, record, functions, counts } = baseline;
  const toRun = reachingTests(mutant, counts, functions);
  const loaded = await withMutant(sandboxes.session, set.patch, mutant);
  if (toRun.length === 0 || loaded === undefined) return notCovered;
  const selected =
    set.select === undefined ? {} : { select: toRun, files: [...new Set(toRun.map(fileOf))] };
  const found = await sandboxes.use(async (session) => {
    const run = await session.run(
      { ...set, ...selected, loaded },
      { ...options, timeoutSeconds: limitOf(record, options), sides: ['fixed'] },
    );
    return run.records.fixed;
  });
  if (found === undefined || found.ending === 'not started') {
    throw new HumanError(
      `Tests cannot run on a mutant (${found === undefined ? 'no test runner is available' : endingOf(found)})`,
      'Try again',
    );
  }
  const killedBy = newFailures(baseline, found, toRun);
  if (ranToTimeLimit(found)) {
    return { ...place, status: 'timed out', killedBy: killedBy.length > 0 ? killedBy : toRun };
  }
  if (killedBy.length > 0) return { ...place, status: 'killed', killedBy };
  const isCovered = testsAt(path, [line], counts, functions).length > 0;
  return isCovered ? { ...place, status: 'survived', killedBy: [] } : notCovered;
}

/** Tests that pass without the mutant and fail with it. */
function newFailures(
  { set, record, functions }: Baseline,
  found: RunRecord,
  toRun: readonly string[],
): string[] {
  const [file = ''] = set.files;
  const pairs =
    set.script === true
      ? pairResults([scriptResult(record, file)], [scriptResult(found, file)])
      : transitionsBetween(record, found, toRun);
  const counted = new Set(set.select === undefined ? functions : toRun);
  return pairs
    .filter(({ transition, test }) => transition === 'P→F' && counted.has(functionOf(test)))
    .map(({ test }) => test);
}

/** How much longer than without the mutant a run may take, and seconds beside that. */
const allowance = { factor: 5, seconds: 10 };

/** A time limit, in whole seconds: a mutant that runs without end is killed soon. */
const limitOf = ({ seconds }: RunRecord, { timeoutSeconds }: MutantOptions): number =>
  Math.min(timeoutSeconds, Math.ceil(allowance.factor * seconds) + allowance.seconds);

/**
 * One diff on R∘X* of a candidate and a mutant; undefined where the candidate itself replaces the
 * code of the mutant.
 */
async function withMutant(
  { trees }: Pick<InstanceSession, 'trees'>,
  candidate: string,
  { path, patch }: RunnableMutant,
): Promise<string | undefined> {
  const touches = parseUnified(candidate).files.some(
    ({ oldPath, newPath }) => oldPath === path || newPath === path,
  );
  if (!touches) return `${candidate}${candidate.endsWith('\n') ? '' : '\n'}${patch}`;
  const fixed = { readFileOfR: (of: string) => readWithin(trees.fixed, of) };
  const together = await stackPatches(fixed, candidate, patch, {});
  return typeof together === 'string' ? together : undefined;
}

/** Sandboxes of R∘X*: that of the session, and further ones for as many runs as there are at once. */
class FixedSandboxes {
  private readonly free: InstanceSession[];
  private readonly opened: InstanceSession[] = [];

  constructor(
    readonly session: InstanceSession,
    private readonly store: RunStore,
  ) {
    this.free = [session];
  }

  async use<T>(work: (session: InstanceSession) => Promise<T>): Promise<T> {
    const session = this.free.pop() ?? (await this.open());
    try {
      return await work(session);
    } finally {
      this.free.push(session);
    }
  }

  async dispose(): Promise<void> {
    await Promise.all(this.opened.map((session) => session.dispose()));
  }

  private async open(): Promise<InstanceSession> {
    const { instance, trees, engine, python } = this.session;
    const { store } = this;
    const parts = { instance, trees, engine, python, store, sides: ['fixed'] as const };
    const opened = await openSession(parts);
    this.opened.push(opened);
    return opened;
  }
}

/**
 * Which test functions can notice a mutant: those that run a line of its statement. All can where
 * import or collection runs such a line, or where the tracer does not count each of them.
 *
 * @param counts executions on R∘X* without the mutant, with line numbers of R∘X*
 * @param functions ids of test functions, without parameters
 */
export function reachingTests(
  { path, statement, isCounted }: Pick<RunnableMutant, 'path' | 'statement' | 'isCounted'>,
  counts: LineCounts,
  functions: readonly string[],
): string[] {
  return isCounted ? testsAt(path, statement, counts, functions) : [...functions];
}

/** Which test functions run one of these lines; all of them where import or collection does. */
export function testsAt(
  path: string,
  lines: readonly number[],
  counts: LineCounts,
  functions: readonly string[],
): string[] {
  const ofFile = counts.get(path);
  const found = lines.flatMap((line) => ofFile?.get(line) ?? []);
  if (found.some(({ shared }) => shared > 0)) return [...functions];
  const ids = found.flatMap(({ byTest }) =>
    [...byTest].flatMap(([id, count]) => (count > 0 ? [id] : [])),
  );
  const scopes = ids.filter(isScope);
  const tests = new Set(ids.map(functionOf));
  return functions.filter(
    (name) => tests.has(name) || scopes.some((scope) => name.startsWith(scope)),
  );
}
