import assert from 'node:assert/strict';
import { anthropicMessages } from '../../../../src/method/modelProxy/anthropicMessages';
import { chatCompletions } from '../../../../src/method/modelProxy/chatCompletions';
import { newToolResults } from '../../../../src/method/modelProxy/conversation';
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
