import assert from 'node:assert/strict';
import { acpMethodWith, acpNames } from '../../../../src/commands/options/acpOptions';
import { acpAgent, acpMethod, acpNamed } from '../../../../src/method/acp/acpMethod';
import { acpPresets } from '../../../../src/method/acp/acpPresets';
import { textsAt, usualEnvironment } from '../../../../src/method/acp/agentEnvironment';
import { wordsOfCommand } from '../../../../src/method/acp/wordsOfCommand';
import type { Method } from '../../../../src/method/method';
import { providers } from '../../../../src/method/models/providers';

describe('methods that are agents of the Agent Client Protocol', () => {
  const origin = 'http://127.0.0.1:4321';

  it('are any command, and six by name', () => {
    assert.deepEqual(acpNames, [
      ...['acp:claude-code', 'acp:codex', 'acp:gemini', 'acp:opencode', 'acp:openhands'],
      ...['acp:qwen', 'acp:COMMAND'],
    ]);
    const method = (name: string): Method =>
      acpMethod(acpAgent(name, acpNamed(name), { program: undefined, advice: '' }));
    assert.equal(method('acp:codex').title, 'Codex');
    assert.equal(method('acp:my-agent --acp').title, 'my-agent');
    assert.equal(method('acp:my-agent --acp').runs, 'workspace');
    for (const none of ['acp:', 'acp:  ', "acp:an 'open quote"]) {
      assert.throws(() => acpNamed(none), /names no command/);
    }
  });

  it('have words that no shell reads', () => {
    assert.deepEqual(wordsOfCommand('node agent.js --acp'), ['node', 'agent.js', '--acp']);
    assert.deepEqual(wordsOfCommand(`a 'b c' "d \\"e" f\\ g '' $HOME;rm`), [
      ...['a', 'b c', 'd "e', 'f g', '', '$HOME;rm'],
    ]);
  });

  it('find the proxy in place of their provider, and no key', () => {
    for (const preset of acpPresets) {
      for (const provider of preset.providers) {
        const place = { origin, provider, model: 'the-model' };
        const env = { ...usualEnvironment(place), ...textsAt(preset.env, place) };
        const text = JSON.stringify({ ...env, ...textsAt(preset.files ?? {}, place) });
        assert.ok(text.includes('the-model') && text.includes(origin), preset.name);
        assert.doesNotMatch(text, /https?:\/\/(?!127\.0\.0\.1:4321)/, preset.name);
        assert.doesNotMatch(text, /swt.?bench/i, 'nothing names the benchmark');
      }
    }
    for (const provider of providers) {
      const keys = Object.entries(usualEnvironment({ origin, provider, model: 'm' }));
      for (const [name, value] of keys) {
        if (name.endsWith('_KEY')) assert.equal(value, 'the-proxy-has-the-key');
      }
    }
  });

  it('refuse options that would not reach their requests, and models that they cannot ask', () => {
    const options = { method: 'acp:claude-code', model: 'anthropic/a-model' };
    assert.equal(acpMethodWith(options)?.name, 'acp:claude-code');
    assert.throws(() => acpMethodWith({ ...options, topP: 0.5 }), /--top-p does not reach them/);
    assert.throws(
      () => acpMethodWith({ ...options, model: 'openai/gpt-4o' }),
      /Claude Code cannot ask a model of openai/,
    );
    assert.equal(acpMethodWith({ ...options, method: 'mini' }), undefined);
    assert.throws(
      () => acpMethodWith({ ...options, method: 'mini', agentTimeout: 5 }),
      /--agent-timeout is for agents of the Agent Client Protocol/,
    );
  });
});
