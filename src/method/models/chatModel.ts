import { HumanError } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What a model is asked for. */
export interface ChatRequest {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  /** Undefined leaves it to whoever serves the model. */
  readonly temperature: number | undefined;
  readonly maxOutputTokens: number;
}

/** How an answer ended: by itself, at the limit of its length, or since the model would not answer. */
export const finishes = ['stop', 'length', 'refused', 'other'] as const;
export type Finish = (typeof finishes)[number];

export interface ModelAnswer {
  /** Untrusted, and empty when the model said nothing. */
  readonly text: string;
  readonly finish: Finish;
  readonly inputTokens: number;
  /** With what the model thought, where that is paid for. */
  readonly outputTokens: number;
  /** The server did not count: both numbers are those of a tokenizer that may not be the model's. */
  readonly isEstimate?: boolean;
  /** Undefined where no price is known. */
  readonly dollars?: number;
}

export interface ModelWork {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** Called with each piece of the answer as it comes; a try that failed is begun anew. */
  readonly onText?: ((piece: string) => void) | undefined;
}

/** A language model that answers in text. */
export interface ChatModel {
  /** `PROVIDER/NAME`. */
  readonly name: string;
  /**
   * @throws ModelFailure when there is no answer to this request, ModelUnusable when there will be none
   *   to any, Cancelled
   */
  complete(request: ChatRequest, work: ModelWork): Promise<ModelAnswer>;
}

/** One request has no answer, after all tries. Others may have one. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
}

/** No request will have an answer: a wrong key, an unknown model, an empty account. */
export class ModelUnusable extends HumanError {}
