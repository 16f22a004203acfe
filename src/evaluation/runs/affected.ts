import { fileOf, isBelow, functionOf, isScope } from '../../domain/testId';
import { sides, type Side, type TestResult } from '../../domain/outcome';
import type { RunRecord } from '../../engine/engine';
import { script, type Act, type TracedLine, type ExecutionTrace } from '../../engine/runners';
import { editedTests } from '../../python/changedTests';
import { runSet, stoppedBy, type SetRun } from '../testSetRuns';
import type { ReadCandidate } from '../prepareCandidate';
import { contradictionsOf } from '../findings/inconsistentRecords';
import { whyIncomplete, whyNotRunnable } from '../results';
import { contentsWith, type InstanceSession, type RunOptions } from '../session';
import { type BothSides } from '../testRun';

/** A run of all files that a candidate touches, kept so that runs of few tests can update it. */
export interface CompleteRun {
  /** The candidate as a unified diff on R. */
  readonly patch: string;
  readonly files: readonly string[];
  readonly run: SetRun;
}

/** How many test functions of a result ran again. */
export interface AffectedRun {
  /** Test functions that ran in this evaluation. */
  readonly ran: number;
  /** Test functions whose outcomes come from an earlier run. */
  readonly kept: number;
}

/** What has to run after an edit since a complete run. */
interface Affected {
  /** Ids of test functions to run. */
  readonly tests: readonly string[];
  readonly removed: readonly string[];
  readonly moved: ReadonlyMap<string, number>;
}

/**
 * Which tests an edit can affect.
 *
 * @param before contents by path of the files that the candidate touched in the complete run;
 *   undefined for a file that it deleted
 * @param files contents of the test files now
 * @returns undefined when all of them have to run, because more than the code of tests was edited
 */
function affectedBy(
  session: Pick<InstanceSession, 'python'>,
  before: ReadonlyMap<string, string | undefined>,
  after: ReadonlyMap<string, string | undefined>,
  files: readonly string[],
): Affected | undefined {
  const tests: string[] = [];
  const removed: string[] = [];
  const moved = new Map<string, number>();
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(path), after.get(path)];
    if (before.has(path) !== after.has(path)) return undefined;
    if (was === is) continue;
    if (was === undefined || is === undefined || !files.includes(path)) return undefined;
    const edit = editedTests(session.python, was, is, { path });
    if (!edit.onlyTests) return undefined;
    tests.push(...edit.edited);
    removed.push(...edit.removed);
    for (const [test, lines] of edit.moved) moved.set(test, lines);
  }
  return { tests, removed, moved };
}

/**
 * Runs the tests that an edit since a complete run can have changed, on both sides. The rest of the
 * result comes from that run.
 *
 * @returns undefined when everything has to run: more than the code of tests was edited, or the
 *   runner behaves differently than before
 * @throws Cancelled, GitError when the patch does not apply to a side
 */
export async function runAffected(
  session: InstanceSession,
  { patch, files, own }: ReadCandidate,
  last: CompleteRun,
  options: RunOptions,
): Promise<{ readonly run: SetRun; readonly affected: AffectedRun } | undefined> {
  if (files.join('\0') !== last.files.join('\0') || !isComplete(last.run)) return undefined;
  const contents = (of: string) => contentsWith(of, (path) => session.readFileOfR(path));
  const [before, after] = [await contents(last.patch), await contents(patch)];
  const affected = affectedBy(session, before, after, files);
  if (affected === undefined || affected.tests.length === own.all.length) return undefined;
  const { tests } = affected;
  const kept = own.all.length - tests.length;
  if (tests.length === 0) {
    const { digest } = await session.environment(options);
    if (digest !== last.run.environment) return undefined;
    const nothing = { outcomes: [], counts: [], collected: [], acts: [] };
    const run = mergedRun(last.run, { base: nothing, fixed: nothing }, affected, own.all);
    return { run, affected: { ran: 0, kept } };
  }
  const touched = files.filter((path) => tests.some((test) => isBelow(test, path)));
  const part = await runSet(session, { patch, files: touched, select: tests }, options);
  const { records } = part;
  if (records === undefined || !isComplete(part)) return undefined;
  // A package installed since then may change what the other tests do.
  if (part.environment !== last.run.environment) return undefined;
  for (const side of sides) {
    const seen = new Set(records[side].trace.outcomes.map(({ test }) => functionOf(test)));
    // The runner does not know this test by its name, or another name stands for it.
    if (!tests.every((test) => seen.has(test))) return undefined;
  }
  const { base, fixed } = records;
  const merged = mergedRun(last.run, { base: base.trace, fixed: fixed.trace }, affected, own.all);
  const withLog = (side: Side): RunRecord => ({
    ...(merged.records as BothSides)[side],
    // A test that fails now sets the exit status, whatever the status of the complete run was.
    ...(records[side].exitCode === 0 ? {} : { exitCode: records[side].exitCode }),
    log: records[side].log,
    seconds: records[side].seconds,
  });
  return {
    // The places of the changed lines depend on the current edit.
    run: {
      ...merged,
      lines: part.lines,
      changedNames: new Map([...(last.run.changedNames ?? []), ...(part.changedNames ?? [])]),
      records: { base: withLog('base'), fixed: withLog('fixed') },
    },
    affected: { ran: tests.length, kept },
  };
}

