import { applyCandidate } from './applyCandidate';
import { checkCandidate } from './checkCandidate';
import { listCandidateTests } from './listCandidateTests';
import { listFiles } from './listFiles';
import { outlineFile } from './outlineFile';
import { readFile } from './readFile';
import { readIssue } from './readIssue';
import { runTests } from './runTests';
import { searchCode } from './searchCode';
import type { OfferedTool } from '../models/chatModel';
import { inputSchema, type Tool } from './tool';

/** All tools for models, the same wherever a model is connected. */
export const tools: readonly Tool[] = [
  readIssue,
  listFiles,
  searchCode,
  outlineFile,
  readFile,
  applyCandidate,
  listCandidateTests,
  runTests,
  checkCandidate,
];

/** The instructions that a model gets before it calls a tool. */
export const instructions = [
  'Write tests that reproduce an issue: they fail on the current repository for the reason in the issue, and they pass once the issue is resolved. Change only tests, keep the other existing tests passing, and do not resolve the issue itself.',
  'Read the issue, find the related code and the existing tests, apply a candidate (a patch that adds or changes tests), run its tests, and check that they fail for the reason in the issue. Finally, check the candidate with check_candidate.',
].join('\n');

/** Tools as a request to a model offers them. */
export const offer = (offered: readonly Tool[]): OfferedTool[] =>
  offered.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: inputSchema(tool),
  }));

/** The answer to a call of a tool that is not offered. */
export const unknownTool = (name: string, offered: readonly Tool[]): string =>
  `There is no tool ${JSON.stringify(name.slice(0, 100))}. Call one of ${offered.map((tool) => tool.name).join(', ')}`;
