import assert from 'node:assert/strict';
import {
  limitProfileOf,
  recordedLimits,
  recordId,
  type GenerationRecord,
} from '../../../src/editor/generate/records';
import { limitProfiles } from '../../../src/method/agents/agent';
import { methodNamed, methods } from '../../../src/method/methods';
import packageJson from '../../../package.json';
import texts from '../../../package.nls.json';

describe('the limits of agents in the editor', () => {
  it('are those of the setting, and those of the paper for anything else', () => {
    assert.deepEqual(['modern', 'paper', 'Modern', '', 7, undefined, null].map(limitProfileOf), [
      'modern',
      'paper',
      'paper',
      'paper',
      'paper',
      'paper',
      'paper',
    ]);
  });

  it('are part of what an agent was asked, so that other limits make another run', () => {
    const idOf = (name: string, chosen: 'paper' | 'modern'): string => {
      const method = methodNamed(name);
      const record: GenerationRecord = {
        ...{ method: name, model: 'openai/gpt-4o', samples: 1, contextTokens: 27_000 },
        ...{ maxOutputTokens: 4096, engine: 'docker', timeoutSeconds: 300, startedAt: '' },
        ...recordedLimits(method, chosen),
      };
      return recordId(record);
    };
    assert.notEqual(idOf('mini', 'modern'), idOf('mini', 'paper'));
    assert.equal(idOf('libro', 'modern'), idOf('libro', 'paper'));
    assert.deepEqual(recordedLimits(methodNamed('mini'), 'paper'), {}, 'as records of before');
  });

  it('are told in the settings with the calls and dollars that agents have', () => {
    const { properties } = packageJson.contributes.configuration.find(({ id }) => id === 'models')!;
    const setting = properties['swt-bench.generate.agentLimits'];
    assert.deepEqual(setting?.enum, limitProfiles);
    for (const profile of limitProfiles) {
      const told = texts[`setting.generate.agentLimits.${profile}`];
      const agents = methods.flatMap(({ title, limits }) =>
        limits === undefined ? [] : [{ title, ...limits[profile] }],
      );
      const calls = agents.map(({ title, calls }) => `${title} ${calls}`).join(', ');
      assert.ok(told.includes(`Calls: ${calls};`), `${profile}: ${calls}`);
      const dollars = new Set(agents.map(({ dollars }) => dollars));
      assert.deepEqual([...dollars], [Number(/at most (\d+) dollars/.exec(told)?.[1])]);
    }
  });
});
