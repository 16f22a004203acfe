import assert from 'node:assert/strict';
import { Command } from 'commander';
import {
  acpMethodWith,
  acpNames,
  withAcpOptions,
  type AcpOptions,
} from '../../../../src/commands/options/acpOptions';
import { acpAgent, acpMethod, acpNamed } from '../../../../src/method/acp/acpMethod';
import { acpPresets } from '../../../../src/method/acp/acpPresets';
import { textsAt, defaultEnvironment } from '../../../../src/method/acp/agentEnvironment';
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
      assert.throws(() => acpNamed(none), /has no command/);
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
        const env = { ...defaultEnvironment(place), ...textsAt(preset.env, place) };
        const text = JSON.stringify({ ...env, ...textsAt(preset.files ?? {}, place) });
        assert.ok(text.includes('the-model') && text.includes(origin), preset.name);
        assert.doesNotMatch(text, /https?:\/\/(?!127\.0\.0\.1:4321)/, preset.name);
        assert.doesNotMatch(text, /swt.?bench/i, 'nothing names the benchmark');
      }
    }
    for (const provider of providers) {
      const keys = Object.entries(defaultEnvironment({ origin, provider, model: 'm' }));
      for (const [name, value] of keys) {
        if (name.endsWith('_KEY')) assert.equal(value, 'the-proxy-has-the-key');
      }
    }
  });

  it('refuse options that would not reach their requests, and models that they cannot ask', () => {
    const options = { method: 'acp:claude-code', model: 'anthropic/a-model' };
    assert.equal(acpMethodWith(options)?.name, 'acp:claude-code');
    assert.throws(() => acpMethodWith({ ...options, topP: 0.5 }), /--top-p has no effect/);
    assert.throws(
      () => acpMethodWith({ ...options, model: 'openai/gpt-4o' }),
      /Claude Code does not support models from openai/,
    );
    assert.equal(acpMethodWith({ ...options, method: 'mini' }), undefined);
    assert.throws(
      () => acpMethodWith({ ...options, method: 'mini', agentTimeout: 5 }),
      /--agent-timeout applies to Agent Client Protocol agents/,
    );
  });

  it('have a title, variables and a way of authentication by options, which tell sessions apart', () => {
    const parsed = withAcpOptions(new Command().exitOverride().configureOutput({ writeErr() {} }));
    const optionsOf = (...words: string[]): AcpOptions =>
      parsed.parse(words, { from: 'user' }).opts<AcpOptions>();
    const given = optionsOf(
      ...['--agent-title', 'My Agent', '--agent-auth', 'key'],
      ...['--agent-env', 'MY_MODEL={model}', '--agent-env', 'MY_SETTINGS={"url":"{origin}/v1=a"}'],
    );
    const name = 'acp:mine --model {model}';
    const method = acpMethodWith({ ...given, method: name, model: 'openai/gpt-5' });
    const agent = method?.asksItself?.agent;
    assert.equal(method?.title, 'My Agent');
    assert.equal(agent?.authMethod, 'key');
    const place = { origin, provider: 'openai', model: 'gpt-5' } as const;
    assert.deepEqual(textsAt(agent?.env ?? {}, place), {
      MY_MODEL: 'gpt-5',
      MY_SETTINGS: `{"url":"${origin}/v1=a"}`,
    });
    assert.deepEqual(agent?.argv, ['mine', '--model', '{model}']);
    assert.match(agent?.definition ?? '', /^[0-9a-f]+$/);
    const preset = { method: 'acp:claude-code', model: 'anthropic/m' };
    const changed = acpMethodWith({ ...preset, agentEnv: { ANTHROPIC_MODEL: 'x' } });
    assert.equal(changed?.asksItself?.agent.env['ANTHROPIC_MODEL'], 'x');
    assert.equal(changed?.asksItself?.agent.env['IS_SANDBOX'], '1');
    assert.equal(acpMethodWith(preset)?.asksItself?.agent.definition, undefined);
    for (const wrong of ['NAME', 'A B=c', '=x', 'A;rm=1']) {
      assert.throws(() => optionsOf('--agent-env', wrong), /NAME=VALUE/, wrong);
    }
    assert.throws(
      () => acpMethodWith({ method: 'mini', model: 'openai/m', agentTitle: 'A' }),
      /--agent-title applies to Agent Client Protocol agents/,
    );
  });
});
