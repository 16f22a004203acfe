import { settingGroups } from '../../../engine/engines';
import { settingKeys } from '../names';

/** Settings by the options of the command line that mean the same, but for those of engines. */
const settings: Readonly<Record<string, string>> = {
  '--engine': settingKeys.engine,
  '--timeout': settingKeys.timeout,
  '--dataset': settingKeys.dataset,
  '--source': settingKeys.repositorySources,
  '--storage': settingKeys.storage,
  '--triage': settingKeys.triageFile,
  '--run-tests-locally': settingKeys.runModelTestsLocally,
  '--budget-tokens': settingKeys.tokenBudget,
  '--refine': settingKeys.refine,
  '--agent-program': settingKeys.agents,
  '--context-tokens': settingKeys.contextTokens,
  '--max-output-tokens': settingKeys.maxOutputTokens,
  '--request-timeout': settingKeys.requestTimeout,
  '--embedding-model': settingKeys.embeddingModel,
  '--embedding-base-url': settingKeys.embeddingBaseUrl,
  '--embedding-price': settingKeys.embeddingPrice,
  '--base-url': settingKeys.models,
  '--model-window': settingKeys.models,
};

/** All pairs of an option of the command line and the setting that means the same. */
export const optionsAndSettings = (): readonly (readonly [option: string, setting: string])[] => [
  ...Object.entries(settings),
  ...settingGroups().flatMap(({ all }) =>
    all.flatMap(({ flag, id }) => (flag === undefined ? [] : [[flag, id] as const])),
  ),
];

/** The setting that means the same as an option; undefined where there is none. */
export const settingOfOption = (option: string): string | undefined =>
  optionsAndSettings().find(([each]) => each === option)?.[1];
