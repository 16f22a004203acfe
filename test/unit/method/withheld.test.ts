import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TreeOfR } from '../../../src/method/treeOfR';
import { withheld, withheldLine } from '../../../src/method/withheld';
import { addedFile } from './sampleView';

const code = addedFile(
  'a.py',
  '    shares = sorted(shares, key=by_loss)',
  'import os',
  '    return shares_of_all',
);
const tests = addedFile(
  'tests/test_a.py',
  'def test_shares_add_up():',
  '    pass',
  'def test_x(): pass',
);

/** A tree with these lines. */
const treeOf = (...lines: string[]): TreeOfR => ({
  digest: '',
  paths: () => Promise.resolve([]),
  read: () => Promise.resolve(undefined),
  whyNotRead: () => Promise.resolve(undefined),
  search: ({ pattern }) =>
    Promise.resolve(
      lines
        .filter((text) => text.includes(pattern))
        .map((text) => ({ path: 'b.py', line: 1, text })),
    ),
});

describe('withheld', () => {
  const secrets = withheld([code, tests], ['tests/test_a.py::A::test_of_the_list[1]'], treeOf());
  const line = 'shares = sorted(shares, key=by_loss)';

  it('leaves out whole lines with a line or a test of the answer', async () => {
    const text = [
      'before',
      `E   ${line}`,
      'test_shares_add_up failed',
      'test_of_the_list',
      'after',
    ];
    assert.equal(
      await secrets.without(text.join('\n'), []),
      ['before', withheldLine, withheldLine, withheldLine, 'after'].join('\n'),
    );
  });

  it('looks at all texts of a value, and leaves everything else as it is', async () => {
    const value = { a: [line, 1, null, undefined, true], b: { c: `x ${line}` }, d: 'import os' };
    assert.deepEqual(await secrets.without(value, []), {
      a: [withheldLine, 1, null, undefined, true],
      b: { c: withheldLine },
      d: 'import os',
    });
  });

  it('leaves in what is short, what R has, and what the model has written', async () => {
    for (const text of ['import os', 'test_x', 'return x']) {
      assert.equal(await secrets.without(text, []), text);
    }
    const withR = withheld([code, tests], [], treeOf(`  ${line}  # as before`));
    assert.equal(await withR.without(line, []), line);
    assert.equal(await withR.without('test_shares_add_up', []), withheldLine);
    assert.equal(await secrets.without(line, [`+${line}`]), line);
  });

  it('lets no text through with a secret in it', async () => {
    const piece = fc.constantFrom(
      line,
      'test_shares_add_up',
      ' ',
      '\n',
      'x',
      '\r\n',
      'return shares_of_all',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const text = pieces.join('');
        const left = await secrets.without(text, []);
        assert.ok(!left.includes(line) && !left.includes('test_shares_add_up'), left);
        assert.equal(left.split('\n').length, text.split('\n').length);
      }),
    );
  });
});
