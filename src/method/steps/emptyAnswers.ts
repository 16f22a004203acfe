import type { AnswerStep } from '../trace';

/** Whether an answer calls a tool or says anything apart from its reasoning. */
export const hasContent = ({ text, calls = [] }: Pick<AnswerStep, 'text' | 'calls'>): boolean =>
  calls.length > 0 || text.trim() !== '';

/**
 * Whether an answer of the trace is used again, and not asked for again. An empty one is where an agent
 * went on after it, because everything after it depends on it.
 *
 * @param mostTries times that a request is sent while its answer has no text
 */
export const isUsable = (known: AnswerStep, mostTries: number): boolean =>
  known.hasCallsAsText !== true &&
  (hasContent(known) || (known.purpose === 'act' && (known.attempt ?? 1) % mostTries === 0));

/** Why an answer has no text, as far as the model says. */
export function whyWithoutText({
  finish,
  reasoning = [],
  reasoningTokens = 0,
  outputTokens,
}: Pick<AnswerStep, 'finish' | 'reasoning' | 'reasoningTokens' | 'outputTokens'>): string {
  if (finish === 'refused') return 'the model refused to answer';
  const isReasoning = reasoning.length > 0 || reasoningTokens > 0;
  if (finish !== 'length') {
    return isReasoning ? 'the answer contains only reasoning' : 'the answer is empty';
  }
  const what = isReasoning
    ? `all ${outputTokens} tokens of the answer went to reasoning`
    : `the answer is empty within ${outputTokens} tokens`;
  return `${what}: raise --max-output-tokens`;
}
