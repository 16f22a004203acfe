// Agents, of the Agent Client Protocol and others.
export {
  acpAgent,
  acpMethod,
  acpNamed,
  acpPrefix,
  defaultAcpSeconds,
  isAcp,
} from './acp/acpMethod';
export { type AcpDefinition, type AcpPreset, acpPresets } from './acp/acpPresets';
export type { AcpAgent } from './acp/acpRun';
export { type Template, placeholders, textsAt, variableName } from './acp/agentEnvironment';
export { agentPrograms } from './acp/install/agentPrograms';
export { installAgent } from './acp/install/installAgent';
export { wordsOfCommand } from './acp/wordsOfCommand';
export { type LimitProfile, limitProfiles } from './agents/agent';
export { reproducingTask } from './agents/reproducingTask';
