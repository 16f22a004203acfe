import type { MethodCandidate } from '../../method/method';
import type { StepOf } from '../../method/trace';

/** What a run has written into its trace. */
interface Written {
  readonly candidates: ReadonlyMap<number, Pick<MethodCandidate, 'answer' | 'from'>>;
  readonly acts: readonly StepOf<'act'>[];
  readonly stages: readonly StepOf<'stage'>[];
  readonly sessions: readonly StepOf<'session'>[];
}

/**
 * A trace without the answers of a run, what was done on them, and what stages found with them. What
 * another run has too stays, and so do prompts, runs on R and vectors, which are the same again.
 */
export function withoutStepsOf(
  trace: string,
  forgotten: Written,
  others: readonly Written[],
): string {
  const kept = new Set(others.flatMap(keysOf));
  const gone = new Set(keysOf(forgotten).filter((key) => !kept.has(key)));
  return trace
    .split('\n')
    .filter((line) => line !== '' && !isAbout(line, gone))
    .map((line) => `${line}\n`)
    .join('');
}

const keysOf = ({ candidates, acts, stages, sessions }: Written): string[] => [
  ...[...candidates.values()].flatMap(({ answer, from = [] }) =>
    [...from, answer?.key ?? []].flat(),
  ),
  ...acts.map(({ answer }) => answer),
  ...sessions.flatMap(({ key, answers }) => [key, ...answers]),
  // A stage without an answer has the same output again.
  ...stages.flatMap(({ key, from = [] }) => (from.length === 0 ? [] : [key, ...from])),
];

const isKeyed = (step: unknown): boolean =>
  step === 'answer' || step === 'stage' || step === 'session';

/** Whether a line has one of the keys, or is an action on one: a new answer may have the same key. */
function isAbout(line: string, keys: ReadonlySet<string>): boolean {
  try {
    const { step, key, answer } = JSON.parse(line) as Record<string, unknown>;
    const of = isKeyed(step) ? key : step === 'act' ? answer : undefined;
    return typeof of === 'string' && keys.has(of);
  } catch {
    return false;
  }
}
