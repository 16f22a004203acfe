import assert from 'node:assert/strict';
import {
  limitProfileOf,
  recordedLimits,
  recordId,
  type GenerationRecord,
} from '../../../src/editor/generate/records';
import { methodNamed } from '../../../src/method/methods';

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
});
