import { HumanError, type Reporter } from '../../domain/work';
import type { TokenCounts } from './budget';
import type { Reasoning } from './reasoning';

/** A tool that a request offers to the model. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A call of a tool that a model asks for. Nothing has checked it. */
export interface ToolCall {
  /** Joins the call and its result in a conversation. */
  readonly id: string;
  readonly name: string;
  /** Untrusted. Undefined when the arguments are no JSON, as in an answer that was cut off. */
  readonly input?: unknown;
  /** What the provider wants back with the call, such as the signature of a thought (Gemini). */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** The outcome of a call, for the model. */
export interface ToolCallResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Of the assistant: its reasoning, which some providers want back. */
  readonly reasoning?: readonly Reasoning[];
  /** Of the assistant: its calls of tools, which the next message answers. */
  readonly calls?: readonly ToolCall[];
  /** Of the user: results of all calls in the message before. The content is then empty. */
  readonly results?: readonly ToolCallResult[];
}

/** What a run may add to all of its requests. It changes the answers. */
export interface RequestSettings {
  /** Nucleus sampling; undefined leaves it to the method, and that to the provider. */
  readonly topP?: number | undefined;
  /** How much a model that reasons shall reason, in the provider's word. */
  readonly reasoningEffort?: string | undefined;
  /** Further fields of the request's body, in the provider's format. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** One request to a model. */
export interface ChatRequest extends RequestSettings {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  /** Undefined leaves it to the server. */
  readonly temperature: number | undefined;
  readonly maxOutputTokens: number;
  /** JSON schema of an answer that is JSON, for servers that can be held to one. */
  readonly answerSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Tools that the model may call; none by default. */
  readonly tools?: readonly OfferedTool[] | undefined;
  /** Whether further requests begin with the same text, so that a provider should cache it. */
  readonly isReused?: boolean | undefined;
}

/** How an answer ended: on its own, at the length limit, because the model refused, or otherwise. */
export const finishes = ['stop', 'length', 'refused', 'other'] as const;
export type Finish = (typeof finishes)[number];

export interface ModelAnswer extends TokenCounts {
  /** Untrusted, and empty when the model said nothing. */
  readonly text: string;
  /** Calls of the offered tools; absent when there are none. */
  readonly calls?: readonly ToolCall[];
  readonly finish: Finish;
  /** What the model thought before; absent when it does not say. */
  readonly reasoning?: readonly Reasoning[];
  /** How the request that was sent in the end differs from the one asked for, in words. */
  readonly changes?: readonly string[];
  /** The limit of this answer, where it differs from the one asked for. */
  readonly sentMaxOutputTokens?: number;
  /**
   * Whether the server did not count; both numbers then come from a tokenizer that may not be the
   * model's.
   */
  readonly isEstimate?: boolean;
  /** Undefined where no price is known. */
  readonly dollars?: number;
}

export interface ModelWork {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** The most tokens that the request can take, for limits; counted by the model when absent. */
  readonly mostTokens?: number;
  /** Called with each piece of the answer as it arrives; a retry starts the answer again. */
  readonly onText?: ((piece: string) => void) | undefined;
}

/** A language model that answers in text, and by calls of tools where a request offers some. */
export interface ChatModel {
  /** `PROVIDER/NAME`. */
  readonly name: string;
  /**
   * @throws ModelFailure when this request gets no answer, ModelUnusable when no request will get
   *   one, as when the model cannot call the offered tools; Cancelled
   */
  complete(request: ChatRequest, work: ModelWork): Promise<ModelAnswer>;
  /**
   * The most tokens that a prompt may have by our tokenizer beside such an answer; undefined where
   * the window is unknown. It falls when a server refuses a prompt as too long.
   */
  room?(maxOutputTokens: number): number | undefined;
  /** The server's tokens for one of ours, as far as it has counted. */
  readonly ratio?: number;
}

/** One request got no answer in any of its tries. Other requests may get one. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
}

/** The prompt is longer than the model's window, which `room` of the model now knows. */
export class ContextExceeded extends ModelFailure {}

/** No request will get an answer: a wrong key, an unknown model, an empty account. */
export class ModelUnusable extends HumanError {}

/** The model, or its server, takes no requests with tools. */
export class CallsNoTools extends ModelUnusable {
  /** @param said its own words */
  constructor(name: string, said: string) {
    super(
      `${name} does not support tool calls (${said})`,
      'Choose a model that does, or a method that exchanges text, such as zero-shot-plus or libro',
    );
  }
}
