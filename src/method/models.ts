// Language models: names, prices, budgets, requests.
export {
  type Budget,
  type Price,
  type Spent,
  budgetOf,
  dollarsOf,
  spentOn,
  told,
} from './models/budget';
export {
  CallsNoTools,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  type ModelAnswer,
  ModelFailure,
  ModelUnusable,
  type ModelWork,
  type ToolCall,
} from './models/chatModel';
export type { EmbeddingModel } from './models/embeddingModel';
export { type EmbeddingUse, embeddingBeside } from './models/embeddingUse';
export {
  type ModelUpstream,
  openEmbeddingModel,
  openModel,
  openUpstream,
  parseModelName,
} from './models/openModel';
export {
  type Provider,
  addressVariables,
  embeddingProviders,
  providers,
  reasoningEfforts,
} from './models/providers';
export { ModelTrouble, type Retries, retriesOf, retrying } from './models/retrying';
export { argumentsOf } from './models/toolMessages';
export { tokenCounter } from './prompt/tokens';
