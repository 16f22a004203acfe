import assert from 'node:assert/strict';
import { parseShard } from '../../../src/commands/options/shardOption';

describe('the option --shard', () => {
  it('takes the number of a part, from 1, and the number of all parts', () => {
    assert.deepEqual(parseShard('2/4', {}), { number: 2, count: 4 });
  });

  it('takes the place in a job of Kubernetes, and in a Slurm array', () => {
    assert.deepEqual(parseShard('auto/4', { JOB_COMPLETION_INDEX: '0' }), { number: 1, count: 4 });
    const array = {
      ...{ SLURM_ARRAY_TASK_ID: '7', SLURM_ARRAY_TASK_MIN: '3', SLURM_ARRAY_TASK_STEP: '2' },
      SLURM_ARRAY_TASK_COUNT: '5',
    };
    assert.deepEqual(parseShard('auto', array), { number: 3, count: 5 });
    assert.deepEqual(parseShard('auto/9', array), { number: 3, count: 9 });
  });

  for (const [value, why] of [
    ['0/4', /numbered from 1/],
    ['5/4', /numbered from 1/],
    ['1/0', /numbered from 1/],
    ['3', /such as 3\/4/],
    ['first', /such as 2\/4/],
    ['auto', /SLURM_ARRAY_TASK_COUNT is not set/],
    ['auto/4', /Neither JOB_COMPLETION_INDEX nor/],
  ] as const) {
    it(`refuses ${value}`, () => assert.throws(() => parseShard(value, {}), why));
  }

  it('refuses a place that is no number, and one outside of its array', () => {
    assert.throws(() => parseShard('auto/4', { JOB_COMPLETION_INDEX: 'x' }), /is not a number/);
    assert.throws(() => parseShard('auto/4', { JOB_COMPLETION_INDEX: '4' }), /5\/4 is not a part/);
  });
});
