import type { Prompt } from '../prompts';
import { tokenCounter } from '../tokens';
import type { StageWork } from './stageWork';
import { fittingText } from './fittingText';

/** A prompt with as many of the texts as `--context-tokens` lets in; the rest is said in the log. */
export async function fittingPrompt(
  { steps }: Pick<StageWork, 'steps'>,
  texts: readonly string[],
  write: (texts: readonly string[]) => Prompt,
): Promise<Prompt> {
  const count = await tokenCounter();
  const { system, messages } = write([]);
  const frame = count(system) + messages.reduce((sum, { content }) => sum + count(content), 32);
  const fitting = fittingText(texts, steps.contextTokens - frame, count);
  if (fitting.isCut) {
    steps.tell(
      `a prompt shows only a part of the code: --context-tokens is ${steps.contextTokens}`,
    );
  }
  return write(fitting.texts);
}
