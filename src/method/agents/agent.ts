import type { ChatMessage } from '../models/chatModel';
import type { FilesOnR } from './filesOnR';
import type { WorkDone, WorkspaceOnR } from './workspaceOnR';
import type { FilesState, ShellState } from '../traces/traceSteps';

/** The limits that a method's paper or default configuration names, and larger ones for today's models. */
export const limitProfiles = ['paper', 'modern'] as const;
export type LimitProfile = (typeof limitProfiles)[number];

/** What an agent may use on one instance. */
export interface AgentLimits {
  /** Answers of the model, those with format errors included. */
  readonly calls: number;
  /** Counts only where the price of the model is known. */
  readonly dollars: number;
  /** Tokens of one request, by our tokenizer. */
  readonly contextTokens: number;
}

interface ShellLimits extends AgentLimits {
  /** Seconds of one command. */
  readonly commandSeconds: number;
}

interface FilesLimits extends AgentLimits {
  /** What the agent counts as a round, such as one request for searches. */
  readonly rounds: number;
}

/** What an agent knows about its instance. */
interface AgentTask {
  /** `owner/name`. */
  readonly repo: string;
  /** Untrusted. */
  readonly issue: string;
  readonly limits: AgentLimits;
}

export interface ShellTask extends AgentTask {
  /** Absolute path of R in the workspace. */
  readonly folder: string;
  readonly limits: ShellLimits;
}

export interface FilesTask extends AgentTask {
  readonly limits: FilesLimits;
}

type AgentState = ShellState | FilesState;

/** What an agent works on. Its state can be taken as a patch on R, and made again from one. */
interface AgentWorkspace {
  done(signal?: AbortSignal): Promise<WorkDone>;
  /** Puts R back, and makes what a patch of {@link done} says. */
  restore(patch: string, state: AgentState, signal?: AbortSignal): Promise<void>;
  dispose(): Promise<void>;
}

/** The types of what an agent works with. */
export interface AgentKind {
  readonly workspace: AgentWorkspace;
  readonly task: AgentTask;
  readonly state: AgentState;
}

/** Commands in a container. */
interface ShellKind extends AgentKind {
  readonly workspace: WorkspaceOnR;
  readonly task: ShellTask;
  readonly state: ShellState;
}

/** Reading, searching and editing files, without a container. */
interface FilesKind extends AgentKind {
  readonly workspace: FilesOnR;
  readonly task: FilesTask;
  readonly state: FilesState;
}

/** An answer of the model, taken apart. */
export type ParsedAnswer =
  | { readonly thought: string; readonly action: string }
  /** The answer breaks the format: the message for the model. */
  | { readonly problem: string };

/** The outcome of an action. */
export interface AgentObservation<State extends AgentState> {
  /** For the model, bounded. Untrusted. */
  readonly text: string;
  readonly state: State;
  /** The agent submits what there is. */
  readonly isSubmission?: boolean;
  /** The agent has no try left. */
  readonly isGivenUp?: boolean;
}

/** One exchange that the history of the agent holds. */
export interface AgentTurn<State extends AgentState = AgentState> {
  /** The answer of the model, whole. */
  readonly answer: string;
  readonly observation: string;
  /** The state after the action. */
  readonly state: State;
}

/** What an action is done with. */
interface ActionWork<Kind extends AgentKind> {
  readonly workspace: Kind['workspace'];
  readonly task: Kind['task'];
  readonly state: Kind['state'];
  readonly signal?: AbortSignal | undefined;
}
export type ShellWork = ActionWork<ShellKind>;
export type FilesWork = ActionWork<FilesKind>;

/**
 * An agent that exchanges plain text with a model: its prompts, its parser, its commands and its limits.
 * The loop (`agentRun.ts`) does everything else.
 */
export interface AgentOf<Kind extends AgentKind> {
  /** As on the command line. */
  readonly name: string;
  /** As papers write it. */
  readonly title: string;
  /** One line for people who choose. */
  readonly description: string;
  /** Raised when a prompt, a command or a rule changes, so that no answer of before is used. */
  readonly version: number;
  readonly limits: Readonly<Record<LimitProfile, Kind['task']['limits']>>;
  readonly temperature: number;
  readonly topP: number | undefined;
  /** Format errors in a row that end the run. */
  readonly formatErrors: number;
  /** Whether an end that is no submission submits what there is. */
  readonly submitsAtEnd: boolean;
  system(task: Kind['task'], state: Kind['state']): string;
  /** The messages of the next request: the history rule of the agent. */
  messages(
    task: Kind['task'],
    turns: readonly AgentTurn<Kind['state']>[],
    state: Kind['state'],
  ): ChatMessage[] | Promise<ChatMessage[]>;
  /** JSON schema of the next answer, where it is JSON. */
  readonly answerSchema?: (state: Kind['state']) => Readonly<Record<string, unknown>> | undefined;
  parse(answer: string, state: Kind['state']): ParsedAnswer;
  /** @throws SandboxUnusable when the workspace is gone, Cancelled */
  act(action: string, work: ActionWork<Kind>): Promise<AgentObservation<Kind['state']>>;
}

/** An agent that runs commands, so that it needs a container. */
export interface ShellAgent extends AgentOf<ShellKind> {
  readonly needs: 'shell';
}

/** An agent that needs the files of R alone, and runs nothing. */
export interface FilesAgent extends AgentOf<FilesKind> {
  readonly needs: 'files';
  /** The state before the first turn. */
  begin(work: Omit<FilesWork, 'state'>): Promise<FilesState>;
}

export type TextAgent = ShellAgent | FilesAgent;
