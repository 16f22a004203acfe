import type { Finding } from '../domain/finding';
import { harnessUnapplied } from '../domain/harness';
import { sideName, sides, type TestTransition } from '../domain/outcome';
import { functionOf } from '../domain/testId';
import { gradeStrict, ungraded, type StrictEvidence, type Verdict } from '../domain/verdict';
import { remarkOnDay } from '../engine/engine';
import type { TestPlan } from '../engine/runners';
import { treeEntries } from '../repository/treeFiles';
import { remarkOn } from '../repository/trees';
import { isComplete, runAffected, type AffectedRun, type CompleteRun } from './runs/affected';
import type { CandidateResult } from './candidateResult';
import {
  environmentProblem,
  howToFix,
  coverageOf,
  goldenEvidence,
  hindrancesOf,
  remarksOf,
  runBase,
  runSet,
  sideCounts,
  strictEvidence,
  type EvidenceOptions,
  type GoldenEvidence,
  type SetRun,
} from './testSetRuns';
import {
  hindrancesInWords,
  type Hindrance,
  endingOf,
  ranToTimeLimit,
  whyNeitherRuns,
  whyNotRunnable,
} from './results';
import { explainDifference } from './runs/difference';
import { gradeAsHarness, harnessUngraded, type HarnessGrading } from './runs/harnessGrading';
import { branchesThatExclude } from './findings/branchesThatExclude';
import type { SideCounts } from './findings/noChangedLineRan';
import { findingsInCode, findingsInRuns, inOrder } from './findings/findings';
import { lostTests, removesOrDisablesTests } from './findings/removesOrDisablesTests';
import {
  differingTest,
  ownSet,
  runFirst,
  reportFirstResult,
  type FirstOptions,
} from './firstResult';
import { testsThatDidNotRun } from './findings/testsThatDidNotRun';
import { inconsistentRecords } from './findings/inconsistentRecords';
import {
  prepareCandidate,
  type CandidateRequest,
  type OwnTests,
  type ReadCandidate,
  type RefusedCandidate,
} from './prepareCandidate';
import { brokenRuns, testRun, type BothSides } from './testRun';
import type { InstanceSession } from './session';

export type { CompleteRun } from './runs/affected';

/** What an evaluation can report apart from its grade. */
export interface CandidateOptions extends EvidenceOptions {
  /**
   * Called once, before the grade, with the results of the tests that the candidate adds or
   * changes; these tests then run first. Not called for a candidate without such tests, nor where the
   * whole files are known to be quick.
   */
  readonly onFirst?: FirstOptions['onFirst'] | undefined;
  /**
   * An earlier complete run in the same session. If only the code of tests was edited since, only
   * the edited tests run.
   */
  readonly since?: CompleteRun | undefined;
}

export interface Evaluation {
  readonly result: CandidateResult;
  /** What the next evaluation can start from; undefined when the tests did not run to their end. */
  readonly complete: CompleteRun | undefined;
}

/**
 * Grades a candidate: converts it, applies it, and runs it on both sides beside the base and golden
 * tests.
 */
export async function evaluateCandidate(
  session: InstanceSession,
  request: CandidateRequest,
  options: CandidateOptions,
): Promise<CandidateResult> {
  return (await evaluateSince(session, request, options)).result;
}

/**
 * As `evaluateCandidate`, with the complete run that a later evaluation of the edited candidate can
 * start from.
 */
export async function evaluateSince(
  session: InstanceSession,
  request: CandidateRequest,
  options: CandidateOptions,
): Promise<Evaluation> {
  const evaluation = await evaluated(session, request, options);
  const remark = remarkOnDay((await session.environment(options)).movedDay);
  if (remark === undefined) return evaluation;
  const { result } = evaluation;
  return { ...evaluation, result: { ...result, notes: [remark, ...result.notes] } };
}

