import { HumanError, retryingMemoOf } from '../../domain/work';
import type { Prediction } from '../../domain/instance';
import { isLimit } from '../../domain/verdict';
import {
  correctLocation,
  type CorrectLocation,
  infraFailure,
  resolutionDifference,
  type JudgedRepair,
  strictResolution,
  type Disqualified,
  type StrictReason,
  type StrictResolution,
  evalTypes,
  resolutionStatus,
  type SweBenchReport,
  type TestGroup,
  type TestsStatus,
  gradeSweBench,
  sweBenchMarks,
} from '../../study/resolution';
import type { RunRecord } from '../../engine/engine';
import { parseCodePatch, stackPatches } from '../../evaluation/prepareCandidate';
import { contradictionsOf, whyNotToTheEnd } from '../../evaluation/testRun';
import {
  endingOf,
  ranToTimeLimit,
  transitionsBetween,
  namesOfOtherRuns,
} from '../../evaluation/results';
import type { InstanceSession, SessionRun } from '../../evaluation/session';
import { splitTestEdits } from '../../patch/testFiles';
import { applyPatch } from '../../patch/applyPatch';
import { formatFilePatch } from '../../patch/makeUnified';
import type { FilePatch, ParsedPatch } from '../../patch/parsedPatch';
import { GitError } from '../../repository/git';
import { plainApply } from '../../repository/trees';
import { appliedBySweBench } from './appliedBySweBench';
import { editedPlaces } from './editedPlaces';
import { sweBenchLogOf, sweBenchParsing, type GoldenRuns } from './goldenRuns';
import type { JudgeSettings } from '../judgeRequest';

/** What is found out about one code patch, with the texts that SWE-bench writes about it. */
export interface RepairJudgement extends Omit<
  JudgedRepair,
  'instance' | 'model' | 'sample' | 'cost' | 'ranked' | 'stages' | 'madeBy' | 'oracle' | 'seconds'
> {
  /** Absent where SWE-bench writes none: nothing was graded. */
  readonly report?: SweBenchReport;
  /** Its `test_output.txt`; absent where no tests ran. */
  readonly output?: string;
}

/** The judgement of a prediction without text, for which nothing runs. */
export const emptyRepair: RepairJudgement = {
  status: 'empty patch',
  strict: { resolved: false, reason: 'empty patch', explanation: 'the prediction is empty' },
};

/**
 * Judges a code patch by the golden tests on R with it. As in SWE-bench, its edits of files that T*
 * touches are undone before; strictly all of its edits of tests are left out. Runs are kept.
 *
 * @throws Cancelled; what the engine throws
 */
export async function judgeRepair(
  session: InstanceSession,
  repair: Prediction,
  golden: GoldenRuns,
  settings: JudgeSettings,
): Promise<RepairJudgement> {
  const { id } = session.instance;
  settings.reporter.progress(`${id}: golden tests on R with the patch of ${repair.model}`);
  const read = await parseCodePatch(session, repair.patch, settings);
  // SWE-bench takes diffs alone. One that was converted from another format counts as such.
  const isDiff = 'failure' in read || read.format === 'unified';
  const applied = isDiff
    ? await appliedBySweBench(session, repair.patch, settings.signal)
    : { patch: read, with: plainApply };
  const runs = new PatchedRuns(session, golden.set, settings);
  const theirs = await gradeApplied(session, applied, { golden, runs }, settings);
  if (theirs.hindrance !== undefined) return theirs;
  const strict =
    'failure' in read
      ? strictly('does not apply', read.failure)
      : await judgeStrictly(read, golden, runs);
  const graded = {
    ...theirs,
    ...(applied === undefined && 'failure' in read ? notApplied(read.failure) : {}),
    strict,
  };
  const patch = 'failure' in read ? applied?.patch : read;
  const difference = resolutionDifference(graded);
  return {
    ...graded,
    ...(patch === undefined ? {} : { location: await locationOf(session, patch, golden) }),
    ...(difference === undefined ? {} : { difference }),
  };
}

