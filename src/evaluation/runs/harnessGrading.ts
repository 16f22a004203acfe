import { listed } from '../../domain/text';
import {
  gradeHarness,
  harnessDirectives,
  harnessUnapplied,
  type HarnessReport,
  type HarnessRuns,
} from '../../domain/harness';
import { sideName, sides } from '../../domain/outcome';
import { runnerOf } from '../../engine/runners';
import { hindrancesInWords, endingOf, ranToTimeLimit } from '../results';
import type { OwnTests } from '../prepareCandidate';
import { existingIn, type InstanceSession } from '../session';
import {
  harnessRuns,
  hindrancesOf,
  runBase,
  runSet,
  type EvidenceOptions,
  type SetRun,
} from '../testSetRuns';

/** The report in the harness's layout, which has no word for a grade that is not available. */
export const harnessUngraded: HarnessReport = {
  ...harnessUnapplied(true),
  patch_successfully_applied: true,
};

/** The grade of the harness, and how its runs differ from those of strict grading. */
export interface HarnessGrading {
  readonly report: HarnessReport;
  /** What it does otherwise, for a sentence after the grade. */
  readonly apart?: string;
  /** Why the grade is not known. */
  readonly hindrance?: string;
}

/** A candidate that applies. */
interface Graded {
  readonly patch: string;
  /** Why `git apply` refuses the diff as written. */
  readonly refusedAsWritten?: string;
  /** The golden runs, where they and the base runs show which lines are executable. */
  readonly golden: SetRun | undefined;
  /** Test files that ran for strict grading, with these runs; absent where none did. */
  readonly ran?:
    | undefined
    | {
        readonly files: readonly string[];
        readonly own: Pick<OwnTests, 'filesOfR'>;
        readonly candidate: SetRun;
        readonly base: SetRun;
        readonly isScript: boolean;
      };
}

/**
 * Grades as the reference harness does, which passes to the runner every file of the patch but
 * those with ten endings. Where these are not the test files that ran, they run here too.
 */
export async function gradeAsHarness(
  session: InstanceSession,
  graded: Graded,
  options: EvidenceOptions,
): Promise<HarnessGrading> {
  const { patch, refusedAsWritten, golden, ran } = graded;
  if (refusedAsWritten !== undefined) {
    const apart = `\`git apply\` refuses the patch as written (${refusedAsWritten})`;
    return { report: harnessUnapplied(true), apart };
  }
  const named = harnessDirectives(patch);
  const others = named.filter((path) => ran?.files.includes(path) !== true);
  const notNamed = ran?.files.filter((path) => !named.includes(path)) ?? [];
  const report = (candidate: HarnessRuns, base: HarnessRuns): HarnessReport =>
    gradeHarness({
      ...session.changed,
      candidate,
      golden: golden && harnessRuns(session, golden),
      base,
    });
  const split = named.find((path) => inShell.test(path));
  const needsAll = await needsAllFiles(session, graded, options);
  const isScript = ran?.isScript === true;
  if (needsAll && !isScript && split !== undefined) {
    const apart = `it also passes ${split} to the runner, which then runs no tests`;
    return { report: report(nothingRan, nothingRan), apart };
  }
  const isSame = named.length === 0 || others.length + notNamed.length === 0;
  if (ran !== undefined && (isSame || isScript || !needsAll)) {
    const base = await baseRuns(session, ran.files, { needsAll, ran }, options);
    return { report: report(harnessRuns(session, ran.candidate), base) };
  }
  // Without a file of the patch, the harness runs all tests, for half an hour.
  if (named.length === 0 || !needsAll) return { report: harnessUngraded };
  const { onOutput: _output, onOutcome: _outcome, ...quiet } = options;
  const run = await runSet(session, { patch, files: named }, quiet);
  const hindrance = whyUnknown(run);
  if (hindrance !== undefined) return { report: harnessUngraded, hindrance };
  const candidate = harnessRuns(session, run);
  const base = await baseRuns(session, named, { needsAll, ran }, quiet);
  const isEmpty = sides.every((side) => run.records?.[side].trace.outcomes.length === 0);
  const apart =
    others.length === 0
      ? `it does not run ${few(notNamed)}, because git quotes the file name`
      : isEmpty
        ? `it also passes ${few(others)} to the runner, which then runs no tests`
        : `it also runs ${few(others)} as tests`;
  return { report: report(candidate, base), apart };
}

/**
 * The base runs as the harness does them. It names every file of the candidate, also one that R
 * does not have, and pytest then runs nothing at all.
 */
async function baseRuns(
  session: InstanceSession,
  files: readonly string[],
  { needsAll, ran }: { readonly needsAll: boolean } & Pick<Graded, 'ran'>,
  options: EvidenceOptions,
): Promise<HarnessRuns> {
  const existing = await existingIn(session.trees, files);
  if (files.length > existing.length && needsAll) return nothingRan;
  // The harness does not handle renamed or deleted files.
  const isSame = ran?.own.filesOfR.join('\0') === existing.join('\0');
  const run = isSame
    ? ran.base
    : await runBase(session, { filesOfR: existing, renamed: new Map() }, options);
  return harnessRuns(session, run);
}

const few = (paths: readonly string[]): string => listed(paths, 3);

/** The harness writes names into a shell command as they are. */
const inShell = /[\s"'`$&|;<>()\\]/;

const nothingRan = ((): HarnessRuns => {
  const side = { statuses: new Map<string, string>(), counts: new Map() };
  return { pre: side, post: side };
})();

/** Whether the runner ends without a test where it is given a path that is not a file. */
async function needsAllFiles(
  session: InstanceSession,
  { ran }: Graded,
  options: EvidenceOptions,
): Promise<boolean> {
  const { runner } = ran?.candidate.plan ?? (await session.planOnR([], options)).plan;
  return runnerOf(runner).needsAllFiles === true;
}

function whyUnknown(run: SetRun): string | undefined {
  const { records } = run;
  if (records === undefined) return run.notes.join('; ');
  const late = sides.find((side) => ranToTimeLimit(records[side]));
  if (late !== undefined) {
    return `on ${sideName[late]}, the run of its test files was ${endingOf(records[late])}`;
  }
  return Object.keys(run.faults).length > 0
    ? hindrancesInWords(hindrancesOf(run, 'base'))
    : undefined;
}
