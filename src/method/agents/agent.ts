import type { ChatMessage } from '../models/chatModel';
import type { WorkspaceOnR } from './workspaceOnR';

/** The limits that a method's paper or default configuration names, and larger ones for today's models. */
export const limitProfiles = ['paper', 'modern'] as const;
export type LimitProfile = (typeof limitProfiles)[number];

/** What an agent may use on one instance. */
export interface AgentLimits {
  /** Answers of the model, those with format errors included. */
  readonly calls: number;
  /** Counts only where the price of the model is known. */
  readonly dollars: number;
  /** Seconds of one command. */
  readonly commandSeconds: number;
  /** Tokens of one request, by our tokenizer. */
  readonly contextTokens: number;
}

/** What an agent is told of its instance. */
export interface AgentTask {
  /** `owner/name`. */
  readonly repo: string;
  /** Untrusted. */
  readonly issue: string;
  /** Absolute path of R in the workspace. */
  readonly folder: string;
  readonly limits: AgentLimits;
}

/** What an agent keeps beside the files of the workspace. The trajectory has it after each turn. */
export interface AgentState {
  /** Folder of the shell. */
  readonly cwd: string;
  /** Absolute path of the file that a window shows. */
  readonly openFile?: string | undefined;
  /** Its first line in the window, 1-based. */
  readonly firstLine?: number | undefined;
}

/** An answer of the model, taken apart. */
export type ParsedAnswer =
  | { readonly thought: string; readonly action: string }
  /** The answer breaks the format: what the model is told. */
  | { readonly problem: string };

/** What came of an action. */
export interface AgentObservation {
  /** For the model, bounded. Untrusted. */
  readonly text: string;
  readonly state: AgentState;
  /** The agent submits what there is. */
  readonly isSubmission?: boolean;
}

/** One exchange that the history of the agent holds. */
export interface AgentTurn {
  /** The answer of the model, whole. */
  readonly answer: string;
  readonly observation: string;
}

/** What an action is done with. */
export interface ActionWork {
  readonly workspace: WorkspaceOnR;
  readonly task: AgentTask;
  readonly state: AgentState;
  readonly signal?: AbortSignal | undefined;
}

/**
 * An agent that exchanges plain text with a model: its prompts, its parser, its commands and its limits.
 * The loop (`agentRun.ts`) does everything else.
 */
export interface TextAgent {
  /** As the command line has it. */
  readonly name: string;
  /** As papers write it. */
  readonly title: string;
  /** One line for people who choose. */
  readonly description: string;
  /** Raised when a prompt, a command or a rule changes, so that no answer of before is used. */
  readonly version: number;
  readonly limits: Readonly<Record<LimitProfile, AgentLimits>>;
  readonly temperature: number;
  readonly topP: number | undefined;
  /** Format errors in a row that end the run. */
  readonly formatErrors: number;
  /** Whether an end that is no submission submits what there is. */
  readonly submitsAtEnd: boolean;
  system(task: AgentTask): string;
  /** The messages of the next request: the history rule of the agent. */
  messages(task: AgentTask, turns: readonly AgentTurn[]): ChatMessage[];
  parse(answer: string): ParsedAnswer;
  /** @throws SandboxUnusable when the workspace is gone, Cancelled */
  act(action: string, work: ActionWork): Promise<AgentObservation>;
}
