import { HumanError } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** One request to a model. */
export interface ChatRequest {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  /** Undefined leaves it to the server. */
  readonly temperature: number | undefined;
  /** Nucleus sampling; undefined leaves it to the provider. */
  readonly topP?: number | undefined;
  readonly maxOutputTokens: number;
}

/** How an answer ended: by itself, at the length limit, because the model refused, or otherwise. */
export const finishes = ['stop', 'length', 'refused', 'other'] as const;
export type Finish = (typeof finishes)[number];

export interface ModelAnswer {
  /** Untrusted, and empty when the model said nothing. */
  readonly text: string;
  readonly finish: Finish;
  readonly inputTokens: number;
  /** Includes the model's reasoning, where that is paid for. */
  readonly outputTokens: number;
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
  /** Called with each piece of the answer as it arrives; a retry starts the answer anew. */
  readonly onText?: ((piece: string) => void) | undefined;
}

/** A language model that answers in text. */
export interface ChatModel {
  /** `PROVIDER/NAME`. */
  readonly name: string;
  /**
   * @throws ModelFailure when this request gets no answer, ModelUnusable when no request will get
   *   one, Cancelled
   */
  complete(request: ChatRequest, work: ModelWork): Promise<ModelAnswer>;
}

/** One request got no answer in any of its tries. Other requests may get one. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
}

/** No request will get an answer: a wrong key, an unknown model, an empty account. */
export class ModelUnusable extends HumanError {}
