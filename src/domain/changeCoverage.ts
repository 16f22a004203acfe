import { functionOf, isScope } from './testId';

/** State of one changed line under a candidate. Every changed line has exactly one. */
export const lineStates = ['newly covered', 'already covered', 'missed', 'not executable'] as const;
export type LineState = (typeof lineStates)[number];

/** How often one line ran in one run, and which tests ran it. */
export interface Executions {
  /** During import, collection, or anything else that belongs to no test, class or file of tests. */
  readonly shared: number;
  /**
   * Keys are test ids, or ids of classes and files whose set-up or tear-down ran it (see
   * `isScope`).
   */
  readonly byTest: ReadonlyMap<string, number>;
}

/** File to 1-based line to executions, of one run on one side. Lines that never ran are absent. */
export type LineCounts = ReadonlyMap<string, ReadonlyMap<number, Executions>>;

/** A line that the golden patch removes (numbered in R) or adds (numbered in R∘X*). */
export interface ChangedLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** What ran on one side: removed lines are looked up on R, added lines on R∘X*. */
export interface SideEvidence {
  /** R+T, or R∘X*+T: the touched files with the candidate. */
  readonly candidate: LineCounts;
  /** The same files without the candidate. */
  readonly base: LineCounts;
  /** The files of the golden tests without the golden tests, for what else T^R covers. */
  readonly goldenBase: LineCounts;
  /** The files of the golden tests with them. */
  readonly golden: LineCounts;
}

/** What the golden patch does to a line. */
export const changeKinds = ['removed', 'added'] as const;
export type ChangeKind = (typeof changeKinds)[number];

export interface CoveredLine extends ChangedLine {
  readonly change: ChangeKind;
  readonly state: LineState;
  /** Executions of the line in each run, by any test and by import and collection. */
  readonly counts: { readonly base: number; readonly candidate: number; readonly golden: number };
  /**
   * Tests that the candidate adds or changes and that ran the line. Also the classes and files of
   * such tests whose set-up or tear-down ran it.
   */
  readonly coveredBy: readonly string[];
  /** How often each entry of `coveredBy` ran the line. */
  readonly executions: Readonly<Record<string, number>>;
  /** Whether the line would be newly covered if the candidate removed or disabled no test of R. */
  readonly lost?: true;
}

export interface ChangeCoverage {
  readonly lines: readonly CoveredLine[];
  readonly covered: number;
  readonly executable: number;
  /** covered / executable, in [0, 1]; undefined when nothing is executable. */
  readonly delta: number | undefined;
}

/**
 * Change coverage ΔC of a candidate (paper, section 3.3), with counts attributed to tests.
 *
 * A removed line is executable when T^R or T* ran it on R, an added line when they ran it on R∘X*.
 * A line is newly covered in either of these cases:
 *
 * - The tests that the candidate adds or changes ran it more often than the tests that they replace.
 * - Import and collection ran it more often than in any base run.
 *
 * The set-up of a class or file counts with these tests if it contains one of them, with and without
 * the candidate. Whole runs are not compared, since counts of two runs differ by chance.
 *
 * @param input.ownFunctions ids without parameters of the tests that the candidate adds or changes
 * @param input.removedFunctions ids without parameters of the tests that it removes. A renamed test
 *   is one removed and one added. It covers only lines that it runs more often than under its old
 *   name.
 * @param input.lostTests ids of tests of R that the candidate removes or disables, with or without
 *   parameters
 */
export function changeCoverage(input: {
  readonly removed: readonly ChangedLine[];
  readonly added: readonly ChangedLine[];
  readonly base: SideEvidence;
  readonly fixed: SideEvidence;
  readonly ownFunctions: ReadonlySet<string>;
  readonly removedFunctions?: ReadonlySet<string>;
  readonly lostTests?: ReadonlySet<string>;
}): ChangeCoverage {
  const { ownFunctions, removedFunctions = new Set<string>(), lostTests = new Set() } = input;
  const touched = [...ownFunctions, ...removedFunctions];
  // If a class loses a test and keeps its set-up, that set-up counts as neither new nor removed.
  const isTouched = (scope: string): boolean => touched.some((name) => name.startsWith(scope));
  const tests: Tests = {
    own: (id) => (isScope(id) ? isTouched(id) : ownFunctions.has(functionOf(id))),
    replaced: (id) =>
      isScope(id)
        ? isTouched(id)
        : ownFunctions.has(functionOf(id)) || removedFunctions.has(functionOf(id)),
    lost: (id) => lostTests.has(id) || lostTests.has(functionOf(id)),
  };
  const lines = [
    ...input.removed.map((line) => coverLine(line, 'removed', input.base, tests)),
    ...input.added.map((line) => coverLine(line, 'added', input.fixed, tests)),
  ];
  return changeCoverageOf(lines);
}

/**
 * Computes ΔC from the states of lines. The lines may be a part of the change, such as one file.
 */
export function changeCoverageOf(lines: readonly CoveredLine[]): ChangeCoverage {
  const covered = lines.filter((line) => line.state === 'newly covered').length;
  const executable = lines.filter((line) => line.state !== 'not executable').length;
  return { lines, covered, executable, delta: executable === 0 ? undefined : covered / executable };
}

interface Tests {
  /** The test is one that the candidate adds or changes. */
  readonly own: (id: string) => boolean;
  /** The test of T^R is one that the candidate changes or removes. */
  readonly replaced: (id: string) => boolean;
  /** The test of T^R is one that the candidate takes away. */
  readonly lost: (id: string) => boolean;
}

function coverLine(
  line: ChangedLine,
  change: ChangeKind,
  evidence: SideEvidence,
  { own, replaced, lost }: Tests,
): CoveredLine {
  const at = (counts: LineCounts): Executions =>
    counts.get(line.path)?.get(line.line) ?? { shared: 0, byTest: new Map() };
  const candidate = at(evidence.candidate);
  const base = at(evidence.base);
  const goldenBase = at(evidence.goldenBase);
  const golden = at(evidence.golden);

  const ranBefore = total(base) + total(goldenBase);
  const executable = ranBefore + total(golden) > 0;
  const byOwn = total({ shared: 0, byTest: only(candidate.byTest, own) });
  const byReplaced = total({ shared: 0, byTest: only(base.byTest, replaced) });
  const more = byOwn > byReplaced || candidate.shared > Math.max(base.shared, goldenBase.shared);
  const byLost = total({ shared: 0, byTest: only(base.byTest, (id) => replaced(id) && lost(id)) });
  const hits = [...only(candidate.byTest, own)]
    .filter(([, n]) => n > 0)
    .map(([id, n]) => [isScope(id) ? id.slice(0, -2) : id, n] as const);

  return {
    ...line,
    change,
    state: !executable
      ? 'not executable'
      : more
        ? 'newly covered'
        : ranBefore > 0
          ? 'already covered'
          : 'missed',
    counts: {
      base: Math.max(total(base), total(goldenBase)),
      candidate: total(candidate),
      golden: total(golden),
    },
    coveredBy: hits.map(([id]) => id),
    executions: Object.fromEntries(hits),
    ...(executable && !more && byOwn > byReplaced - byLost && { lost: true as const }),
  };
}

function only(
  byTest: ReadonlyMap<string, number>,
  keep: (test: string) => boolean,
): Map<string, number> {
  return new Map([...byTest].filter(([test]) => keep(test)));
}

/** Executions of a line in a run, by tests and by import and collection together. */
export function total(executions: Executions): number {
  let sum = executions.shared;
  for (const count of executions.byTest.values()) sum += count;
  return sum;
}
