import type { ToolCall } from '../models/chatModel';
import { countOf, fieldsOf, isFields, listOf, stringOrEmpty, type JsonFields } from './jsonFields';
import type { AnswerReader, AskedText, ModelApi, SaidByModel } from './modelApi';
import {
  anything,
  either,
  flag,
  image,
  list,
  matching,
  number,
  object as plainObject,
  oneOf,
  parts,
  refused,
  text,
  tools,
  when,
  type Shape,
} from './requestShape';

const path = /\/models\/[^/:]+:(generateContent|streamGenerateContent|countTokens)$/;

/** The API takes names in either spelling; those with humps are sent. */
const humped = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const object = (fields: Readonly<Record<string, Shape>>): Shape => plainObject(fields, humped);

const isOneOf =
  (...names: readonly string[]) =>
  (value: JsonFields): boolean =>
    Object.keys(value).some((name) => names.includes(humped(name)));

const inlineImage = when(
  (part) => {
    const { mimeType, mime_type: type = mimeType } = fieldsOf(
      part['inlineData'] ?? part['inline_data'],
    );
    return /^image\//i.test(stringOrEmpty(type));
  },
  image(object({ inlineData: object({ mimeType: text, data: text, displayName: text }) })),
);

const part = either(
  inlineImage,
  when(
    isOneOf('text', 'functionCall', 'functionResponse', 'thoughtSignature'),
    object({
      text,
      thought: flag,
      thoughtSignature: text,
      functionCall: object({ id: text, name: text, args: anything }),
      functionResponse: object({
        id: text,
        name: text,
        response: anything,
        parts: list(inlineImage),
      }),
    }),
  ),
);

const content = object({
  role: oneOf('user', 'model', 'function', 'system'),
  parts: parts(part, (said) => ({ text: said })),
});

/** Of a tool, the functions that the agent itself does. */
const tool = when(
  isOneOf('functionDeclarations'),
  object({
    functionDeclarations: list(
      object({
        name: text,
        description: text,
        parameters: anything,
        parametersJsonSchema: anything,
        response: anything,
        responseJsonSchema: anything,
        behavior: text,
      }),
    ),
  }),
);

/** Settings of one answer in text. */
const settings = object({
  temperature: number,
  topP: number,
  topK: number,
  seed: number,
  candidateCount: oneOf(1),
  maxOutputTokens: number,
  stopSequences: list(text),
  presencePenalty: number,
  frequencyPenalty: number,
  responseLogprobs: flag,
  logprobs: number,
  responseMimeType: text,
  responseSchema: anything,
  responseJsonSchema: anything,
  responseModalities: list(matching(/^text$/i)),
  mediaResolution: text,
  thinkingConfig: object({ includeThoughts: flag, thinkingBudget: number, thinkingLevel: text }),
});

const fields = {
  contents: list(content),
  systemInstruction: either(text, content),
  tools: tools(tool),
  toolConfig: object({
    functionCallingConfig: object({ mode: text, allowedFunctionNames: list(text) }),
  }),
  safetySettings: list(object({ category: text, threshold: text })),
  generationConfig: settings,
  cachedContent: refused(
    'Nothing that is stored at the provider can be asked for from here, since nobody knows what it costs. Send the whole content.',
  ),
};

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
  headers: {},
  request: object(fields),
  countRequest: object({ contents: fields.contents }),
  settingsField: 'generationConfig',
  limitFields: () => ['maxOutputTokens'],
  thinkingOf: ({ generationConfig: of }) =>
    fieldsOf(fieldsOf(of)['thinkingConfig'])['thinkingBudget'],
  imageTokens: 5000,
  askedText,
  reader: () => new ContentReader(),
  error: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
};

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
