import type { ChangeCoverage } from '../domain/changeCoverage';
import { gradeHarness, harnessUnapplied, type HarnessReport } from '../domain/harness';
import { functionOf } from '../domain/outcome';
import type { TestTransition } from '../domain/transition';
import { gradeStrict, ungraded, type Verdict } from '../domain/verdict';
import type { TestPlan } from '../engine/testCommand';
import type { Diagnostic } from '../patch/diagnostic';
import type { TreeSource } from '../repository/source';
import { remarkOn } from '../repository/trees';
import { isComplete, runAffected, type AffectedRun, type CompleteRun } from './affected';
import { brokenRuns, type BrokenRun } from './brokenRuns';
import { explainDifference } from './difference';
import {
  coverageOf,
  goldenEvidence,
  harnessBase,
  harnessRuns,
  hindrancesOf,
  remarksOf,
  runBase,
  runSet,
  strictEvidence,
  type EvidenceOptions,
  type GoldenEvidence,
  type SetRun,
} from './evidence';
import { runFirst, type FirstOptions } from './firstResult';
import { readCandidate, type CandidateRequest, type RefusedCandidate } from './reading';
import { whyNotRunnable } from './results';
import { summariseRun, type RunSummary } from './runSummary';
import type { BothSides, InstanceSession } from './session';

export type { RunSummary } from './runSummary';

/** One candidate on one instance, graded both ways. */
export interface CandidateResult {
  readonly instance: string;
  readonly model: string;
  readonly source: TreeSource;
  /** What was said while the candidate was turned into a unified diff. */
  readonly diagnostics: readonly Diagnostic[];
  /** What a reader of the verdict should know besides. */
  readonly notes: readonly string[];
  /** The candidate as a unified diff on R; empty when there is none. */
  readonly patch: string;
  /** Ids of the functions that the candidate adds or changes, without parameters. */
  readonly ownTests: readonly string[];
  /** Tests of the touched files, those of the candidate first. */
  readonly tests: readonly TestTransition[];
  readonly strict: Verdict;
  readonly harness: HarnessReport;
  /** Why the two gradings differ; undefined when they agree. */
  readonly difference: string | undefined;
  /** Undefined when the golden or base tests could not be run to their end; `notes` say why. */
  readonly changeCoverage: ChangeCoverage | undefined;
  /** ΔC of T* itself, for comparison. */
  readonly goldenCoverage: ChangeCoverage | undefined;
  readonly runs: { readonly base?: RunSummary; readonly fixed?: RunSummary };
  /** Golden and base runs without which not all is known, where there are some; their output says why. */
  readonly broken?: readonly BrokenRun[];
  /**
   * Set when only the tests ran that an edit can have an effect on, and the rest is that of an earlier
   * run. There is no harness grading then, since that reads one log of all tests.
   */
  readonly affected?: AffectedRun;
}

/** What an evaluation may be asked for besides its grade. */
export interface CandidateOptions extends EvidenceOptions {
  /**
   * Called once, before the grade, with what the tests did that the candidate adds or changes, which
   * then run first. Not called for a candidate without such tests.
   */
  readonly onFirst?: FirstOptions['onFirst'] | undefined;
  /**
   * An earlier complete run in the same session. Where only the code of tests was edited since, only the
   * edited tests run.
   */
  readonly since?: CompleteRun | undefined;
}

export interface Evaluation {
  readonly result: CandidateResult;
  /** What the next evaluation may start from; undefined when its tests did not come to their end. */
  readonly complete: CompleteRun | undefined;
}

/** Grades a candidate: converts it, applies it, runs it beside base and golden on both sides. */
export async function evaluateCandidate(
  session: InstanceSession,
  request: CandidateRequest,
  options: CandidateOptions,
): Promise<CandidateResult> {
  return (await evaluateSince(session, request, options)).result;
}

