import { BudgetSpent } from '../models/budget';
import type { Exchange } from '../prompt/prompts';
import type { Steps } from '../steps/steps';
import { runOnR } from '../steps/candidateRun';
import { hasContent } from '../steps/emptyAnswers';
import { readTests } from '../steps/readPatch';
import type { AnswerStep, PatchStep, RunStep } from '../trace';
import { candidateFault, type CandidateFault } from './candidateFault';
import { faultInPrompt } from './faultInPrompt';

/** A candidate that can be sent back to the model. */
interface Refinable {
  readonly answer: AnswerStep;
  readonly patch: PatchStep;
  readonly run?: RunStep | undefined;
  /** Keys of the other answers that it comes from. */
  readonly from?: readonly string[];
}

interface Refining<Candidate extends Refinable> {
  /** Times that it may be sent back. */
  readonly times: number;
  /** Asks once more, after an answer and what is said about it. */
  readonly again: (after: Exchange) => Promise<AnswerStep>;
  /** Called with each state of the candidate. */
  readonly onCandidate?: ((candidate: Candidate) => void) | undefined;
}

/**
 * Sends a candidate back with what is wrong with it, until nothing is, the answer is empty or the
 * same as before, or the times are used up. What it does on R is known then.
 *
 * @returns its last state that applies, or else the last one
 */
export async function refineCandidate<Candidate extends Refinable>(
  steps: Steps,
  first: Candidate,
  { times, again, onCandidate }: Refining<Candidate>,
): Promise<Candidate> {
  const states = [await runWhereItApplies(steps, first)];
  let [last] = states as [Candidate];
  for (let time = 1; time <= times; time += 1) {
    onCandidate?.(last);
    const fault = candidateFault(last);
    const { answer } = last;
    if (fault === undefined || !hasContent(answer)) break;
    const next = await unlessSpent(() => again({ answer: answer.text, said: fixRequest(fault) }));
    if (next === undefined) steps.tell('the cost limit ends the refinement');
    if (next === undefined || !hasContent(next) || next.text === answer.text) break;
    const patch = await readTests(steps, next.text, next);
    last = await runWhereItApplies(steps, { ...last, answer: next, patch, run: undefined });
    states.push(last);
  }
  const kept = states.findLast(({ patch }) => patch.applies) ?? last;
  const from = states.map(({ answer }) => answer.key).filter((key) => key !== kept.answer.key);
  const refined = from.length === 0 ? kept : { ...kept, from };
  onCandidate?.(refined);
  return refined;
}

/** A candidate with what its tests do on R, if it has tests there. */
export async function runWhereItApplies<Candidate extends Refinable>(
  steps: Steps,
  candidate: Candidate,
): Promise<Candidate> {
  const { patch } = candidate;
  return patch.applies && patch.problem === undefined
    ? { ...candidate, run: await runOnR(steps, patch) }
    : candidate;
}

/** The outcome of a request; undefined when the instance may cost no more. */
export async function unlessSpent<Result>(ask: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof BudgetSpent && error.of === 'instance') return undefined;
    throw error;
  }
}

const fixRequest = (fault: CandidateFault): string =>
  [
    ...faultInPrompt(fault),
    'Fix this and change nothing else. The tests must still fail on the current repository for ' +
      'the reason in the issue, and pass once it is resolved. If they need something that the ' +
      'issue asks for and that does not exist yet, give the same answer again.',
    '',
    'Your earlier answer is not in the repository. Write all of the tests again in one block in the same format.',
  ].join('\n');