/** The judgement by SWE-bench's rules of a patch as SWE-bench applies it, if it does. */
async function gradeApplied(
  session: InstanceSession,
  applied: Awaited<ReturnType<typeof appliedBySweBench>>,
  { golden, runs }: { readonly golden: GoldenRuns; readonly runs: PatchedRuns },
  settings: JudgeSettings,
): Promise<RepairJudgement> {
  if (applied === undefined)
    return notApplied('git apply and patch --fuzz=5 reject the patch as written');
  const isKept = ({ oldPath, newPath }: FilePatch): boolean =>
    ![oldPath, newPath].some((path) => path !== null && golden.paths.has(path));
  const run = await runs.with(applied.patch.files.filter(isKept));
  if ('failure' in run) return notApplied(run.failure);
  const graded = gradeRun(session, run, golden, settings);
  return applied.with === plainApply ? graded : { ...graded, appliedWith: applied.with };
}

const strictly = (reason: StrictReason, explanation: string): StrictResolution => ({
  resolved: false,
  reason,
  explanation,
});

const notApplied = (why: string): RepairJudgement => ({
  status: 'error',
  failure: `${sweBenchMarks.patchFailed}: ${why}`,
});

async function locationOf(
  session: InstanceSession,
  parsed: ParsedPatch,
  golden: GoldenRuns,
): Promise<CorrectLocation> {
  const read = (path: string): Promise<string | undefined> => session.readFileOfR(path);
  const applied = await applyPatch(parsed, read);
  const placed = applied.ok ? applied.placed : parsed;
  return correctLocation(await editedPlaces(placed, read, session.python), golden.places);
}

/** A run of the golden tests on R with a code patch. */
interface PatchedRun {
  readonly record: RunRecord;
  readonly plan: SessionRun['plan'];
}

/**
 * The runs of the golden tests on R with one code patch. A run that breaks off is not kept in the
 * store, so runs of the same text are shared here.
 */
class PatchedRuns {
  private readonly known = new Map<string, Promise<PatchedRun | { readonly failure: string }>>();

  constructor(
    private readonly session: InstanceSession,
    private readonly tests: GoldenRuns['set'],
    private readonly settings: JudgeSettings,
  ) {}

  /** A run with some parts of the patch, or why the golden tests cannot be put on top of them. */
  async with(parts: readonly FilePatch[]): Promise<PatchedRun | { readonly failure: string }> {
    const { patch: goldenTests } = this.tests;
    const code = parts.map(formatFilePatch).join('');
    const { signal } = this.settings;
    const patch =
      code === '' ? goldenTests : await stackPatches(this.session, code, goldenTests, { signal });
    if (typeof patch !== 'string') return { failure: `with the golden tests: ${patch.failure}` };
    return retryingMemoOf(this.known, patch, () => this.run(patch));
  }

  /** @throws HumanError where no golden test can be run here */
  private async run(patch: string): Promise<PatchedRun | { readonly failure: string }> {
    const { instance } = this.session;
    const { files } = this.tests;
    const { timeoutSeconds, signal, reporter } = this.settings;
    try {
      const options = { timeoutSeconds, signal, reporter, reuse: true, sides: ['base'] as const };
      const { records, plan } = await this.session.run({ patch, files }, options);
      if (records.base !== undefined) return { record: records.base, plan };
      const [notRun] = plan.notRun;
      const why = notRun?.reason ?? 'T* changes no Python test file';
      throw new HumanError(
        `The golden tests of ${instance.id} cannot run here (${why})`,
        'Use an environment with everything that they need',
      );
    } catch (error) {
      if (error instanceof GitError) return { failure: error.message };
      throw error;
    }
  }
}

