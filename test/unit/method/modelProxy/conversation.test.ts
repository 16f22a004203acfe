import assert from 'node:assert/strict';
import { anthropicMessages } from '../../../../src/method/modelProxy/anthropicMessages';
import { chatCompletions } from '../../../../src/method/modelProxy/chatCompletions';
import { AnswerReader, newToolResults } from '../../../../src/method/modelProxy/conversation';
import { googleContent } from '../../../../src/method/modelProxy/googleContent';
import { responses } from '../../../../src/method/modelProxy/responses';

describe('results of tools in requests of agents', () => {
  it('are those after the last answer, in each API', () => {
    const old = { type: 'tool_result', tool_use_id: 'old', content: 'old' };
    const results = [
      { id: '1', text: 'a\nb', isError: false },
      { id: '2', text: 'no such file', isError: true },
    ];
    assert.deepEqual(
      newToolResults(anthropicMessages, {
        messages: [
          { role: 'user', content: [old] },
          { role: 'assistant', content: [{ type: 'tool_use', id: '1' }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: '1', content: [{ text: 'a' }, { text: 'b' }] },
              { type: 'tool_result', tool_use_id: '2', content: 'no such file', is_error: true },
              { type: 'text', text: 'Go on.' },
            ],
          },
        ],
      }),
      results,
    );
    assert.deepEqual(
      newToolResults(googleContent, {
        contents: [
          { role: 'user', parts: [{ functionResponse: { id: 'old', response: {} } }] },
          { role: 'model', parts: [{ functionCall: {} }] },
          {
            role: 'user',
            parts: [
              { functionResponse: { id: '1', response: { output: 'a\nb' } } },
              { functionResponse: { id: '2', response: { error: 'no such file' } } },
            ],
          },
        ],
      }),
      results,
    );
    const [first] = results;
    assert.deepEqual(
      newToolResults(chatCompletions, {
        messages: [
          { role: 'tool', tool_call_id: 'old', content: 'old' },
          { role: 'assistant', tool_calls: [] },
          { role: 'tool', tool_call_id: '1', content: 'a\nb' },
        ],
      }),
      [first],
    );
    assert.deepEqual(
      newToolResults(responses, {
        input: [
          { type: 'function_call_output', call_id: 'old', output: 'old' },
          { type: 'message', role: 'assistant', content: [] },
          { type: 'function_call', call_id: '1' },
          { type: 'function_call_output', call_id: '1', output: [{ text: 'a' }, { text: 'b' }] },
        ],
      }),
      [first],
    );
    for (const body of [{}, { messages: 'text' }, { input: 'text' }, { contents: [null, 1] }]) {
      for (const api of [anthropicMessages, chatCompletions, responses, googleContent]) {
        assert.deepEqual(newToolResults(api, body), []);
      }
    }
  });
});

describe('an answer whose pieces arrive one by one', () => {
  it('of Anthropic has its blocks on lines, and the arguments of each call', () => {
    const reader = new AnswerReader(anthropicMessages);
    const begin = (index: number, content_block: object): void =>
      reader.take({ type: 'content_block_start', index, content_block });
    const add = (index: number, delta: object): void =>
      reader.take({ type: 'content_block_delta', index, delta });
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 };
    reader.take({ type: 'message_start', message: { content: [], stop_reason: null, usage } });
    begin(0, { type: 'thinking', thinking: '' });
    add(0, { type: 'thinking_delta', thinking: 'hm' });
    begin(1, { type: 'text', text: '' });
    add(1, { type: 'text_delta', text: 'I' });
    add(1, { type: 'text_delta', text: ' look' });
    begin(2, { type: 'tool_use', id: 'a', name: 'Bash', input: {} });
    begin(3, { type: 'tool_use', id: 'b', name: 'Ls', input: {} });
    add(2, { type: 'input_json_delta', partial_json: '{"command":' });
    add(2, { type: 'input_json_delta', partial_json: '"ls"}' });
    begin(4, { type: 'text', text: 'Then' });
    assert.equal(reader.said.usage, undefined, 'no number counts before the end');
    reader.take({
      ...{ type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      usage: { output_tokens: 40 },
    });
    assert.deepEqual(reader.said, {
      text: 'I look\nThen',
      calls: [
        { id: 'a', name: 'Bash', input: { command: 'ls' } },
        { id: 'b', name: 'Ls', input: {} },
      ],
      finish: 'stop',
      usage: { inputTokens: 15, outputTokens: 40, cachedInputTokens: 5 },
    });
  });

  it('of OpenAI has calls that are written beside one another, or without a number', () => {
    const call = (of: object) => ({ choices: [{ delta: { tool_calls: [of] } }] });
    const begun = (id: string, index?: number) =>
      call({ ...(index !== undefined && { index }), id, function: { name: 'f', arguments: '' } });
    const more = (text: string, index?: number) =>
      call({ ...(index !== undefined && { index }), function: { arguments: text } });
    const streams = [
      [begun('a', 0), begun('b', 1), more('{"x"', 0), more('{}', 1), more(':1}', 0)],
      [begun('a'), more('{"x"'), more(':1}'), begun('b'), more('{}')],
    ];
    for (const stream of streams) {
      const reader = new AnswerReader(chatCompletions);
      for (const event of stream) reader.take(event);
      assert.deepEqual(reader.said.calls, [
        { id: 'a', name: 'f', input: { x: 1 } },
        { id: 'b', name: 'f', input: {} },
      ]);
    }
  });
});
