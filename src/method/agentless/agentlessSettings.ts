import { regressionKinds, defaultRegression } from './testing/regressionTests';
import { reproductionTemperature, defaultReproduction } from './testing/reproductionTests';

/** The stages of Agentless, in their order. The selection follows the last. */
export const agentlessStages = [
  'files',
  'folders',
  'retrieval',
  'combined',
  'elements',
  'locations',
  'repair',
  'regression',
  'reproduction',
] as const;
export type AgentlessStage = (typeof agentlessStages)[number];

/** Stages that can be left out: those after them take what there is. */
export const skippableStages = agentlessStages.filter((stage) => stage !== 'repair');

/** The values that a setting may have. */
export const numberBounds = {
  whole: { minimum: 1, isWhole: true },
  natural: { minimum: 0, isWhole: true },
  temperature: { minimum: 0, maximum: 2, isWhole: false },
} as const;

interface NumberSetting {
  /** The option on the command line. */
  readonly option: string;
  readonly stage: AgentlessStage;
  /** That of the paper (https://arxiv.org/abs/2407.01489, section 4). */
  readonly default: number;
  readonly kind: keyof typeof numberBounds;
  readonly meaning: string;
}

/** The numbers of Agentless, from which options, defaults, help and documentation come. */
export const agentlessNumbers = {
  suspiciousFiles: {
    ...{ option: '--suspicious-files', stage: 'files', default: 5, kind: 'whole' },
    meaning: 'maximum number of files that the model may name',
  },
  chunkTokens: {
    ...{ option: '--chunk-tokens', stage: 'retrieval', default: 512, kind: 'whole' },
    meaning: 'chunk size in tokens',
  },
  chunkOverlap: {
    ...{ option: '--chunk-overlap', stage: 'retrieval', default: 0, kind: 'natural' },
    meaning: 'chunk overlap in tokens',
  },
  topChunks: {
    ...{ option: '--top-chunks', stage: 'retrieval', default: 100, kind: 'whole' },
    meaning: 'number of chunks closest to the issue whose files are retrieved',
  },
  topFiles: {
    ...{ option: '--top-files', stage: 'combined', default: 3, kind: 'whole' },
    meaning: 'number of files to keep from both lists',
  },
  locationSamples: {
    ...{ option: '--location-samples', stage: 'locations', default: 4, kind: 'whole' },
    meaning: 'number of sets of edit locations',
  },
  locationTemperature: {
    ...{ option: '--location-temperature', stage: 'locations', default: 0.8, kind: 'temperature' },
    meaning: 'temperature for these requests',
  },
  contextLines: {
    ...{ option: '--context-lines', stage: 'repair', default: 10, kind: 'natural' },
    meaning: 'number of context lines around each location',
  },
  repairSamples: {
    ...{ option: '--repair-samples', stage: 'repair', default: 10, kind: 'whole' },
    meaning: 'number of patches per set of locations; the first one is greedy',
  },
  repairTemperature: {
    ...{ option: '--repair-temperature', stage: 'repair', default: 0.8, kind: 'temperature' },
    meaning: 'temperature for the others',
  },
  regressionFiles: {
    ...{ option: '--regression-files', stage: 'regression', kind: 'whole' },
    default: defaultRegression.regressionFiles,
    meaning: 'number of test files to run with each patch, closest to the suspicious files first',
  },
  reproductionSamples: {
    ...{ option: '--reproduction-samples', stage: 'reproduction', kind: 'whole' },
    default: defaultReproduction.reproductionSamples,
    meaning: 'number of scripts; the first one is greedy',
  },
  reproductionTemperature: {
    ...{ option: '--reproduction-temperature', stage: 'reproduction', kind: 'temperature' },
    default: reproductionTemperature,
    meaning: 'temperature for the others',
  },
} as const satisfies Readonly<Record<string, NumberSetting>>;

/** Test files that reach the suspicious files, or all. */
export const regressionChoices = regressionKinds.filter((kind) => kind !== 'none');
type RegressionChoice = (typeof regressionChoices)[number];

export type AgentlessNumber = keyof typeof agentlessNumbers;

/** What a run of Agentless does. */
export interface AgentlessSettings extends Readonly<Record<AgentlessNumber, number>> {
  /** Which tests of R are regression tests. */
  readonly regression: RegressionChoice;
  readonly skip: readonly AgentlessStage[];
  /** The last stage of the run. */
  readonly until: AgentlessStage;
}

/** The settings with the paper's values for those that are not given. */
export function agentlessSettings(given: Partial<AgentlessSettings> = {}): AgentlessSettings {
  const numbers = Object.fromEntries(
    Object.entries(agentlessNumbers).map(([name, { default: value }]) => [name, value]),
  ) as Record<AgentlessNumber, number>;
  const whole = { regression: 'reaching', skip: [], until: 'reproduction' } as const;
  return { ...numbers, ...whole, ...given };
}
