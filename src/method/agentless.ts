// The stages of Agentless, and their settings.
export {
  type AgentlessNumber,
  type AgentlessSettings,
  type AgentlessStage,
  agentlessNumbers,
  agentlessSettings,
  agentlessStages,
  numberBounds,
  regressionChoices,
  skippableStages,
} from './agentless/agentlessSettings';
export { type GivenStages, readGivenStages } from './agentless/givenStages';
export { codeFiles } from './agentless/localisation/codeFiles';
export { mergedIntervals } from './agentless/localisation/codeIntervals';
export { combinedFilesSchema } from './agentless/localisation/combinedFiles';
export {
  type EditLocations,
  editLocationsSchema,
  locationsSchema,
  setsToRepair,
} from './agentless/localisation/editLocations';
export { embeddingRetrievalSchema } from './agentless/localisation/embeddingRetrieval';
export { suspiciousFilesSchema } from './agentless/localisation/suspiciousFiles';
export { repairSchema } from './agentless/sampledRepairs';
