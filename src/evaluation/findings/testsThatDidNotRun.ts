import { listed } from '../../domain/text';
import type { Finding } from '../../domain/finding';
import {
  isFailure,
  sideName,
  sides,
  type Side,
  functionsWithUnmatchedCases,
  type TestTransition,
} from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import type { RunRecord } from '../../engine/engine';
import { whyIncomplete, withoutOutcome } from '../results';

/** A run of a test set, and the transitions of its tests. */
interface Ran {
  readonly records: Readonly<Record<Side, RunRecord>> | undefined;
  readonly tests: readonly TestTransition[];
}

/** The most tests that a sentence of evidence names. */
const mostNamed = 5;

/**
 * Tests that a candidate's run lost: collected and never run, absent on one side, or skipped on R∘X*
 * though they fail on R. What the run of R's own tests loses as well is not the candidate's doing.
 */
export function testsThatDidNotRun(candidate: Ran, base: Ran): Finding | undefined {
  const evidence: string[] = [];
  for (const side of sides) {
    const record = candidate.records?.[side];
    if (record === undefined) continue;
    const known = new Set(base.records === undefined ? [] : withoutOutcome(base.records[side]));
    const lost = withoutOutcome(record).filter((test) => !known.has(test));
    if (lost.length > 0) {
      const why = whyIncomplete(record);
      const because = why === undefined ? '' : ` (${why})`;
      evidence.push(
        `on ${sideName[side]}, collected but without an outcome${because}: ${listed(lost, mostNamed)}`,
      );
    }
    const absent = absentOn(side, candidate, base).filter((test) => !lost.includes(test));
    if (absent.length > 0) {
      evidence.push(
        `on ${sideName[side]}, missing although the other side has them: ${listed(absent, mostNamed)}`,
      );
    }
  }
  const skipped = skippedAfter(candidate.tests, base.tests);
  if (skipped.length > 0) {
    evidence.push(
      `on R∘X*, skipped or expected to fail although they fail on R: ${listed(skipped, mostNamed)}`,
    );
  }
  return evidence.length === 0 ? undefined : { kind: 'tests did not run', evidence };
}

function absentOn(side: Side, { records, tests }: Ran, base: Ran): string[] {
  // pytest runs no test where one file cannot be collected.
  const outcomes = records?.[side].trace.outcomes ?? [];
  if (outcomes.some((each) => each.phase === 'collect' && isFailure(each))) return [];
  const other = side === 'base' ? 'fixed' : 'base';
  const isAbsent = (each: TestTransition): boolean =>
    each[side].outcome === 'missing' && each[other].outcome !== 'missing';
  const known = new Set(base.tests.filter(isAbsent).map(({ test }) => test));
  // The verdict says that their names change.
  const changing = new Set(functionsWithUnmatchedCases(tests));
  return tests
    .filter((each) => isAbsent(each) && !known.has(each.test))
    .map(({ test }) => test)
    .filter((test) => !changing.has(functionOf(test)));
}

function skippedAfter(tests: readonly TestTransition[], base: readonly TestTransition[]): string[] {
  const isSkipped = ({ transition, fixed }: TestTransition): boolean =>
    transition === 'F→-' && fixed.outcome !== 'missing';
  const known = new Set(base.filter(isSkipped).map(({ test }) => test));
  return tests.filter((each) => isSkipped(each) && !known.has(each.test)).map(({ test }) => test);
}
