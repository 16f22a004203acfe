import { sides, type Side } from '../domain/outcome';
import type { SetRun } from './testSetRuns';
import { logWithEnding, whyNotToTheEnd } from './testRun';

/** A run of the golden or base tests that does not tell what its tests do. */
export interface BrokenRun {
  /** T*, the tests of R beside T*, or the tests of R beside the candidate's. */
  readonly of: 'golden' | 'golden base' | 'base';
  readonly side: Side;
  /** Bounded output; its last line says how the run ended. */
  readonly log: string;
}

/** The sides on which a run broke off, or could not run its tests at all. */
export function brokenRuns(run: SetRun | undefined, of: BrokenRun['of']): BrokenRun[] {
  const records = run?.records;
  if (records === undefined) return [];
  return sides.flatMap((side) => {
    const record = records[side];
    return whyNotToTheEnd(record) === undefined ? [] : [{ of, side, log: logWithEnding(record) }];
  });
}