/**
 * Whether a run came to its end on both sides with consistent records, so that its tests need not
 * run again.
 */
export function isComplete(run: SetRun): boolean {
  const { records } = run;
  return (
    records !== undefined &&
    run.plan.runner !== script.name &&
    stoppedBy(records).stopped === undefined &&
    Object.keys(run.faults).length === 0 &&
    sides.every(
      (side) =>
        whyIncomplete(records[side]) === undefined &&
        whyNotRunnable(records[side]) === undefined &&
        contradictionsOf(records[side], run.plan.runner).length === 0 &&
        records[side].trace.sessions.length > 0,
    )
  );
}

/**
 * A complete run in which a later run of some tests replaces their results. The result is exact
 * where tests do not depend on one another, since counts are attributed to tests. Counts of import
 * and collection stay, since no code that runs then was edited. The result keeps the given order,
 * since the explanation of a verdict names the first test that prevents success.
 *
 * @param part traces of the later run
 * @param order ids of all test functions in the order of their files, in which runners run them
 */
function mergedRun(
  last: SetRun,
  part: Readonly<Record<Side, Pick<ExecutionTrace, 'outcomes' | 'counts' | 'collected' | 'acts'>>>,
  { tests, removed, moved }: Affected,
  order: readonly string[],
): SetRun {
  if (last.records === undefined) return last;
  const gone = new Set([...tests, ...removed]);
  const place = new Map(order.map((test, index) => [test, index]));
  const placeOf = ({ test }: TestResult): number => place.get(functionOf(test)) ?? order.length;
  const merge = (side: Side): RunRecord => {
    const record = (last.records as BothSides)[side];
    const { trace } = record;
    const later = part[side];
    return {
      ...record,
      trace: {
        ...trace,
        outcomes: [
          ...trace.outcomes
            .filter(({ test }) => !gone.has(functionOf(test)))
            .map((each) => shifted(each, moved.get(functionOf(each.test)) ?? 0)),
          ...later.outcomes,
        ].sort((a, b) => placeOf(a) - placeOf(b)),
        acts: [
          ...trace.acts
            .filter(({ test }) => test === null || !gone.has(functionOf(test)))
            .map((act) => movedAct(act, moved)),
          ...later.acts,
        ],
        counts: mergedCounts(trace.counts, later.counts, gone),
        collected: [
          ...trace.collected.filter((test) => !gone.has(functionOf(test))),
          ...later.collected,
        ],
      },
    };
  };
  return { ...last, records: { base: merge('base'), fixed: merge('fixed') } };
}

/** The result of a test that has moved in its file, with its frames moved along. */
function shifted(result: TestResult, lines: number): TestResult {
  if (lines === 0 || result.frames === undefined) return result;
  const file = fileOf(result.test);
  return {
    ...result,
    frames: result.frames.map((frame) =>
      frame.path === file ? { ...frame, line: frame.line + lines } : frame,
    ),
  };
}

/** An act of a test that has moved in its file, with its lines there moved along. */
function movedAct(act: Act, moved: Affected['moved']): Act {
  const lines = act.test === null ? 0 : (moved.get(functionOf(act.test)) ?? 0);
  const file = act.test === null ? undefined : fileOf(act.test);
  return {
    ...act,
    at: act.at.map(([path, line]) => [path, path === file ? line + lines : line]),
  };
}

function mergedCounts(
  last: readonly TracedLine[],
  part: readonly TracedLine[],
  gone: ReadonlySet<string>,
): TracedLine[] {
  const later = new Map(part.map((each) => [`${each.path}:${each.line}`, each]));
  const merged = last.map(({ path, line, byTest, shared }): TracedLine => {
    const now = later.get(`${path}:${line}`);
    later.delete(`${path}:${line}`);
    const kept = [...byTest].filter(([test]) => !gone.has(functionOf(test)));
    // The set-up of classes and files runs alike in each run.
    const fresh = [...(now?.byTest ?? [])].filter(([test]) => !isScope(test) || !byTest.has(test));
    return { path, line, byTest: new Map([...kept, ...fresh]), shared };
  });
  for (const each of later.values()) merged.push({ ...each, shared: 0 });
  return merged;
}
