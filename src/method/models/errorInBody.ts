import type { Refusal } from './serverError';

/** Characters of a line in which an error is looked for. Errors are short, answers may be long. */
const longestLine = 65_536;

/**
 * Looks for an error inside of an answer with a good status, as OpenRouter and vLLM send it: as the
 * whole body, or as an event of a stream.
 *
 * @returns the answer to read instead, and what was found once it is read
 */
export function errorInBody(answer: Response): {
  readonly answer: Response;
  readonly refusal: () => Refusal | undefined;
} {
  if (!answer.ok || answer.body === null) return { answer, refusal: () => undefined };
  let found: Refusal | undefined;
  let line = '';
  const decoder = new TextDecoder();
  const take = (text: string): void => {
    const lines = (line + text).split('\n');
    line = (lines.pop() ?? '').slice(0, longestLine);
    for (const each of lines) found ??= refusalIn(each);
  };
  const looking = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (found === undefined) take(decoder.decode(chunk, { stream: true }));
      controller.enqueue(chunk);
    },
    flush() {
      found ??= refusalIn(line);
    },
  });
  const { status, statusText, headers } = answer;
  return {
    answer: new Response(answer.body.pipeThrough(looking), { status, statusText, headers }),
    refusal: () => found,
  };
}

function refusalIn(line: string): Refusal | undefined {
  const text = line.replace(/^data:/, '').trim();
  if (!text.startsWith('{') || !text.includes('"error"')) return undefined;
  try {
    const { error, choices } = JSON.parse(text) as { error?: unknown; choices?: unknown };
    const isAnswer = error === undefined || error === null || error === '' || hasText(choices);
    return isAnswer ? undefined : { status: undefined, body: { error } };
  } catch {
    return undefined;
  }
}

/** OpenRouter puts an error beside a choice that is empty. */
const hasText = (choices: unknown): boolean =>
  Array.isArray(choices) &&
  choices.some((each: { finish_reason?: unknown } | null) => each?.finish_reason === 'stop');
