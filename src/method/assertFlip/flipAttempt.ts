import type { AnsweredCandidate } from '../method';
import type { Exchange } from '../prompt/prompts';
import { runWhereItApplies, unlessSpent } from '../refining/refineCandidate';
import type { Steps } from '../steps/steps';
import { hasContent } from '../steps/emptyAnswers';
import { askForTestsWith } from '../steps/filledPrompts';
import { judge } from '../steps/judge';
import { readTests } from '../steps/readPatch';
import { whyNotFailing, whyNotPassing } from './flipComplaints';
import { failingText, flipPrompt, flipText, passingText, type Setback } from './flipPrompts';

/** The outcome of an attempt. */
export interface FlipAttempt {
  readonly candidate: AnsweredCandidate;
  /** Whether its tests are those whose assertions were inverted. */
  readonly isFlipped: boolean;
  /** Whether they, inverted, fail on R without a fault of their own. */
  readonly fails: boolean;
  /** What the model says of the failure, or else what is wrong with the tests. */
  readonly said: string;
  /** Whether the instance may cost no more. */
  readonly isSpent: boolean;
}

interface Attempting {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The attempt before. */
  readonly setback: Setback | undefined;
  /** Times that tests may be sent back. */
  readonly tries: number;
  readonly temperature: number | undefined;
  readonly judgeTemperature: number | undefined;
  readonly onCandidate?: ((candidate: AnsweredCandidate) => void) | undefined;
}

/**
 * One attempt of AssertFlip. The model writes tests that pass on R, turns their assertions round so
 * that they fail there, and says whether the failure is the problem of the issue. What does not
 * pass, or does not fail, is sent back.
 *
 * @returns undefined when the instance may cost no more before there is an answer
 */
export async function flipAttempt(
  steps: Steps,
  attempting: Attempting,
): Promise<FlipAttempt | undefined> {
  const { judgeTemperature, onCandidate } = attempting;
  const found = await turnedRound(steps, attempting);
  const { run } = found?.candidate ?? {};
  if (found === undefined || run === undefined || !found.fails) return found;
  const { patch } = found.candidate;
  const judged = await unlessSpent(() => judge(steps, patch, run, judgeTemperature));
  if (judged === undefined) return { ...found, isSpent: true };
  const candidate = { ...found.candidate, matches: judged.matches };
  onCandidate?.(candidate);
  return { ...found, candidate, said: judged.answer.text };
}

/** The tests of an attempt, as far as they came, before they are judged. */
async function turnedRound(steps: Steps, attempting: Attempting): Promise<FlipAttempt | undefined> {
  const { tries } = attempting;
  const asked = new Set<string>();
  let isFlipped = false;
  let last: FlipAttempt | undefined;
  let after: Exchange | undefined;
  for (let sentBack = 0; ;) {
    const candidate = await answered(steps, attempting, last, after);
    if (candidate === undefined) return last && { ...last, isSpent: true };
    // A walk supposes that tests are sent back as often as they may be, and then are right.
    const complaintOf = isFlipped ? whyNotFailing : whyNotPassing;
    const supposed = sentBack < tries ? [''] : undefined;
    const isSupposed = steps.supposes(candidate.patch.patch);
    const complaint = isSupposed ? supposed : complaintOf(candidate);
    const isGood = complaint === undefined;
    const said = complaint?.join('\n').trim() ?? '';
    last = { candidate, isFlipped, fails: isFlipped && isGood, said, isSpent: false };
    const { answer } = candidate;
    if (last.fails || !hasContent(answer)) return last;
    if (isGood) {
      isFlipped = true;
      after = { answer: answer.text, said: flipText };
      continue;
    }
    after = { answer: answer.text, said: (isFlipped ? failingText : passingText)(complaint) };
    const key = JSON.stringify(after);
    // The same request would have the same answer.
    if (sentBack === tries || asked.has(key)) return last;
    asked.add(key);
    sentBack += 1;
  }
}

/** The next candidate of an attempt, run on R; undefined when the instance may cost no more. */
async function answered(
  steps: Steps,
  { attempt: sample, setback, temperature, onCandidate }: Attempting,
  last: FlipAttempt | undefined,
  after: Exchange | undefined,
): Promise<AnsweredCandidate | undefined> {
  const answer = await unlessSpent(() =>
    askForTestsWith(steps, {
      ...{ method: 'assertflip', sample, temperature },
      write: (files) => flipPrompt({ ...steps.instance, files, setback, after }),
    }),
  );
  if (answer === undefined) return undefined;
  const { answer: before, from = [] } = last?.candidate ?? {};
  const candidate = await runWhereItApplies<AnsweredCandidate>(steps, {
    ...{ sample, answer, run: undefined },
    patch: await readTests(steps, answer.text, answer),
    from: before === undefined ? [] : [...from, before.key],
  });
  onCandidate?.(candidate);
  return candidate;
}