async function evaluated(
  session: InstanceSession,
  request: CandidateRequest,
  options: CandidateOptions,
): Promise<Evaluation> {
  const script = request.mode === 'reproduction-script';
  options.reporter.progress(`${request.model}: reading patch`);
  const read = await prepareCandidate(session, request, options.signal);
  if ('verdict' in read) {
    const golden = await goldenEvidence(session, options);
    const result = withoutRun(session, request, read, golden);
    return {
      result: script ? result : await withHarness(session, read, { golden, result }, options),
      complete: undefined,
    };
  }
  const evaluation = await ranAndGraded(session, request, read, options);
  // The next edit is likely to be one of the same tests.
  if (options.onFirst !== undefined && !script && read.own.functions.length > 0) {
    session.expect(ownSet(read), options);
  }
  return evaluation;
}

async function ranAndGraded(
  session: InstanceSession,
  request: CandidateRequest,
  read: ReadCandidate,
  options: CandidateOptions,
): Promise<Evaluation> {
  const { reporter, onFirst, since } = options;
  const script = request.mode === 'reproduction-script';
  const ofEdit = async (how: CandidateOptions) =>
    since === undefined || script ? undefined : runAffected(session, read, since, how);
  const early =
    onFirst !== undefined && session.isExpecting()
      ? await ofEdit({ ...options, isPreliminary: true })
      : undefined;
  if (early !== undefined && onFirst !== undefined) {
    reportFirstResult(session, request, read, early.run, { ...options, onFirst });
  }
  const few = await ofEdit(options);
  const first =
    onFirst === undefined || few !== undefined
      ? {}
      : await runFirst(session, request, read, { ...options, onFirst });
  const golden = await goldenEvidence(session, options);
  reporter.progress(`${request.model}: running base tests`);
  const base = await runBase(session, read.own, options);
  reporter.progress(`${request.model}: running candidate tests`);
  const { patch, files } = read;
  const candidate =
    few?.run ?? first.whole ?? (await runSet(session, { patch, files, script }, options));
  const warm = early?.run ?? first.warm;
  const differing = warm && differingTest(warm, candidate, read.own.functions);
  if (differing !== undefined) {
    session.distrust(`the outcome of ${differing} differed with R preloaded`, reporter);
  }

  const ofBase = hindrancesOf(base, 'base');
  const runs: CandidateRuns = {
    ...{ session, request, read, golden, base, ofBase, candidate, affected: few?.affected },
    hindrances: [...golden.hindrances, ...ofBase],
    inCode: await findingsInCode(session, patch, files, ranOf(session, read.own, candidate)),
  };
  const { records } = candidate;
  if (records === undefined) {
    const environment = await session.environment(options);
    const next = environment.packages['pytest'] === undefined ? `: ${howToFix(environment)}` : '';
    const result = unrunnableResult(runs, `${candidate.notes.join('; ')}${next}`);
    // Its tests need a runner that the environment lacks, so what they cover is not known.
    const isLacking = candidate.plan.notRun.length > 0;
    return {
      result: isLacking ? { ...result, changeCoverage: undefined } : result,
      complete: undefined,
    };
  }
  const others = [base, golden.goldenBase, golden.golden];
  const lacking = await environmentProblem(session, { patch, run: candidate }, others, options);
  if (lacking !== undefined) {
    // The environment keeps an unknown share of the lines from running.
    const result = { ...unrunnableResult(runs, lacking), changeCoverage: undefined };
    return { result, complete: undefined };
  }
  const unrunnable = whyNeitherRuns(records.base, records.fixed);
  if (unrunnable !== undefined) {
    return { result: unrunnableResult(runs, unrunnable), complete: undefined };
  }
  const result = await gradedResult(runs, records, options);
  const complete = { patch, files, run: candidate };
  return { result, complete: isComplete(candidate) ? complete : undefined };
}

