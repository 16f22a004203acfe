import { entryReasons } from '../../domain/verdict';
import { nothingKnown, type RunEntry } from '../../study/entry';
import type { Transition } from '../../domain/outcome';
import type { Grade } from './candidateGrades';

/** A grade of a candidate as the entry of a run, for views that show entries. */
export function entryOfGrade(
  { success, reason, transitions, coverage, findings }: Grade,
  of: Pick<RunEntry, 'instance' | 'model' | 'sample'>,
): RunEntry {
  const count = (wanted: Transition): number =>
    transitions.filter(({ transition }) => transition === wanted).length;
  return {
    ...of,
    ...nothingKnown,
    reason: entryReasons.find((each) => each === reason) ?? 'internal error',
    explanation: '',
    evaluated: true,
    wellFormed: true,
    success,
    failToPass: count('F→P'),
    failToFail: count('F→F'),
    passToPass: count('P→P'),
    passToFail: count('P→F'),
    ...(coverage !== null && { delta: coverage }),
    findings,
    seconds: 0,
  };
}
