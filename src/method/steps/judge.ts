import { judgePrompt, readJudgement } from '../prompt/prompts';
import type { Steps } from './steps';
import { keyOf, type AnswerStep, type PatchStep, type RunStep } from '../trace';
import { shownFailures } from './candidateRun';
import { promptStep } from './filledPrompts';

/** Asks whether a failure on R is the problem of the issue; undefined when the answer says neither. */
export async function judge(
  steps: Steps,
  { patch }: PatchStep,
  { tests, failingBefore }: RunStep,
  temperature: number | undefined,
): Promise<{ readonly matches: boolean | undefined; readonly answer: AnswerStep }> {
  const failures = shownFailures(tests);
  const prompt = judgePrompt({ ...steps.instance, patch, failures, failingBefore });
  const step = await steps.recall('prompt', keyOf('prompt', prompt), () =>
    promptStep('judge', prompt, []),
  );
  const answer = await steps.ask('judge', step, {
    ...{ method: 'libro-judge', sample: 1, temperature },
    typical: { prompt: 2000, answer: 300 },
  });
  return { matches: readJudgement(answer.text), answer };
}
