import { inputTokensOf } from '../models/answering';
import { ContextExceeded, type ChatMessage, type ChatRequest } from '../models/chatModel';
import type { Asked, Steps } from '../steps/steps';
import type { MadeAct } from './agentRun';
import { readTests } from '../steps/readPatch';
import { keyOf, type ActStep, type AnswerStep, type PatchStep } from '../trace';

/** A turn of an agent: its request, and what it did with the answer. */

type HistoryRequest = Pick<ChatRequest, 'system' | 'answerSchema' | 'messages'> & {
  readonly tools?: NonNullable<ChatRequest['tools']>;
};

/**
 * Asks with a history that has room in the model's window: with all of it, or else with the latest
 * observations alone. A history that the trace has an answer to is sent as it was then.
 *
 * @param of all that the answers of the agent depend on, and the number of this one
 * @throws ContextExceeded when not even the latest one fits
 */
export async function askWithHistory(
  steps: Steps,
  { messages: all, ...rest }: HistoryRequest,
  of: (messages: readonly ChatMessage[]) => readonly unknown[],
  agent: Pick<Asked, 'method' | 'temperature' | 'topP'>,
): Promise<AnswerStep> {
  // The next request has the same history, and more.
  const asked = { ...agent, sample: 1, isReused: true };
  const requests = shorterHistories(all).map((messages) => ({
    ...{ ...rest, messages },
    prompt: keyOf('prompt', ...of(messages)),
  }));
  const known = requests.find((request) => steps.known('act', request, asked) !== undefined);
  if (known !== undefined) return steps.ask('act', known, asked);
  let refused: ContextExceeded | undefined;
  for (const request of requests) {
    const room = steps.room();
    const { messages } = request;
    const size = { ...rest, messages, temperature: undefined, maxOutputTokens: 0 };
    if (room !== undefined && (await inputTokensOf(size)) > room) continue;
    try {
      return await steps.ask('act', request, asked);
    } catch (error) {
      if (!(error instanceof ContextExceeded)) throw error;
      refused = error;
    }
  }
  throw (
    refused ??
    new ContextExceeded(`the history does not fit into the available ${steps.room() ?? 0} tokens`)
  );
}

/** Called with what differs from R after an action of an agent, each time that it changes. */
export type OnPatch = ((answer: AnswerStep, patch: PatchStep) => void) | undefined;

/**
 * Carries out an agent's action, or takes it from the trace, and reports it.
 *
 * @param before the act before it
 */
export async function recallAct(
  steps: Steps,
  key: string,
  {
    agent,
    answer,
    before,
  }: Pick<ActStep, 'agent'> & {
    readonly answer: AnswerStep;
    readonly before: ActStep | undefined;
  },
  { make, onPatch }: { readonly make: () => Promise<MadeAct>; readonly onPatch: OnPatch },
): Promise<ActStep> {
  const { model, onAct } = steps.parts;
  const act = await steps.recall('act', key, async () => ({
    ...{ agent, model, answer: answer.key },
    ...(await make()),
  }));
  onAct?.(act);
  const isNew = act.patch !== '' && act.patch !== before?.patch;
  if (isNew) onPatch?.(answer, await readTests(steps, act.patch, answer));
  return act;
}

/** Stands for an observation that a model's window has no room for. */
const leftOutObservation = '[This output was removed because the history is too long.]';

/** How many of the latest observations stay whole, one history after the other. */
const stay = [5, 2, 1];

/**
 * A history as it is, and then with fewer and fewer of its older observations in full. The first
 * message, the answers of the model and the latest observation are in each.
 */
function shorterHistories(messages: readonly ChatMessage[]): readonly (readonly ChatMessage[])[] {
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