/** What findings need of the runs; undefined where there was none. */
const ranOf = ({ trees }: InstanceSession, { functions }: OwnTests, { records }: SetRun) =>
  records === undefined
    ? undefined
    : {
        acts: sides.flatMap((side) => records[side].trace.acts),
        ownTests: functions,
        paths: async () => {
          const entries = await Promise.all(sides.map((side) => treeEntries(trees[side])));
          return new Set(entries.flatMap((each) => [...each.keys()]));
        },
      };

/** A candidate that ran, and everything that its result is made from. */
interface CandidateRuns {
  readonly session: InstanceSession;
  readonly request: CandidateRequest;
  readonly read: ReadCandidate;
  readonly golden: GoldenEvidence;
  readonly base: SetRun;
  readonly candidate: SetRun;
  /** Absent when all tests of the candidate ran. */
  readonly affected: AffectedRun | undefined;
  /** Why the base runs do not show which lines are executable. */
  readonly ofBase: readonly Hindrance[];
  /** Why the base and the golden runs do not show it. */
  readonly hindrances: readonly Hindrance[];
  readonly inCode: readonly Finding[];
}

/** @param why the reason why no test could run, which no note repeats */
function notesOn(
  { session, read, golden, candidate, hindrances }: CandidateRuns,
  why?: string,
): string[] {
  return [
    ...notesOfTrees(session),
    ...read.notes,
    ...candidate.notes.filter((note) => why?.includes(note) !== true),
    ...remarksOf(candidate),
    ...noteOn(hindrances, why),
    ...golden.notes,
    ...(why === undefined ? noteOnFaults(candidate) : []),
  ];
}

/** The result of a candidate whose runner could not be started. */
function unrunnableResult(runs: CandidateRuns, why: string): CandidateResult {
  const { session, request, read, golden, base, candidate, hindrances } = runs;
  const { records } = candidate;
  const verdict = ungraded('could not run', why, true);
  return {
    ...withoutRun(session, request, { ...read, verdict }, golden),
    ownTests: read.own.functions,
    notes: notesOn(runs, why),
    findings: inOrder([...runs.inCode, removesOrDisablesTests(lostTests(read.own, undefined))]),
    ...withBroken(golden, base),
    ...(records === undefined ? {} : { runs: summariesOf(candidate.plan, records) }),
    ...(hindrances.length > 0 ? { changeCoverage: undefined } : {}),
  };
}

async function gradedResult(
  runs: CandidateRuns,
  records: BothSides,
  options: CandidateOptions,
): Promise<CandidateResult> {
  const { session, request, read, golden, base, candidate, affected, hindrances } = runs;
  const counts = sideCounts(session, candidate, base, golden);
  const evidence = await withExclusiveLines(
    session,
    strictEvidence(candidate, base, read.own),
    counts,
  );
  const { tests, ownFunctions: own } = evidence;
  const strict = gradeStrict({ ...evidence, issue: session.instance.issue });
  const contradictions = evidence.contradictions ?? [];
  const partly = whyNoHarnessGrade(records, base, runs.ofBase, contradictions);
  const graded =
    partly !== undefined || affected !== undefined ? undefined : await harnessOf(runs, options);
  const hindered = partly ?? graded?.hindrance;
  const harness = graded?.report ?? harnessUngraded;
  const isOwn = (each: TestTransition): boolean => own.has(functionOf(each.test));
  // Where ΔC is unknown, it is also unknown which lines a test can run.
  const inRuns =
    hindrances.length > 0
      ? []
      : findingsInRuns(counts, strict.failToPass, request.mode === 'reproduction-script');
  // Runs that broke off do not show which tests are gone.
  const isWhole = isComplete(candidate) && isComplete(base);
  const lost = lostTests(read.own, isWhole ? { before: evidence.base, now: tests } : undefined);
  const changeCoverage =
    hindrances.length > 0 || contradictions.length > 0
      ? undefined
      : coverageOf(session, candidate, base, golden, {
          own,
          removed: new Set(read.own.removed),
          lost: new Set([...lost.removed, ...lost.disabled, ...lost.emptied]),
        });
  const lines = changeCoverage?.lines.filter((line) => line.lost === true).length ?? 0;
  // The reason of a run that was stopped says that tests did not run.
  const inOutcomes =
    evidence.stopped === undefined
      ? [testsThatDidNotRun({ records, tests }, { records: base.records, tests: evidence.base })]
      : [];
  return {
    ...header(session, request),
    diagnostics: read.diagnostics,
    notes: [...notesOn(runs), ...notesOnGrade(contradictions, hindered, affected)],
    findings: inOrder([
      ...runs.inCode,
      ...inRuns,
      ...inconsistentRecords(contradictions),
      ...inOutcomes,
      removesOrDisablesTests(lost, lines),
    ]),
    patch: read.patch,
    ownTests: [...own],
    tests: [...tests.filter(isOwn), ...tests.filter((each) => !isOwn(each))],
    strict,
    harness,
    difference:
      graded === undefined || hindered !== undefined
        ? undefined
        : (gradedApart(strict, graded) ??
          explainDifference(strict, harness, tests, candidate.changedNames)),
    changeCoverage,
    goldenCoverage: golden.coverage,
    runs: summariesOf(candidate.plan, records),
    ...withBroken(golden, base),
    ...(affected === undefined ? {} : { affected }),
  };
}

