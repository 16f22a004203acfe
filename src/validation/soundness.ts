import {
  sides,
  sideName,
  standing,
  type Outcome,
  type Side,
  type TestTransition,
  type Transition,
} from '../domain/outcome';
import { functionOf } from '../domain/testId';
import type { FlakyTest, ListDisagreement, UnsoundReason } from '../domain/soundness';
import { gradeStrict, type StrictEvidence } from '../domain/verdict';
import { plural, withoutControl } from '../domain/text';

/** What repeated runs of T* and T^R show about an instance. */
export interface Judgement {
  /** Why the instance is unsound; empty when it is sound. */
  readonly reasons: readonly UnsoundReason[];
  readonly flaky: readonly FlakyTest[];
  /** Tests that go F→P in every repetition. */
  readonly failToPass: readonly string[];
}

/**
 * Judges an instance by its repetitions, each with T* as the candidate: T* must be a success under
 * strict grading every time. A fault in every repetition is a reason of its own; a fault in only
 * some of them is flakiness.
 *
 * @param repetitions at least one, each run to its end
 */
export function judgeSoundness(repetitions: readonly StrictEvidence[]): Judgement {
  const golden = repetitions.map((each) => each.candidate);
  const flaky = [
    ...flakyTests('golden', golden),
    ...flakyTests(
      'base',
      repetitions.map((each) => each.base),
    ),
  ];
  const verdicts = repetitions.map(gradeStrict);
  const nameOf = namesAcross(golden);
  const failing = inEach(verdicts.map((each) => each.anyToFail.map(nameOf)));
  const reasons: UnsoundReason[] = [];
  if (failing.length > 0) {
    const first = golden[0]?.filter((each) => failing.includes(nameOf(each.test))) ?? [];
    reasons.push({
      kind: 'golden fails after the fix',
      explanation: `${plural(failing.length, 'golden test')} ${failing.length === 1 ? 'fails' : 'fail'} with the fix: ${few(first.map(failure))}`,
      tests: failing,
    });
  }
  if (verdicts.every((each) => each.failToPass.length === 0)) {
    reasons.push({
      kind: 'no F→P',
      explanation: `no golden test goes from failing to passing (${whatInstead(repetitions[0])})`,
      tests: [],
    });
  }
  if (flaky.length > 0) {
    const tests = [...new Set(flaky.map((each) => each.test))];
    reasons.push({
      kind: 'flaky',
      explanation: `${plural(tests.length, 'test')} ${tests.length === 1 ? 'has' : 'have'} different outcomes in ${repetitions.length} repetitions: ${few(flaky.map(describeFlaky))}`,
      tests,
    });
  }
  const unlike = verdicts.findIndex((each) => !each.success);
  if (reasons.length === 0 && unlike >= 0) {
    // If cases change their names between repetitions, the set can fail without any name failing
    // twice.
    reasons.push({
      kind: 'flaky',
      explanation: `the golden tests do not succeed in repetition ${unlike + 1}: ${oneLine(verdicts[unlike]?.explanation ?? '')}`,
      tests: [...(verdicts[unlike]?.anyToFail ?? [])],
    });
  }
  return {
    reasons,
    flaky,
    failToPass: inEach(verdicts.map((each) => each.failToPass.map(nameOf))),
  };
}

/**
 * Tests whose result (fails, passes, neither) on a side differs between repetitions of one set. A
 * failed outcome and an error are the same result.
 */
export function flakyTests(
  tests: FlakyTest['tests'],
  repetitions: readonly (readonly TestTransition[])[],
): FlakyTest[] {
  const nameOf = namesAcross(repetitions);
  const outcomes = new Map<string, Record<Side, Outcome[]>>();
  for (const [index, transitions] of repetitions.entries()) {
    for (const each of transitions) {
      const name = nameOf(each.test);
      const missing = (): Outcome[] => repetitions.map(() => 'missing');
      const of = outcomes.get(name) ?? { base: missing(), fixed: missing() };
      outcomes.set(name, of);
      for (const side of sides) of[side][index] = worse(of[side][index], each[side].outcome);
    }
  }
  return [...outcomes].flatMap(([test, of]) =>
    sides
      .filter((side) => new Set(of[side].map(standing)).size > 1)
      .map((side) => ({ test, tests, side, outcomes: of[side] })),
  );
}

/**
 * The name of a test across repetitions. It is the test's id, or its function when the ids of its
 * cases change between repetitions, as for cases made from a set. A function stands for its worst
 * case.
 */
