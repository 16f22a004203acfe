import { z } from 'zod';
import { parseForeignJson } from '../../files/json';

/** Content of a message: a text, or parts of which only texts are read. */
export const messageContent = z.union([
  z.string(),
  z.null(),
  z.array(z.union([z.string(), z.looseObject({ text: z.string().optional().catch(undefined) })])),
]);

/** The text of a message's content. */
export function messageText(content: z.infer<typeof messageContent> | undefined): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  return content
    .map((part) => (typeof part === 'string' ? part : (part.text ?? '')))
    .filter((part) => part !== '')
    .join('\n');
}

/** A call of a tool in OpenAI's form. */
export const toolCall = z.looseObject({
  function: z
    .looseObject({ name: z.string().catch(''), arguments: z.unknown().optional() })
    .optional()
    .catch(undefined),
});

/**
 * The arguments of a call as lines for people, and the command where it is a call of a shell.
 *
 * @param given an object, or JSON of one
 */
export function callText(name: string, given: unknown): string {
  const value = typeof given === 'string' ? parsedOr(given) : given;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [name, typeof value === 'string' ? value : JSON.stringify(value ?? '')]
      .join('\n')
      .trim();
  }
  const fields = Object.entries(value).filter(
    ([, field]) => field !== null && field !== undefined && field !== '',
  );
  const [only] = fields;
  if (fields.length === 1 && only !== undefined && only[0] === 'command') return String(only[1]);
  const shown = fields.map(([key, field]) => {
    const text = typeof field === 'string' ? field : JSON.stringify(field);
    return text.includes('\n') ? `${key}:\n${text}` : `${key}: ${text}`;
  });
  return [name, ...shown].filter((line) => line !== '').join('\n');
}

function parsedOr(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return text;
  }
}
