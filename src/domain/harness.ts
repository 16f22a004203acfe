import { z } from 'zod';

/**
 * Grading exactly as the reference harness does it (its `grading.py`), so that figures can be
 * compared with published ones. It keeps the names of the harness' keys. It also keeps two known
 * oddities on purpose:
 *
 * - Only PASSED counts as passing and only FAILED as failing, so error→pass and skipped→pass are
 *   reproductions.
 * - Base counts of removed lines are read on R∘X* instead of R.
 */

/** Test name to status, as the harness' log parsers give it. */
export type StatusMap = ReadonlyMap<string, string>;

/** File to line to count of one run. */
export type CountMap = ReadonlyMap<string, ReadonlyMap<number, number>>;

const ids = z.array(z.string());
const share = z.number().nullable();

/** Tests by transition, under the rules of the reference harness. */
export const transitionLists = z.object({
  FAIL_TO_PASS: ids,
  PASS_TO_PASS: ids,
  FAIL_TO_FAIL: ids,
  PASS_TO_FAIL: ids,
  UNMATCHED: ids,
});
export type TransitionLists = Readonly<z.infer<typeof transitionLists>>;

/** The grade of the reference harness, under its own keys. */
export const harnessReportSchema = z.object({
  patch_is_None: z.boolean(),
  patch_exists: z.boolean(),
  patch_successfully_applied: z.boolean(),
  resolved: z.boolean(),
  coverage_pred: share,
  coverage_gold: share,
  coverage_base: share,
  coverage_delta_pred: share,
  coverage_delta_gold: share,
  added_f2p: z.number().int().nonnegative().exactOptional(),
  tests_base: transitionLists.exactOptional(),
  tests_pred: transitionLists.exactOptional(),
  tests_gold: transitionLists.exactOptional(),
});
export type HarnessReport = Readonly<z.infer<typeof harnessReportSchema>>;

/** A line that the golden patch removes (line of R) or adds (line of R∘X*). */
export interface PatchLine {
  readonly path: string;
  readonly line: number;
}

/** Transitions by the harness' rules. Each side is PASSED, FAILED or anything else. */
export function harnessTransitions(pre: StatusMap, post: StatusMap): TransitionLists {
  const lists: TransitionLists = {
    FAIL_TO_PASS: [],
    PASS_TO_PASS: [],
    FAIL_TO_FAIL: [],
    PASS_TO_FAIL: [],
    UNMATCHED: [],
  };
  const read = (status: string | undefined): 'P' | 'F' | 'none' =>
    status === 'PASSED' ? 'P' : status === 'FAILED' ? 'F' : 'none';
  for (const test of new Set([...pre.keys(), ...post.keys()])) {
    const before = read(pre.get(test));
    const after = read(post.get(test));
    if (after === 'P') (before === 'P' ? lists.PASS_TO_PASS : lists.FAIL_TO_PASS).push(test);
    else if (before === 'P') lists.PASS_TO_FAIL.push(test);
    else if (after === 'F') lists.FAIL_TO_FAIL.push(test);
    else lists.UNMATCHED.push(test);
  }
  return lists;
}

/**
 * `resolved`: the candidate's F→P are a strict superset of the base's, and it adds no P→F and no
 * F→F. `addedFailToPass`: the number of F→P that the base does not have.
 */
export function harnessResolution(
  candidate: TransitionLists,
  base: TransitionLists,
): { resolved: boolean; addedFailToPass: number } {
  const { added, lost, broken, failing } = compareTransitions(candidate, base);
  const clean = broken.length === 0 && failing.length === 0;
  return {
    resolved: lost.length === 0 && added.length > 0 && clean,
    addedFailToPass: added.length,
  };
}

/** How the transitions of a candidate differ from those without it, as the harness names tests. */
interface HarnessFaults {
  /** F→P that only the candidate has. */
  readonly added: readonly string[];
  /** F→P that only the base has. */
  readonly lost: readonly string[];
  /** P→F that only the candidate has. */
  readonly broken: readonly string[];
  /** F→F that only the candidate has. */
  readonly failing: readonly string[];
}

/** What keeps a report from `resolved`; all lists are empty where it has no transitions. */
export function harnessFaults({ tests_pred, tests_base }: HarnessReport): HarnessFaults {
  return tests_pred === undefined || tests_base === undefined
    ? { added: [], lost: [], broken: [], failing: [] }
    : compareTransitions(tests_pred, tests_base);
}

function compareTransitions(candidate: TransitionLists, base: TransitionLists): HarnessFaults {
  const minus = (left: readonly string[], right: readonly string[]): string[] => {
    const known = new Set(right);
    return left.filter((each) => !known.has(each));
  };
  return {
    added: minus(candidate.FAIL_TO_PASS, base.FAIL_TO_PASS),
    lost: minus(base.FAIL_TO_PASS, candidate.FAIL_TO_PASS),
    broken: minus(candidate.PASS_TO_FAIL, base.PASS_TO_FAIL),
    failing: minus(candidate.FAIL_TO_FAIL, base.FAIL_TO_FAIL),
  };
}

