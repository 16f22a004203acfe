import type { ChangeCoverage } from '../domain/changeCoverage';
import { type Finding, findingSentences } from '../domain/finding';
import type { HarnessReport } from '../domain/harness';
import type { Side, TestTransition } from '../domain/outcome';
import type { Verdict } from '../domain/verdict';
import type { Diagnostic } from '../patch/diagnostic';
import type { TreeSource } from '../repository/source';
import type { AffectedRun } from './runs/affected';
import type { BrokenRun, TestRun } from './testRun';

/** One candidate on one instance, with both gradings. */
export interface CandidateResult {
  readonly instance: string;
  readonly model: string;
  readonly source: TreeSource;
  /** What the conversion of the candidate to a unified diff reported. */
  readonly diagnostics: readonly Diagnostic[];
  /** What else a reader of the verdict should know. */
  readonly notes: readonly string[];
  /** Suspicions about how the candidate reached its verdict. */
  readonly findings: readonly Finding[];
  /** The candidate as a unified diff on R; empty when there is none. */
  readonly patch: string;
  /** Ids of the functions that the candidate adds or changes, without parameters. */
  readonly ownTests: readonly string[];
  /** Tests of the touched files, those of the candidate first. */
  readonly tests: readonly TestTransition[];
  readonly strict: Verdict;
  readonly harness: HarnessReport;
  /** Why the two gradings differ on success; undefined when they agree. */
  readonly difference: string | undefined;
  /**
   * Undefined when the golden or base tests did not run to their end, or when the records of the
   * candidate's runs contradict each other; `notes` say why.
   */
  readonly changeCoverage: ChangeCoverage | undefined;
  /** ΔC of T* itself, for comparison. */
  readonly goldenCoverage: ChangeCoverage | undefined;
  /** Runs of the candidate. */
  readonly runs: Readonly<Partial<Record<Side, TestRun>>>;
  /** Golden and base runs that failed and so leave gaps in the result; their output says why. */
  readonly broken?: readonly BrokenRun[];
  /**
   * Set when only the tests ran that an edit can affect, and the rest comes from an earlier run.
   * The harness grading is then missing, since it reads one log of all tests.
   */
  readonly affected?: AffectedRun;
}

/**
 * Whether a result may be called a reference reproduction: a success under strict grading, in a run of
 * all tests of the touched files.
 */
export function isReproduction({ strict, affected }: CandidateResult): boolean {
  return strict.success && affected === undefined;
}

/** How the reference harness grades; `not available` where not all of its runs could be done. */
type HarnessGrade = 'resolved' | 'not resolved' | 'not available';

/**
 * The harness grade of a result. A run of only some tests has none, since the harness reads one log
 * of all tests.
 */
export function harnessGrade({ harness, affected }: CandidateResult): HarnessGrade {
  if (affected !== undefined) return 'not available';
  const applied = harness.patch_successfully_applied;
  if (applied && harness.tests_pred === undefined) return 'not available';
  return harness.resolved ? 'resolved' : 'not resolved';
}

/**
 * The findings of a result for the user: the meaning of each kind, and its evidence. They name no
 * file that the golden patch changes unless the candidate's own code does, so they may be shown
 * while that patch is hidden.
 */
export function findingsToShow({ findings }: Pick<CandidateResult, 'findings'>): readonly {
  readonly says: string;
  readonly evidence: readonly string[];
}[] {
  return findings.map(({ kind, evidence }) => ({ says: findingSentences[kind], evidence }));
}

/**
 * The notes of a result that may be shown. While the golden patch is hidden, notes that name a file
 * of it are left out.
 */
export function notesToShow(
  { notes, changeCoverage, goldenCoverage }: CandidateResult,
  revealed: boolean,
): readonly string[] {
  if (revealed) return notes;
  const lines = [...(changeCoverage?.lines ?? []), ...(goldenCoverage?.lines ?? [])];
  const paths = [...new Set(lines.map(({ path }) => path))];
  return notes.filter((note) => !paths.some((path) => note.includes(path)));
}
