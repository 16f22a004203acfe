import type { Steps } from '../steps/steps';
import { askInStage } from '../steps/stages';
import type { Prompt } from '../prompt/prompts';
import { agentlessStages, type AgentlessSettings, type AgentlessStage } from './agentlessSettings';
import type { RankingSettings } from './rankRepairs';

/** Raised when a prompt or a computation of the stages changes, so that they are made again. */
export const stagesVersion = 1;

/** Tokens that an answer usually has which names files, folders, elements or tests. */
const namesTokens = 300;

/** What decides on the requests of the stages. */
export interface StageSettings {
  readonly settings: AgentlessSettings;
  /** The temperature of a request that is asked once; undefined leaves it to the server. */
  readonly greedy: number | undefined;
  /** The temperature of samples, unless the run has none. */
  readonly sampled: (temperature: number) => number | undefined;
}

/** What a stage works with. */
export interface StageWork extends StageSettings {
  readonly steps: Steps;
}

/** Whether a stage is part of a run: it is not left out, and the run does not end before. */
export const isInRun = ({ skip, until }: AgentlessSettings, stage: AgentlessStage): boolean =>
  !skip.includes(stage) && agentlessStages.indexOf(stage) <= agentlessStages.indexOf(until);

/** Which tests decide between the patches. */
export function rankingOf({ settings, greedy, sampled }: StageSettings): RankingSettings {
  const { regression, regressionFiles, reproductionSamples, reproductionTemperature } = settings;
  return {
    regression: settings.skip.includes('regression') ? 'none' : regression,
    regressionFiles,
    reproductionSamples: settings.skip.includes('reproduction') ? 0 : reproductionSamples,
    temperature: greedy === undefined ? null : sampled(reproductionTemperature),
  };
}

/** Sends the only request of a stage. @returns the text of the answer */
export async function askOnce(
  { steps, greedy }: Pick<StageWork, 'steps' | 'greedy'>,
  stage: AgentlessStage,
  prompt: Prompt,
): Promise<string> {
  const asked = { method: `agentless-${stage}`, sample: 1, temperature: greedy };
  return (await askInStage(steps, { ...asked, prompt, typical: { answer: namesTokens } })).text;
}
