import { sides, type Side } from '../domain/outcome';
import type { SetRun } from './testSetRuns';
import { logWithEnding, whyNotToTheEnd } from './testRun';

/** A run beside those of the candidate that did not tell what its tests do. */
export interface BrokenRun {
  /** T*, the tests of R beside T*, or the tests of R beside the candidate's. */
  readonly of: 'golden' | 'golden base' | 'base';
  readonly side: Side;
  /** Bounded output, and in the last line how it ended. */
  readonly log: string;
}

/** The sides of a run that broke off, or on which its tests could not be run at all. */
export function brokenRuns(run: SetRun | undefined, of: BrokenRun['of']): BrokenRun[] {
  const records = run?.records;
  if (records === undefined) return [];
  return sides.flatMap((side) => {
    const record = records[side];
    return whyNotToTheEnd(record) === undefined ? [] : [{ of, side, log: logWithEnding(record) }];
  });
}
