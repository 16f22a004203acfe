import type { Steps } from '../steps';
import type { Prompt } from '../prompts';
import type { AgentlessSettings, AgentlessStage } from './agentlessSettings';

/** Raised when a prompt or a computation of the stages changes, so that they are made again. */
export const stagesVersion = 1;

/** What a stage works with. */
export interface StageWork {
  readonly steps: Steps;
  readonly settings: AgentlessSettings;
  /** The temperature of a request that is asked once; undefined leaves it to the server. */
  readonly greedy: number | undefined;
  /** The temperature of samples, unless the run has none. */
  readonly sampled: (temperature: number) => number | undefined;
}

/** Sends the only request of a stage. @returns the text of the answer */
export async function askOnce(
  { steps, greedy }: StageWork,
  stage: AgentlessStage,
  prompt: Prompt,
): Promise<string> {
  const method = `agentless-${stage}`;
  return (await steps.request({ method, prompt, sample: 1, temperature: greedy })).text;
}
