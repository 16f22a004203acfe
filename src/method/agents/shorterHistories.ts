import type { ChatMessage } from '../models/chatModel';

/** Stands for an observation that a model's window has no room for. */
export const leftOutObservation = '[This output was left out, since the history is too long.]';

/** How many of the latest observations stay whole, one history after the other. */
const stay = [5, 2, 1];

/**
 * A history as it is, and then with fewer and fewer of its older observations in full. The first
 * message, the answers of the model and the latest observation are in each.
 */
export function shorterHistories(
  messages: readonly ChatMessage[],
): readonly (readonly ChatMessage[])[] {
  const observations = messages.flatMap(({ role }, at) => (role === 'user' && at > 0 ? [at] : []));
  return [
    messages,
    ...stay
      .filter((count) => observations.length > count)
      .map((count) => {
        const old = new Set(observations.slice(0, -count));
        return messages.map((message, at) => (old.has(at) ? withoutOutput(message) : message));
      }),
  ];
}

function withoutOutput(message: ChatMessage): ChatMessage {
  const { results } = message;
  return results === undefined
    ? { ...message, content: leftOutObservation }
    : { ...message, results: results.map((each) => ({ ...each, text: leftOutObservation })) };
}
