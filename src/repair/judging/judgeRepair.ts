import type { Prediction } from '../../domain/instance';
import { isLimit } from '../../domain/reason';
import {
  correctLocation,
  type CorrectLocation,
} from '../../domain/study/resolution/correctLocation';
import { infraFailure } from '../../domain/study/resolution/infraFailure';
import {
  resolutionDifference,
  type JudgedRepair,
} from '../../domain/study/resolution/judgedRepair';
import {
  strictResolution,
  type Disqualified,
  type StrictReason,
  type StrictResolution,
} from '../../domain/study/resolution/strictResolution';
import {
  evalTypes,
  resolutionStatus,
  type SweBenchReport,
  type TestGroup,
  type TestsStatus,
} from '../../domain/study/resolution/sweBenchGrade';
import { gradeSweBench, sweBenchMarks } from '../../domain/study/resolution/sweBenchLog';
import type { RunRecord } from '../../engine/engine';
import { parseCodePatch, stackPatches } from '../../evaluation/codePatch';
import { contradictionsOf } from '../../evaluation/findings/recordsThatDoNotFit';
import { endingOf, transitionsBetween } from '../../evaluation/results';
import type { InstanceSession, SessionRun } from '../../evaluation/session';
import { whyNotToTheEnd } from '../../evaluation/testRun';
import { splitTestEdits } from '../../patch/testFiles';
import { applyPatch } from '../../patch/unified/applyPatch';
import { formatFilePatch } from '../../patch/unified/makeUnified';
import type { FilePatch, ParsedPatch } from '../../patch/unified/parsedPatch';
import { GitError } from '../../repository/git/git';
import { editedPlaces } from './editedPlaces';
import { sweBenchLogOf, sweBenchParsing, type GoldenRuns } from './goldenRuns';
import type { JudgeSettings } from './judgeRequest';

/** What is found out about one code patch, with the texts that SWE-bench writes about it. */
export interface RepairJudgement extends Omit<
  JudgedRepair,
  'instance' | 'model' | 'sample' | 'cost' | 'madeBy' | 'seconds'
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
  const parsed = await parseCodePatch(session, repair.patch, settings);
  if ('failure' in parsed) return notApplied(parsed.failure);
  const { id } = session.instance;
  settings.reporter.progress(`${id}: golden tests on R with the patch of ${repair.model}`);
  const location = await locationOf(session, parsed, golden);
  const isKept = ({ oldPath, newPath }: FilePatch): boolean =>
    ![oldPath, newPath].some((path) => path !== null && golden.paths.has(path));
  const code = textOf(parsed.files.filter(isKept));
  const run = await runWith(session, code, settings);
  if ('failure' in run) return { ...notApplied(run.failure), location };
  const graded = gradeRun(session, run, golden, settings);
  if (graded.hindrance !== undefined) return { ...graded, location };
  const own = textOf(splitTestEdits(parsed).others);
  const strict = await judgeStrictly(session, { own, code, run }, golden, settings);
  const judged = { ...graded, strict, location };
  const difference = resolutionDifference(judged);
  return { ...judged, ...(difference === undefined ? {} : { difference }) };
}

const textOf = (files: readonly FilePatch[]): string => files.map(formatFilePatch).join('');

const strictly = (reason: StrictReason, explanation: string): StrictResolution => ({
  resolved: false,
  reason,
  explanation,
});

function notApplied(why: string): RepairJudgement {
  return {
    status: 'error',
    failure: `${sweBenchMarks.patchFailed}: ${why}`,
    strict: strictly('does not apply', why),
  };
}

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

/** Runs the golden tests on R with a code patch, or says why they cannot be put on top of it. */
async function runWith(
  session: InstanceSession,
  code: string,
  { timeoutSeconds, signal, reporter }: JudgeSettings,
): Promise<PatchedRun | { readonly failure: string }> {
  const { goldenFiles: files, instance } = session;
  const patch =
    code === ''
      ? instance.goldenTests
      : await stackPatches(session, code, instance.goldenTests, { signal });
  if (typeof patch !== 'string') return { failure: `with the golden tests: ${patch.failure}` };
  try {
    const options = { timeoutSeconds, signal, reporter, reuse: true, sides: ['base'] as const };
    const { records, plan } = await session.run({ patch, files }, options);
    const why = plan.notRun.map(({ path, reason }) => `${path}: ${reason}`).join('; ');
    return records.base === undefined
      ? {
          failure: `the golden tests cannot be run here (${why || 'T* touches no Python test file'})`,
        }
      : { record: records.base, plan };
  } catch (error) {
    if (error instanceof GitError) return { failure: error.message };
    throw error;
  }
}

/** The judgement by SWE-bench's rules. */
function gradeRun(
  session: InstanceSession,
  { record, plan }: PatchedRun,
  { expected }: GoldenRuns,
  { timeoutSeconds }: JudgeSettings,
): RepairJudgement {
  const hindrance = 'environment failed';
  if (record.ending === 'not started') {
    return { status: 'error', failure: endingOf(record), hindrance };
  }
  if (typeof expected === 'string') return { status: 'error', failure: expected, hindrance };
  if (record.ending === 'timed out') {
    // SWE-bench grades no log of such a run.
    const output = `${record.log}\n\nTimeout error: ${timeoutSeconds} seconds exceeded.`;
    const failure = `Test timed out after ${timeoutSeconds} seconds.`;
    return { status: 'error', failure, output, ...infraOf(output) };
  }
  const output = sweBenchLogOf(record);
  const { parse, note } = sweBenchParsing(session, record, plan.runner);
  const named = session.instance.environment?.evalType;
  const evalType = evalTypes.find((each) => each === named) ?? 'pass_and_fail';
  const { tests, origin: lists } = expected;
  const report = gradeSweBench(output, { parse, expected: tests, evalType });
  const notes = [
    ...(note === undefined ? [] : [note]),
    ...plan.notRun.map(({ path, reason }) => `${path} could not be run here: ${reason}`),
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

/**
 * The judgement by the recorded outcomes.
 *
 * @param of.own the patch without any edit of tests; where it is another text than `code`, the
 *   golden tests run once more
 */
async function judgeStrictly(
  session: InstanceSession,
  of: { readonly own: string; readonly code: string; readonly run: PatchedRun },
  { outcomes, functions }: GoldenRuns,
  settings: JudgeSettings,
): Promise<StrictResolution> {
  if (of.own === '') return strictly('edits only tests', 'it edits nothing but tests');
  const run = of.own === of.code ? of.run : await runWith(session, of.own, settings);
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
