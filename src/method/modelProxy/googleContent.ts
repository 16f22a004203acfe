import type { ToolCall } from '../models/chatModel';
import {
  countOf,
  fieldsOf,
  isFields,
  keepTools,
  listOf,
  stringOrEmpty,
  withoutFields,
  withoutFollowedLinks,
  type AnswerReader,
  type AskedText,
  type JsonFields,
  type ModelApi,
  type SaidByModel,
} from './modelApi';

const path = /\/models\/[^/:]+:(generateContent|streamGenerateContent|countTokens)$/;

/** https://ai.google.dev/api/generate-content */
export const googleContent: ModelApi = {
  providers: ['google'],
  asked(of) {
    const [, verb] = path.exec(of) ?? [];
    if (verb === undefined) return undefined;
    const isStream = verb === 'streamGenerateContent';
    return { action: verb === 'countTokens' ? 'count' : 'generate', isStream };
  },
  pathOf(model, { action, isStream }) {
    const to = `/models/${encodeURIComponent(model)}`;
    if (action === 'count') return `${to}:countTokens`;
    return isStream ? `${to}:streamGenerateContent?alt=sse` : `${to}:generateContent`;
  },
  headers: [],
  restrict(body, { mostOutput }) {
    body['generationConfig'] = settingsOf(body, mostOutput);
    const isLink = (part: JsonFields): boolean => 'fileData' in part || 'file_data' in part;
    return [
      ...withoutFields(body, unsent),
      ...keepTools(body, 'tools', ownTool),
      ...withoutFollowedLinks(
        body,
        ['contents', 'systemInstruction', 'system_instruction'],
        isLink,
        (text) => ({ text }),
      ),
    ];
  },
  mostOutput: (body) => countOf(fieldsOf(body['generationConfig'])['maxOutputTokens']) ?? 0,
  askedText,
  reader: () => new ContentReader(),
  error: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
};

/** JsonFields with a state of the account, or that cost more. The path has the model. */
const unsent = ['cachedContent', 'cached_content', 'model', 'serviceTier', 'service_tier'];

/** The settings of a request, which may have either spelling, with a limit and for one answer. */
function settingsOf(body: JsonFields, mostOutput: number): JsonFields {
  const snake = fieldsOf(body['generation_config']);
  delete body['generation_config'];
  const settings = { ...snake, ...fieldsOf(body['generationConfig']) };
  const most = countOf(settings['maxOutputTokens'] ?? settings['max_output_tokens']) ?? mostOutput;
  withoutFields(settings, ['max_output_tokens', 'candidateCount', 'candidate_count']);
  return { ...settings, maxOutputTokens: most };
}

/** Of a tool, the functions that the agent itself does. */
function ownTool(tool: JsonFields): JsonFields | undefined {
  const functions = tool['functionDeclarations'] ?? tool['function_declarations'];
  return Array.isArray(functions) ? { functionDeclarations: functions } : undefined;
}

function askedText(body: JsonFields): AskedText {
  const system = fieldsOf(body['systemInstruction'] ?? body['system_instruction']);
  return {
    system: textOfParts(system['parts']),
    messages: listOf(body['contents']).map((each) => {
      const { role, parts } = fieldsOf(each);
      return { role: role === 'model' ? 'assistant' : 'user', content: textOfParts(parts) };
    }),
  };
}

const textOfParts = (parts: unknown): string =>
  listOf(parts)
    .map((each) => {
      const part = fieldsOf(each);
      return typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part);
    })
    .join('\n');

class ContentReader implements AnswerReader {
  private text = '';
  private reason = '';
  private usage: JsonFields = {};
  private readonly calls: ToolCall[] = [];

  take(data: unknown): void {
    // Without `alt=sse` a stream is one list.
    if (Array.isArray(data)) return data.forEach((each) => this.take(each));
    const { candidates, usageMetadata: usage } = fieldsOf(data);
    if (isFields(usage)) this.usage = usage;
    const { content, finishReason: reason } = fieldsOf(listOf(candidates)[0]);
    this.reason = stringOrEmpty(reason) || this.reason;
    for (const each of listOf(fieldsOf(content)['parts'])) {
      const { text, thought, functionCall: call } = fieldsOf(each);
      if (thought !== true) this.text += stringOrEmpty(text);
      if (!isFields(call)) continue;
      const id = stringOrEmpty(call['id']) || String(this.calls.length + 1);
      this.calls.push({ id, name: stringOrEmpty(call['name']), input: call['args'] ?? {} });
    }
  }

  get said(): SaidByModel {
    const of = (name: string): number => countOf(this.usage[name]) ?? 0;
    const input = of('promptTokenCount') + of('toolUsePromptTokenCount');
    const thought = of('thoughtsTokenCount');
    const output = of('candidatesTokenCount') + thought;
    const cached = of('cachedContentTokenCount');
    return {
      ...{ text: this.text, calls: this.calls, finish: this.finish() },
      // The numbers of a stream grow; its last part has the whole.
      usage:
        input === 0 || this.reason === ''
          ? undefined
          : {
              ...{ inputTokens: input, outputTokens: output },
              ...(thought > 0 && { reasoningTokens: thought }),
              ...(cached > 0 && { cachedInputTokens: cached }),
            },
    };
  }

  private finish(): SaidByModel['finish'] {
    if (this.reason === 'STOP') return 'stop';
    if (this.reason === 'MAX_TOKENS') return 'length';
    return /SAFETY|PROHIBITED|BLOCK/.test(this.reason) ? 'refused' : 'other';
  }
}
