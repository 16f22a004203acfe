// Tools for models: their calls, the MCP server, the check before submitting.
export { LineTransport } from './mcp/lineTransport';
export { serveMcp } from './mcp/serveMcp';
export { packFiles } from './prompt/pack';
export { candidatePrompt } from './prompt/prompts';
export { rankFiles } from './prompt/rankFiles';
export {
  type CheckedQuestion,
  type SubmissionAnswer,
  type SubmissionCheck,
  checkSubmission,
} from './submission/submissionCheck';
export { submissionCheckText } from './submission/submissionCheckText';
export { leftOutResult } from './toolCalls/toolHistory';
export { continueRule, issueText, onlyR } from './toolCalls/toolPrompts';
export { CallOrder } from './tools/callOrder';
export {
  type CandidateSlot,
  type Tool,
  type ToolAnswer,
  type ToolWork,
  bounded,
  callTool,
  candidateInMemory,
  inputSchema,
} from './tools/tool';
export { instructions, offer, tools, unknownTool } from './tools/tools';
export { aliasOf } from './view/alias';
export type { RunOnR } from './view/runOnR';
