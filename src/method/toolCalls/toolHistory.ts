import { textOfMessage } from '../models/toolMessages';
import type { ChatMessage, ModelAnswer, ToolCall, ToolCallResult } from '../models/chatModel';
import type { CountTokens } from '../prompt/tokens';

/** Replaces a result that was removed to make room for later ones. */
export const leftOutResult =
  '[This result was removed to save space. Make the call again if you need it.]';

/** Tokens that the frame of a message takes. */
const frame = 8;

/**
 * The part of a full history that stays. A request that begins as the one before is cheaper, so many
 * results leave at once and not a few before each request.
 */
const shareThatStays = 0.75;

/** The conversation with a model that calls tools: its answers, and the results of its calls. */
export class ToolHistory {
  private readonly list: ChatMessage[];
  private readonly counted = new WeakMap<ChatMessage, number>();

  constructor(first: ChatMessage) {
    this.list = [first];
  }

  get messages(): readonly ChatMessage[] {
    return [...this.list];
  }

  /**
   * Adds an answer and what the model gets for it. A call that was not whole is not in it, since
   * providers refuse arguments that are no JSON.
   *
   * @param calls those of the answer that were whole
   * @param results one for each call
   * @param note a message for the model
   */
  add(
    { text, reasoning }: { text: string; reasoning?: ModelAnswer['reasoning'] | undefined },
    calls: readonly ToolCall[],
    results: readonly ToolCallResult[],
    note: string | undefined,
  ): void {
    const last = results.at(-1);
    if (last === undefined) {
      // Providers refuse messages without a text.
      this.list.push({ role: 'assistant', content: text.trim() === '' ? '(no text)' : text });
      if (note !== undefined) this.list.push({ role: 'user', content: note });
      return;
    }
    // The note is a part of a result: some providers refuse a text between results and an answer.
    const noted = note === undefined ? last : { ...last, text: `${last.text}\n\n${note}` };
    this.list.push(
      { role: 'assistant', content: text, ...(reasoning !== undefined && { reasoning }), calls },
      { role: 'user', content: '', results: [...results.slice(0, -1), noted] },
    );
  }

  /**
   * Replaces results, the oldest first, when there are more tokens than the history may have.
   *
   * @returns whether it now fits
   */
  makeRoom(most: number, count: CountTokens): boolean {
    const tokensOf = (message: ChatMessage): number => {
      const tokens = this.counted.get(message) ?? count(textOfMessage(message)) + frame;
      this.counted.set(message, tokens);
      return tokens;
    };
    let total = this.list.reduce((sum, message) => sum + tokensOf(message), 0);
    if (total <= most) return true;
    for (const [at, message] of this.list.entries()) {
      // The model still waits for the results of the last calls.
      if (total <= most * shareThatStays || at === this.list.length - 1) break;
      if (message.results === undefined) continue;
      const short: ChatMessage = {
        ...message,
        results: message.results.map((each) => ({ ...each, text: leftOutResult })),
      };
      total += tokensOf(short) - tokensOf(message);
      this.list[at] = short;
    }
    return total <= most;
  }
}