/** Adds what the counts themselves contradict. */
async function withExclusiveLines<T extends StrictEvidence>(
  session: InstanceSession,
  evidence: T,
  counts: readonly SideCounts[],
): Promise<T> {
  const found = await Promise.all(
    counts.map((each, index) => branchesThatExclude(session, sides[index] ?? 'base', each)),
  );
  return { ...evidence, contradictions: [...(evidence.contradictions ?? []), ...found.flat()] };
}

function notesOnGrade(
  contradictions: readonly string[],
  hindered: string | undefined,
  affected: AffectedRun | undefined,
): string[] {
  const notes: string[] = [];
  if (contradictions.length > 0) {
    notes.push("ΔC is unknown: the run's records contradict each other");
  }
  if (hindered !== undefined) notes.push(`no harness grade: ${hindered}`);
  if (affected !== undefined) {
    notes.push(
      `${affected.ran} of ${affected.ran + affected.kept} tests ran; the other results are from the last run; ` +
        'harness grading needs all tests to run',
    );
  }
  return notes;
}

const harnessOf = (
  { session, request, read, golden, base, candidate, hindrances }: CandidateRuns,
  options: EvidenceOptions,
): Promise<HarnessGrading> =>
  gradeAsHarness(
    session,
    {
      ...read,
      golden: hindrances.length > 0 ? undefined : golden.golden,
      ran: { ...read, candidate, base, isScript: request.mode === 'reproduction-script' },
    },
    options,
  );

/** Why the gradings differ, where the harness runs other files. */
const gradedApart = (
  { success }: Pick<Verdict, 'success'>,
  { report: { resolved }, apart }: HarnessGrading,
): string | undefined =>
  apart === undefined || success === resolved
    ? undefined
    : `harness grading: ${resolved ? 'resolved' : 'not resolved'}; ${apart}`;

const summariesOf = (plan: TestPlan, { base, fixed }: BothSides): CandidateResult['runs'] => ({
  base: testRun(plan, base),
  fixed: testRun(plan, fixed),
});

function withBroken(
  { golden, goldenBase }: GoldenEvidence,
  base: SetRun | undefined,
): Pick<CandidateResult, 'broken'> {
  const broken = [
    ...brokenRuns(golden, 'golden'),
    ...brokenRuns(goldenBase, 'golden base'),
    ...brokenRuns(base, 'base'),
  ];
  return broken.length === 0 ? {} : { broken };
}

/**
 * Why the harness would give no grade, or a grade that these runs cannot tell; undefined where it
 * gives one.
 */