/** The judgement by SWE-bench's rules. */
function gradeRun(
  session: InstanceSession,
  { record, plan }: PatchedRun,
  { expected, outcomes }: GoldenRuns,
  { timeoutSeconds }: JudgeSettings,
): RepairJudgement {
  const hindrance = 'environment failed';
  if (record.ending === 'not started') {
    return { status: 'error', failure: endingOf(record), hindrance };
  }
  if (typeof expected === 'string') return { status: 'error', failure: expected, hindrance };
  if (ranToTimeLimit(record)) {
    // SWE-bench grades no log of such a run.
    const output = `${record.log}\n\nTimeout error: ${timeoutSeconds} seconds exceeded.`;
    const failure =
      record.ending === 'timed out'
        ? `Test timed out after ${timeoutSeconds} seconds.`
        : `The tests were ${endingOf(record)}.`;
    return { status: 'error', failure, output, ...infraOf(output) };
  }
  const output = sweBenchLogOf(record);
  const { tests, origin: lists } = expected;
  // SWE-bench compares the names of a published list as they are.
  const names =
    lists === 'dataset' || typeof outcomes === 'string'
      ? undefined
      : namesOfOtherRuns([outcomes.records.fixed], [record]);
  const { parse, note } = sweBenchParsing(session, record, plan.runner, names);
  const named = session.instance.environment?.evalType;
  const evalType = evalTypes.find((each) => each === named) ?? 'pass_and_fail';
  const report = gradeSweBench(output, { parse, expected: tests, evalType });
  const notes = [
    ...(note === undefined ? [] : [note]),
    ...plan.notRun.map(({ path, reason }) => `${path} could not run here: ${reason}`),
    ...(tests.FAIL_TO_PASS.length === 0
      ? ['no test is expected to go from failing to passing']
      : []),
  ];
  return {
    status: report.resolved ? 'resolved' : 'unresolved',
    report,
    output,
    lists,
    ...(report.tests_status === undefined ? {} : countsOf(report.tests_status)),
    ...(report.resolved ? {} : infraOf(output)),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

function infraOf(output: string): Pick<JudgedRepair, 'infra'> {
  const infra = infraFailure(output);
  return infra === undefined ? {} : { infra };
}

function countsOf(status: TestsStatus): Pick<JudgedRepair, 'resolution' | 'tests'> {
  const count = ({ success, failure }: TestGroup) => ({
    success: success.length,
    failure: failure.length,
  });
  return {
    resolution: resolutionStatus(status),
    tests: { FAIL_TO_PASS: count(status.FAIL_TO_PASS), PASS_TO_PASS: count(status.PASS_TO_PASS) },
  };
}

/** The judgement by the recorded outcomes. */
async function judgeStrictly(
  patch: ParsedPatch,
  { outcomes, functions }: GoldenRuns,
  runs: PatchedRuns,
): Promise<StrictResolution> {
  const { others } = splitTestEdits(patch);
  if (others.length === 0) return strictly('edits only tests', 'the patch changes only tests');
  const run = await runs.with(others);
  if ('failure' in run) return strictly('does not apply', run.failure);
  const disqualified = whyDisqualified(run);
  if (disqualified !== undefined) return { resolved: false, ...disqualified };
  if (typeof outcomes === 'string') {
    return { resolved: null, reason: 'golden tests unknown', explanation: outcomes };
  }
  const pairs = transitionsBetween(outcomes.records.fixed, run.record, functions);
  return strictResolution({
    base: outcomes.onBase,
    fixed: pairs.map((pair) => pair.base),
    patched: pairs.map((pair) => pair.fixed),
  });
}

function whyDisqualified({ record, plan }: PatchedRun): Disqualified | undefined {
  if (isLimit(record.ending)) return { reason: record.ending, explanation: endingOf(record) };
  const [contradiction] = contradictionsOf(record, plan.runner);
  if (contradiction !== undefined) return { reason: 'unsound', explanation: contradiction };
  const why = whyNotToTheEnd(record);
  return why === undefined ? undefined : { reason: 'could not run', explanation: why };
}