/** As `evaluateCandidate`, with what a later evaluation of the candidate, edited, can start from. */
export async function evaluateSince(
  session: InstanceSession,
  request: CandidateRequest,
  options: CandidateOptions,
): Promise<Evaluation> {
  const { reporter } = options;
  const without = (result: CandidateResult): Evaluation => ({ result, complete: undefined });
  reporter.progress(`${request.model}: reading the patch`);
  const read = await readCandidate(session, request, options.signal);
  const { onFirst, since } = options;
  const few =
    'verdict' in read || since === undefined || request.mode !== 'unit-test'
      ? undefined
      : await runAffected(session, read, since, options);
  const first =
    'verdict' in read || onFirst === undefined || few !== undefined
      ? undefined
      : await runFirst(session, request, read, { ...options, onFirst });
  const golden = await goldenEvidence(session, options);
  if ('verdict' in read) return without(withoutRun(session, request, read, golden));

  reporter.progress(`${request.model}: base tests`);
  const script = request.mode === 'reproduction-script';
  const base = await runBase(session, read.own, options);
  reporter.progress(`${request.model}: candidate tests`);
  const candidate =
    few?.run ??
    first ??
    (await runSet(session, { patch: read.patch, files: read.files, script }, options));
  const ofBase = hindrancesOf(base, 'base');
  const hindrances = [...new Set([...golden.hindrances, ...ofBase])];
  const notes = [
    ...notesOfTrees(session),
    ...read.notes,
    ...candidate.notes,
    ...remarksOf(candidate),
    ...noteOn(hindrances),
  ];
  const { records } = candidate;
  const unrunnable =
    records === undefined
      ? candidate.notes.join('; ')
      : (whyNotRunnable(records.base) ?? whyNotRunnable(records.fixed));
  if (records === undefined || unrunnable !== undefined) {
    const verdict = ungraded('could not run', unrunnable ?? '', true);
    const refused = withoutRun(session, request, { ...read, verdict }, golden);
    return without({
      ...refused,
      ownTests: read.own.functions,
      notes,
      ...withBroken(golden, base),
      ...(records === undefined ? {} : { runs: summariesOf(candidate.plan, records) }),
      ...(hindrances.length > 0 ? { changeCoverage: undefined } : {}),
    });
  }

  const evidence = strictEvidence(candidate, base, read.own);
  const { tests, ownFunctions: own } = evidence;
  const strict = gradeStrict(evidence);
  const hindered = whyNoHarnessGrade(records, base, ofBase);
  if (hindered !== undefined) notes.push(`harness grading is not available: ${hindered}`);
  if (few !== undefined) {
    notes.push(
      `${few.affected.ran} of ${few.affected.ran + few.affected.kept} tests ran, the rest as before; ` +
        'harness grading is of a run of all',
    );
  }
  const partly = hindered !== undefined || few !== undefined;
  const harness = partly
    ? harnessUngraded
    : gradeHarness({
        removed: session.changed.removed,
        added: session.changed.added,
        candidate: harnessRuns(session, candidate),
        golden:
          golden.golden === undefined || hindrances.length > 0
            ? undefined
            : harnessRuns(session, golden.golden),
        base: await harnessBase(session, read.files, { base, own: read.own }, options),
      });
  const isOwn = (each: TestTransition): boolean => own.has(functionOf(each.test));
  const result: CandidateResult = {
    ...header(session, request),
    diagnostics: read.diagnostics,
    notes,
    patch: read.patch,
    ownTests: [...own],
    tests: [...tests.filter(isOwn), ...tests.filter((each) => !isOwn(each))],
    strict,
    harness,
    difference: partly ? undefined : explainDifference(strict, harness, tests),
    changeCoverage:
      hindrances.length > 0
        ? undefined
        : coverageOf(session, candidate, base, golden, {
            own,
            removed: new Set(read.own.removed),
          }),
    goldenCoverage: golden.coverage,
    runs: summariesOf(candidate.plan, records),
    ...withBroken(golden, base),
    ...(few === undefined ? {} : { affected: few.affected }),
  };
  const complete = { patch: read.patch, files: read.files, run: candidate };
  return { result, complete: isComplete(candidate) ? complete : undefined };
}

const summariesOf = (plan: TestPlan, { base, fixed }: BothSides): CandidateResult['runs'] => ({
  base: summariseRun(plan, base),
  fixed: summariseRun(plan, fixed),
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
 * Why the harness would have no grade, or another one than can be told from these runs; undefined where
 * there is one.
 */
function whyNoHarnessGrade(
  candidate: BothSides,
  base: SetRun,
  hindrances: readonly string[],
): string | undefined {
  // What this machine cannot run of T^R, the harness could.
  const couldRun = base.notes.length > 0 || (base.records !== undefined && cannotRun(base.records));
  if (couldRun || (base.records !== undefined && isLate(base.records))) {
    return hindrances.join('; ');
  }
  // Whatever was printed until then: there, a run that exceeds its time leaves no log.
  return isLate(candidate) ? 'the candidate exceeded the time limit' : undefined;
}

const isLate = ({ base, fixed }: BothSides): boolean =>
  base.ending === 'timed out' || fixed.ending === 'timed out';

const cannotRun = ({ base, fixed }: BothSides): boolean =>
  whyNotRunnable(base) !== undefined || whyNotRunnable(fixed) !== undefined;

/** In the layout of the harness there is no word for a grade that is not available. */
const harnessUngraded: HarnessReport = {
  ...harnessUnapplied(true),
  patch_successfully_applied: true,
};

function noteOn(hindrances: readonly string[]): string[] {
  return hindrances.length === 0
    ? []
    : [`ΔC, and the coverage of harness grading, are not known: ${hindrances.join('; ')}`];
}

const header = (session: InstanceSession, request: CandidateRequest) => ({
  instance: session.instance.id,
  model: request.model,
  source: session.trees.source,
});

/**
 * The result of a candidate that did not run. Its lines have states all the same: what T^R leaves to
 * cover.
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
    notes: [...notesOfTrees(session), ...noteOn(golden.hindrances)],
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

/** What a reader should know of R and R∘X* themselves. */
function notesOfTrees(session: InstanceSession): readonly string[] {
  const remark = remarkOn(session.trees);
  return remark === undefined ? [] : [remark];
}
