import { fieldsOf, isFields, stringOrEmpty, type JsonFields } from './jsonFields';
import type { ModelApi } from './modelApi';
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
    'References to content stored at the provider are not allowed, because their cost is unknown. Send the whole content.',
  ),
};

const refusals = [
  ...['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT'],
];

/** https://ai.google.dev/api/generate-content */
export const googleContent: ModelApi = {
  providers: ['google'],
  paths: [
    { path: '/models/{model}:generateContent', action: 'generate' },
    { path: '/models/{model}:streamGenerateContent', action: 'generate', query: 'alt=sse' },
    { path: '/models/{model}:countTokens', action: 'count' },
  ],
  headers: {},
  request: object(fields),
  countRequest: object({ contents: fields.contents }),
  settingsField: 'generationConfig',
  limitFields: () => ['maxOutputTokens'],
  thinking: 'generationConfig.thinkingConfig.thinkingBudget',
  imageTokens: 5000,
  system: 'systemInstruction',
  turns: 'contents',
  content: ['parts', 'text'],
  call({ functionCall: called }) {
    const { id, name, args: input } = fieldsOf(called);
    return isFields(called) ? { id, name, input } : undefined;
  },
  result({ functionResponse: of }) {
    const { id, response } = fieldsOf(of);
    const { error, output, result = response } = fieldsOf(response);
    return isFields(of)
      ? { id, content: error ?? output ?? result, isError: error !== undefined }
      : undefined;
  },
  answer: {
    pieces: ['candidates.0.content.parts'],
    reason: ['candidates.0.finishReason'],
    finishes: { stop: ['STOP'], length: ['MAX_TOKENS'], refused: refusals },
    // The numbers of a stream grow; its last part has the whole.
    usage: ['usageMetadata'],
    isUsageGrowing: true,
    input: ['promptTokenCount', 'toolUsePromptTokenCount'],
    output: ['candidatesTokenCount', 'thoughtsTokenCount'],
    cached: 'cachedContentTokenCount',
    reasoning: 'thoughtsTokenCount',
  },
  error: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
};
