import type { AssistantContent, ModelMessage, ToolSet } from 'ai';
import { redactKeys } from '../../engine/keysInUse';
import type { ChatMessage, OfferedTool, ToolCall } from './chatModel';

type ProviderOptions = NonNullable<ModelMessage['providerOptions']>;

/** A message as the `ai` package takes it, without keys in use. */
export function messageForAi(message: ChatMessage): ModelMessage {
  const { role, content, calls, results, reasoning = [] } = message;
  if (results !== undefined) {
    return {
      role: 'tool',
      content: results.map(({ id, name, text, isError }) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: name,
        output: { type: isError ? 'error-text' : 'text', value: redactKeys(text) },
      })),
    };
  }
  if (role === 'user' || calls === undefined) return { role, content: redactKeys(content) };
  const parts: Exclude<AssistantContent, string> = calls.map(({ id, name, input, metadata }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: argumentsOf({ input }),
    ...(metadata !== undefined && { providerOptions: metadata as ProviderOptions }),
  }));
  // Anthropic refuses a part without a text.
  const text = content === '' ? [] : [{ type: 'text', text: redactKeys(content) } as const];
  const thoughts = reasoning
    .filter(({ isFromText }) => isFromText !== true)
    .map(({ text: thought, metadata }) => ({
      type: 'reasoning' as const,
      text: redactKeys(thought),
      ...(metadata !== undefined && { providerOptions: metadata as ProviderOptions }),
    }));
  return { role, content: [...thoughts, ...text, ...parts] };
}

/**
 * The arguments of a call for a history, without keys in use. Providers take an object only; what else a
 * model wrote is told in the result of the call.
 */
export const argumentsOf = ({ input }: Pick<ToolCall, 'input'>): object =>
  typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (JSON.parse(redactKeys(JSON.stringify(input))) as object)
    : {};

/** The tools for a request. They have no `execute`, so that the package calls none of them. */
export async function toolsForAi(offered: readonly OfferedTool[]): Promise<ToolSet> {
  const { jsonSchema } = await import('ai');
  return Object.fromEntries(
    offered.map(({ name, description, inputSchema }) => [
      name,
      { description, inputSchema: jsonSchema(inputSchema) },
    ]),
  );
}

/** A call as the package reports it. */
interface ReportedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** The tool is unknown, or the input is no JSON; in the second case it is the text itself. */
  readonly invalid?: boolean | undefined;
  readonly providerMetadata?: Record<string, unknown> | undefined;
}

export function callOf(reported: ReportedCall): ToolCall {
  const { toolCallId: id, toolName: name, input, invalid, providerMetadata } = reported;
  const isReadable = invalid !== true || typeof input !== 'string';
  return {
    id,
    name,
    ...(isReadable && { input: input ?? {} }),
    ...(providerMetadata !== undefined && { metadata: providerMetadata as ToolCall['metadata'] }),
  };
}

/** All that a model reads of a message, for counting its tokens. */
export const textOfMessage = (message: ChatMessage): string => {
  const { content, calls = [], results = [], reasoning = [] } = message;
  return [
    ...reasoning.filter(({ isFromText }) => isFromText !== true).map(({ text }) => text),
    ...(content === '' ? [] : [content]),
    ...calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`),
    ...results.map(({ text }) => text),
  ].join('\n');
};
