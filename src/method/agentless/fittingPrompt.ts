import type { Prompt } from '../prompt/prompts';
import { tokenCounter, type CountTokens } from '../prompt/tokens';
import type { StageWork } from './stageWork';

/** As much of some texts as fits. */
interface FittingText {
  readonly texts: readonly string[];
  /** Whether something is left out. */
  readonly isCut: boolean;
}

/**
 * The first of some texts that fit into a budget together. Where not even the first does, its first
 * lines.
 *
 * @param budget tokens
 */
export function fittingText(
  texts: readonly string[],
  budget: number,
  count: CountTokens,
): FittingText {
  const kept: string[] = [];
  let left = budget;
  for (const text of texts) {
    left -= count(text);
    if (left < 0) break;
    kept.push(text);
  }
  const [first = ''] = texts;
  if (kept.length > 0 || first === '') return { texts: kept, isCut: kept.length < texts.length };
  const lines: string[] = [];
  let free = budget;
  for (const line of first.split('\n')) {
    free -= count(`${line}\n`);
    if (free < 0) break;
    lines.push(line);
  }
  return { texts: lines.length === 0 ? [] : [lines.join('\n')], isCut: true };
}

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
      `a prompt shows only part of the code, because --context-tokens is ${steps.contextTokens}`,
    );
  }
  return write(fitting.texts);
}
