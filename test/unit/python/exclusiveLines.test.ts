import assert from 'node:assert/strict';
import { exclusiveLines } from '../../../src/python/exclusiveLines';
import { loadParser } from './loadParser';

describe('lines that exclude each other', () => {
  const found = async (...lines: readonly string[]): Promise<[number, readonly number[]][]> => {
    const python = await loadParser();
    try {
      const all = exclusiveLines(python, `${lines.join('\n')}\n`);
      return all.map(({ condition, branches }) => [condition, branches]);
    } finally {
      python.dispose();
    }
  };

  it('are those of if, elif and else', async () => {
    assert.deepEqual(
      await found('if a:', '    # why', '    b()', 'elif c:', '    d = 1', 'else:', '    e()'),
      [
        [1, [3, 4]],
        [4, [5, 7]],
      ],
    );
  });

  it('are those of an if that returns, and what follows it', async () => {
    assert.deepEqual(
      await found('def f():', '    if a:', '        b()', '        return 1', '    c()', '    d()'),
      [[2, [3, 5]]],
    );
    assert.deepEqual(await found('if a:', '    b()', 'c()'), []);
    assert.deepEqual(await found('if a:', '    b()', 'elif c:', '    raise d', 'e()'), [
      [1, [2, 3]],
    ]);
  });

  it('are none whose events are more than their executions', async () => {
    for (const line of [
      '[x for x in y]',
      'yield 1',
      'c(1,\n      2)',
      'c(); d()',
      'while c: d()',
    ]) {
      assert.deepEqual(await found('if a:', `    ${line}`, 'else:', '    e()'), [], line);
    }
    for (const head of ['if (a and\n    b):', 'if os.fork():']) {
      assert.deepEqual(await found(head, '    c()', 'else:', '    d()'), [], head);
    }
    assert.deepEqual(await found('if a: b()', 'else: c()'), []);
  });
});
