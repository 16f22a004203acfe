const vscode = require('vscode');

/** Models that this extension offers, by what they are for. */
const models = [
  { id: 'scripted', name: 'Scripted', toolCalling: true },
  { id: 'scripted-without-tools', name: 'Scripted without Tools', toolCalling: false },
  { id: 'scripted-small', name: 'Small', toolCalling: true, maxInputTokens: 6_000 },
].map(({ id, name, toolCalling, maxInputTokens = 200_000 }) => ({
  id,
  name,
  family: 'scripted',
  version: '1',
  maxInputTokens,
  maxOutputTokens: 16_000,
  capabilities: { toolCalling },
  // Of newer versions than the types: a model that a person may choose in the chat view.
  isUserSelectable: true,
}));

/** Answers that are still to be given, the first of them next. */
let waiting = [];
/** What is answered when none is waiting. */
let otherwise;
/** What the models were sent since `clear`. */
const requests = [];
/** The same since the window was opened. */
const everything = [];

/**
 * What the tests reach by `vscode.extensions.getExtension('swt-bench-test.scripted-models').exports`; its
 * type is `ScriptedModels` of ../scriptedModels.ts.
 */
const api = {
  requests,
  everything,
  script: (...answers) => waiting.push(...answers),
  always: (answer) => (otherwise = answer),
  left: () => waiting.length,
  clear: () => {
    waiting = [];
    otherwise = undefined;
    requests.length = 0;
  },
};

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider('swt-test', {
      provideLanguageModelChatInformation: () => models,
      provideLanguageModelChatResponse: respond,
      // Some four characters are a token, as with most tokenizers.
      provideTokenCount: (_model, text) =>
        Promise.resolve(Math.ceil((typeof text === 'string' ? text : textOf(text)).length / 4)),
    }),
  );
  context.subscriptions.push(vscode.chat.createChatParticipant('swt-test.agent', callTool));
  return api;
};

/** An agent of another extension: it calls a tool in a chat, so that VS Code asks the person there. */
async function callTool({ prompt, toolInvocationToken }, _context, stream, token) {
  const [, name, input] = /^(\S+)\s*([^]*)$/.exec(prompt.trim());
  const options = { toolInvocationToken, input: JSON.parse(input || '{}') };
  const { content } = await vscode.lm.invokeTool(name, options, token);
  stream.markdown(`\`\`\`\n${content.map((part) => part.value).join('')}\n\`\`\`\n`);
}

async function respond(model, messages, options, progress, token) {
  const request = {
    model: model.id,
    messages: messages.map(({ role, content }) => ({
      role: role === vscode.LanguageModelChatMessageRole.User ? 'user' : 'assistant',
      parts: content.map(partOf),
    })),
    tools: options.tools ?? [],
    text: messages.map(textOf).join('\n\n'),
    cancelled: false,
  };
  requests.push(request);
  everything.push(request);
  token.onCancellationRequested(() => (request.cancelled = true));
  let answer = waiting.shift() ?? otherwise;
  if (typeof answer === 'function') answer = await answer(request);
  if (answer === undefined) throw new Error('no answer is scripted for this request');
  const { text = '', calls = [], error, hangs = false } = toldBy(answer);
  for (const piece of text.match(/[^]{1,40}/g) ?? []) {
    if (token.isCancellationRequested) return;
    progress.report(new vscode.LanguageModelTextPart(piece));
  }
  for (const [at, { name, input = {} }] of calls.entries()) {
    const id = `call-${requests.length}-${at + 1}`;
    progress.report(new vscode.LanguageModelToolCallPart(id, name, input));
  }
  if (hangs) await new Promise((resolve) => token.onCancellationRequested(resolve));
  if (error !== undefined) throw errorOf(error);
}

const toldBy = (answer) => (typeof answer === 'string' ? { text: answer } : answer);

function errorOf({ code, message }) {
  if (code === 'Blocked') return vscode.LanguageModelError.Blocked(message);
  if (code === 'NotFound') return vscode.LanguageModelError.NotFound(message);
  if (code === 'NoPermissions') return vscode.LanguageModelError.NoPermissions(message);
  return new Error(message);
}

function partOf(part) {
  if (part instanceof vscode.LanguageModelTextPart) return { type: 'text', text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return { type: 'call', id: part.callId, name: part.name, input: part.input };
  }
  if (part instanceof vscode.LanguageModelToolResultPart) {
    return { type: 'result', id: part.callId, text: textOf(part) };
  }
  return { type: 'other', text: JSON.stringify(part) };
}

/** Everything that can be read of a message or of a tool's result. */
function textOf({ content }) {
  return content
    .map((part) => {
      const { text, name, input } = partOf(part);
      return text ?? `${name} ${JSON.stringify(input)}`;
    })
    .join('\n');
}
