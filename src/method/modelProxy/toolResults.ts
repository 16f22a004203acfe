import { fieldsOf, isFields, listOf, stringOrEmpty, type JsonFields } from './jsonFields';

/** What came of a call of a tool, as an agent tells its model. Untrusted. */
export interface ToolResult {
  /** Id of the call; empty where the request has none. */
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/**
 * The results that a request adds to the conversation: those after the last answer of the model, in
 * their order, whatever the provider's API.
 */
export function newToolResults(body: JsonFields): readonly ToolResult[] {
  const turns = [body['messages'], body['input'], body['contents']].find(Array.isArray) ?? [];
  const items = turns.map(fieldsOf);
  return items.slice(items.findLastIndex(isOfModel) + 1).flatMap(resultsIn);
}

/** Whether a part of the conversation is the model's. */
const isOfModel = ({ role, type }: JsonFields): boolean =>
  role === 'assistant' ||
  role === 'model' ||
  ['function_call', 'custom_tool_call', 'local_shell_call', 'reasoning'].includes(
    stringOrEmpty(type),
  );

/** The results in one part of the conversation. */
function resultsIn(item: JsonFields): ToolResult[] {
  // OpenAI's chat
  if (item['role'] === 'tool') {
    return [
      { id: stringOrEmpty(item['tool_call_id']), text: textIn(item['content']), isError: false },
    ];
  }
  // OpenAI's responses
  if (/_call_output$/.test(stringOrEmpty(item['type']))) {
    return [{ id: stringOrEmpty(item['call_id']), text: textIn(item['output']), isError: false }];
  }
  return [...listOf(item['content']), ...listOf(item['parts'])].flatMap((each) => {
    const part = fieldsOf(each);
    if (part['type'] === 'tool_result') {
      const id = stringOrEmpty(part['tool_use_id']);
      return [{ id, text: textIn(part['content']), isError: part['is_error'] === true }];
    }
    const google = part['functionResponse'] ?? part['function_response'];
    if (!isFields(google)) return [];
    const response = fieldsOf(google['response']);
    const isError = 'error' in response;
    const text = textIn(isError ? response['error'] : (response['output'] ?? response['result']));
    return [{ id: stringOrEmpty(google['id']), text: text || JSON.stringify(response), isError }];
  });
}

/** The text of a result, which may be in parts. */
function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => stringOrEmpty(fieldsOf(part)['text']))
    .filter((text) => text !== '')
    .join('\n');
}
