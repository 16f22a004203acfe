import assert from 'node:assert/strict';
import { FixResults, testsOnFix } from '../../../src/editor/generate/fixTreeRow';

describe('the tests of the author on a fix', () => {
  it('are all that ran with it or without it', () => {
    assert.deepEqual(
      testsOnFix({
        base: { a: 'fails', b: 'passes' },
        standings: { a: 'passes', c: 'neither' },
      }),
      {
        tests: [
          { test: 'a', base: 'fails', fixed: 'passes' },
          { test: 'b', base: 'passes', fixed: undefined },
          { test: 'c', base: undefined, fixed: 'neither' },
        ],
      },
    );
  });

  it('did not run where there is a reason, or no test', () => {
    assert.deepEqual(testsOnFix({ base: {}, failure: 'it hangs' }), {
      problem: 'it hangs',
    });
    assert.deepEqual(testsOnFix({ base: {}, standings: {} }), { problem: 'no test ran' });
  });
});

describe('results of fixes', () => {
  const found = { problem: 'x' } as const;

  it('are current for the edits that ran, and again once an edit is undone', () => {
    const results = new FixResults();
    assert.equal(results.follow('none'), false, 'nothing is shown yet');
    assert.equal(results.of('fix'), undefined);
    results.keep('fix', 'one', found);
    assert.deepEqual(results.of('fix'), { found, isCurrent: true }, 'at once');
    assert.equal(results.follow('two'), true);
    assert.deepEqual(results.of('fix'), { found, isCurrent: false });
    assert.equal(results.follow('two'), false);
    assert.equal(results.follow('one'), true);
    assert.equal(results.of('fix')?.isCurrent, true);
  });

  it('are the last of each fix', () => {
    const results = new FixResults();
    results.keep('fix', 'one', found);
    results.keep('fix', 'two', { tests: [] });
    results.follow('two');
    assert.deepEqual(results.of('fix'), { found: { tests: [] }, isCurrent: true });
  });
});