/** Statuses and counts of one of the three test sets, on R (`pre`) and on R∘X* (`post`). */
export interface HarnessRuns {
  readonly pre: { readonly statuses: StatusMap; readonly counts: CountMap };
  readonly post: { readonly statuses: StatusMap; readonly counts: CountMap };
}

/**
 * The whole report of one instance, from the six runs.
 *
 * @param input.golden undefined when the golden or base tests did not run to their end. Every
 *   coverage is null then, since the executable lines are unknown. `resolved` does not need the
 *   golden tests.
 */
export function gradeHarness(input: {
  readonly removed: readonly PatchLine[];
  readonly added: readonly PatchLine[];
  readonly candidate: HarnessRuns;
  readonly golden: HarnessRuns | undefined;
  readonly base: HarnessRuns;
}): HarnessReport {
  const { candidate, golden, base } = input;
  const tests_pred = harnessTransitions(candidate.pre.statuses, candidate.post.statuses);
  const tests_base = harnessTransitions(base.pre.statuses, base.post.statuses);
  const { resolved, addedFailToPass } = harnessResolution(tests_pred, tests_base);
  const graded = {
    ...harnessUnapplied(true),
    patch_successfully_applied: true,
    resolved,
    added_f2p: addedFailToPass,
    tests_base,
    tests_pred,
  };
  if (golden === undefined) return graded;
  return {
    ...graded,
    ...harnessCoverage({ ...input, golden }),
    tests_gold: harnessTransitions(golden.pre.statuses, golden.post.statuses),
  };
}

function harnessCoverage(input: {
  readonly removed: readonly PatchLine[];
  readonly added: readonly PatchLine[];
  readonly candidate: HarnessRuns;
  readonly golden: HarnessRuns;
  readonly base: HarnessRuns;
}) {
  const { candidate, golden, base } = input;
  const ran = (counts: CountMap, at: PatchLine): boolean =>
    counts.get(at.path)?.has(at.line) ?? false;
  // The harness stores lines in dictionaries by file. A line named twice would count twice in its
  // denominator and once in its numerator. A diff never names a line twice.
  const removed = input.removed.filter(
    (at) => ran(golden.pre.counts, at) || ran(base.pre.counts, at),
  );
  const added = input.added.filter(
    (at) => ran(golden.post.counts, at) || ran(base.post.counts, at),
  );
  const executable = removed.length + added.length;
  const count = (counts: CountMap, at: PatchLine): number => counts.get(at.path)?.get(at.line) ?? 0;
  // Base counts of removed lines come from R∘X*. This is a mistake of the harness, kept on purpose.
  const baseCount = (at: PatchLine): number => count(base.post.counts, at);
  /** The share of lines that were executed more often than `least`. */
  const share = (pre: CountMap, post: CountMap, least: (at: PatchLine) => number): number | null =>
    executable === 0
      ? null
      : (removed.filter((at) => count(pre, at) > least(at)).length +
          added.filter((at) => count(post, at) > least(at)).length) /
        executable;
  const over = ({ pre, post }: HarnessRuns) => share(pre.counts, post.counts, () => 0);
  const beyond = ({ pre, post }: HarnessRuns) => share(pre.counts, post.counts, baseCount);
  return {
    coverage_pred: over(candidate),
    coverage_gold: over(golden),
    coverage_base: share(base.post.counts, base.post.counts, () => 0),
    coverage_delta_pred: beyond(candidate),
    coverage_delta_gold: beyond(golden),
  };
}

/** The report of a candidate that did not apply, or that is empty. */
export function harnessUnapplied(exists: boolean): HarnessReport {
  return {
    patch_is_None: !exists,
    patch_exists: exists,
    patch_successfully_applied: false,
    resolved: false,
    coverage_pred: null,
    coverage_gold: null,
    coverage_base: null,
    coverage_delta_pred: null,
    coverage_delta_gold: null,
  };
}

const noTestEndings = [
  ...['.json', '.png', 'csv', '.txt', '.md', '.jpg', '.jpeg', '.pkl', '.yml', '.yaml', '.toml'],
];

/**
 * The files of a patch that the harness passes to the runner (`get_test_directives`). It searches
 * the text, and does not find names that git writes between quotation marks.
 */
export const harnessDirectives = (patch: string): readonly string[] => {
  const found = [...patch.matchAll(/diff --git a\/[^\n]* b\/([^\n]*)/g)].map(
    ([, path = '']) => path,
  );
  return [...new Set(found)].filter(
    (path) => !noTestEndings.some((ending) => path.endsWith(ending)),
  );
};