function whyNoHarnessGrade(
  candidate: BothSides,
  base: SetRun,
  hindrances: readonly Hindrance[],
  contradictions: readonly string[],
): string | undefined {
  // If the records contradict each other, the log of the run cannot be trusted either.
  if (contradictions.length > 0) return "the run's records contradict each other";
  // The harness might be able to run tests of T^R that this machine cannot run.
  const couldRun =
    base.notes.length > 0 ||
    Object.keys(base.faults).length > 0 ||
    (base.records !== undefined && cannotRun(base.records));
  if (couldRun || (base.records !== undefined && isLate(base.records))) {
    return hindrancesInWords(hindrances);
  }
  // In the harness, a run that exceeds its time leaves no log, whatever it printed until then. One
  // that reaches another limit first continues there until its time is up.
  const late = sides.find((side) => ranToTimeLimit(candidate[side]));
  return late && `on ${sideName[late]}, the candidate's run was ${endingOf(candidate[late])}`;
}

const isLate = ({ base, fixed }: BothSides): boolean =>
  ranToTimeLimit(base) || ranToTimeLimit(fixed);

const cannotRun = ({ base, fixed }: BothSides): boolean =>
  whyNotRunnable(base) !== undefined || whyNotRunnable(fixed) !== undefined;

function noteOn(hindrances: readonly Hindrance[], told = ''): string[] {
  return hindrances.length === 0
    ? []
    : [`ΔC and harness coverage are unknown: ${hindrancesInWords(hindrances, told)}`];
}

/**
 * Notes on faults of the environment in a candidate's run. The candidate itself may import a module
 * that does not exist, so its verdict stands, with this reason.
 */
function noteOnFaults({ faults }: SetRun): string[] {
  return sides.flatMap((side) => {
    const fault = faults[side];
    return fault === undefined
      ? []
      : [`on ${sideName[side]}, no test can run in this environment (${fault.says.slice(0, 300)})`];
  });
}

const header = (session: InstanceSession, request: CandidateRequest) => ({
  instance: session.instance.id,
  model: request.model,
  source: session.trees.source,
});

/**
 * The result of a candidate that did not run. Its lines still have states: they show what T^R
 * leaves uncovered.
 */
function withoutRun(
  session: InstanceSession,
  request: CandidateRequest,
  { verdict, patch, diagnostics }: RefusedCandidate,
  golden: GoldenEvidence,
): CandidateResult {
  const nothing = { own: new Set<string>(), removed: new Set<string>() };
  const exists = verdict.reason !== 'no candidate';
  return {
    ...header(session, request),
    diagnostics,
    notes: [...notesOfTrees(session), ...noteOn(golden.hindrances), ...golden.notes],
    findings: [],
    patch,
    ownTests: [],
    tests: [],
    strict: verdict,
    harness: verdict.wellFormed ? harnessUngraded : harnessUnapplied(exists),
    difference: undefined,
    changeCoverage:
      golden.hindrances.length > 0
        ? undefined
        : coverageOf(session, undefined, undefined, golden, nothing),
    goldenCoverage: golden.coverage,
    runs: {},
    ...withBroken(golden, undefined),
  };
}

/**
 * The result of a candidate in which strict grading sees no test, with the harness's grade, which
 * may run other files of it.
 */
async function withHarness(
  session: InstanceSession,
  { verdict: { reason }, patch }: RefusedCandidate,
  { golden, result }: { readonly golden: GoldenEvidence; readonly result: CandidateResult },
  options: EvidenceOptions,
): Promise<CandidateResult> {
  if (reason !== 'no test found') return result;
  const known = golden.hindrances.length > 0 ? undefined : golden.golden;
  const graded = await gradeAsHarness(session, { patch, golden: known }, options);
  const { report: harness, hindrance } = graded;
  const notes = [...result.notes, ...notesOnGrade([], hindrance, undefined)];
  return { ...result, notes, harness, difference: gradedApart(result.strict, graded) };
}

/** What a reader should know of R and R∘X* themselves. */
function notesOfTrees(session: InstanceSession): readonly string[] {
  const remark = remarkOn(session.trees);
  return remark === undefined ? [] : [remark];
}