function namesAcross(
  repetitions: readonly (readonly TestTransition[])[],
): (test: string) => string {
  const seen = repetitions.map((each) => new Set(each.map(({ test }) => test)));
  const changing = new Set(
    [...new Set(seen.flatMap((ids) => [...ids]))]
      .filter((test) => seen.some((ids) => !ids.has(test)))
      .map(functionOf),
  );
  return (test) => (changing.has(functionOf(test)) ? functionOf(test) : test);
}

const outcomeRank = { fails: 2, passes: 1, neither: 0 } as const;

function worse(one: Outcome | undefined, other: Outcome): Outcome {
  if (one === undefined || one === 'missing') return other;
  return outcomeRank[standing(other)] > outcomeRank[standing(one)] ? other : one;
}

/** Items that are in every list, in the order of the first, each once. */
function inEach(lists: readonly (readonly string[])[]): string[] {
  const sets = lists.map((list) => new Set(list));
  return [...(sets[0] ?? [])].filter((test) => sets.every((set) => set.has(test)));
}

/**
 * Nothing of a test set could be run on either side. Every test is missing, or broke off while its
 * file was collected or its fixtures were set up.
 */
export function nothingRan(transitions: readonly TestTransition[]): boolean {
  return transitions.every((each) =>
    sides.every((side) => {
      const { outcome, phase } = each[side];
      return (
        outcome === 'missing' || (outcome === 'error' && (phase === 'collect' || phase === 'setup'))
      );
    }),
  );
}

/**
 * The most informative line of a test log about why nothing ran: a missing module, else an error,
 * else the last line.
 */
export function tellingLine(log: string): string | undefined {
  const lines = log
    .split('\n')
    // pytest marks the lines of an error with an E.
    .map((line) => oneLine(line.replace(/^E {2,}/, '')))
    .filter((line) => /[\p{L}\p{N}]/u.test(line));
  const patterns = [
    /\bNo module named\b|\bcannot import name\b/,
    /^(\w+\.)*\w*(Error|Exception): /,
    /\b(Error|Exception)\b/,
    /\berror\b/i,
  ];
  for (const pattern of patterns) {
    const line = lines.find((each) => pattern.test(each));
    if (line !== undefined) return line;
  }
  return lines.at(-1);
}

/** How many tests have each transition. */
export function countTransitions(
  transitions: readonly TestTransition[],
): Partial<Record<Transition, number>> {
  const counts: Partial<Record<Transition, number>> = {};
  for (const { transition } of transitions) counts[transition] = (counts[transition] ?? 0) + 1;
  return counts;
}

/**
 * Compares FAIL_TO_PASS of a row with the observed tests; undefined when they agree.
 *
 * @param seen F→P in the names of the row, as the reference harness counts them
 * @param alsoSeen further names of the same tests, which confirm a listed one
 */
export function compareLists(
  listed: readonly string[],
  seen: readonly string[],
  alsoSeen: readonly string[] = [],
): ListDisagreement | undefined {
  const known = new Set([...seen, ...alsoSeen]);
  const named = new Set(listed);
  const listedOnly = [...named].filter((test) => !known.has(test));
  const seenOnly = [...new Set(seen)].filter((test) => !named.has(test));
  return listedOnly.length + seenOnly.length === 0 ? undefined : { listedOnly, seenOnly };
}

function whatInstead(first: StrictEvidence | undefined): string {
  const own = (first?.candidate ?? []).filter((each) =>
    first?.ownFunctions.has(functionOf(each.test)),
  );
  if (own.length === 0) return 'they add or change no test that the runner finds';
  return Object.entries(countTransitions(own))
    .map(([transition, count]) => `${count} ${transition}`)
    .join(', ');
}

function failure({ test, transition, fixed }: TestTransition): string {
  const message = oneLine(fixed.message ?? '');
  return `${test} (${transition}${message === '' ? '' : `: ${message}`})`;
}

export function describeFlaky({ test, tests, side, outcomes }: FlakyTest): string {
  return `${test} on ${sideName[side]} with ${tests === 'golden' ? 'T*' : 'T^R'}: ${outcomes.join(', ')}`;
}

/** Untrusted text of tested code as part of one line for the user. */
export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this pattern removes the colours of a terminal
  const plain = withoutControl(text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '')).trim();
  return plain.length > 200 ? `${plain.slice(0, 199)}…` : plain;
}

/** The first three items, and the number of further ones. */
export function few(items: readonly string[]): string {
  const rest = items.length - 3;
  return items.slice(0, 3).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}
