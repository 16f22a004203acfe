// What a request for candidates may ask for beside a method: estimates, given fixes, surrogates, shards.
export {
  type BlindEstimateParts,
  type InstanceEstimate,
  estimateBlind,
  estimateRun,
} from './estimate/estimate';
export type { GenerationHooks, GenerationRequest, LiveParts } from './estimate/instanceSteps';
export type { CountedRequest } from './estimate/walk';
export { givenMethod } from './given/givenMethod';
export { type GivenSource, givenParts, givenSetting, givenSources } from './given/setting';
export { zeroShotPlus } from './prompted/zeroShot';
export { refiningMethod, refiningOption } from './refining/refiningMethod';
export { type MergedPredictions, mergePredictions } from './sharding/mergePredictions';
export { writeShardRecord } from './sharding/shardRecord';
export { failsOnR, runOnR } from './steps/candidateRun';
export { Steps } from './steps/steps';
export { defaultSurrogate, surrogate, surrogateFixes } from './surrogate/surrogate';
export { type Step, stepSchema } from './traces/traceSteps';
