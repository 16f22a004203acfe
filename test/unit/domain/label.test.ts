import assert from 'node:assert/strict';
import { readRow } from '../../../src/dataset/rows/rows';
import { asLabel } from '../../../src/domain/text';

const escape = '\u001b]0;evil\u0007';
const reversed = '\u202e1.2\u202c';

describe('a label made of what somebody else wrote', () => {
  it('is one line in which everything is seen', () => {
    assert.equal(asLabel(' 1.2 '), '1.2');
    assert.equal(asLabel(`a${escape}b`), 'a ]0;evil b');
    assert.equal(asLabel('a\r\nb\tc\u2028d\u0085e'), 'a b c d e');
    assert.equal(asLabel(reversed), '1.2');
    assert.equal(asLabel('a\u200b\u2066b\u2069\ufeff\u00adc'), 'a b c');
    assert.equal(asLabel('half \ud83d and whole 😀'), 'half and whole 😀');
    assert.equal(asLabel('R∘X* → ünïcode'), 'R∘X* → ünïcode');
  });

  it('is short, and quickly made of a long text', () => {
    assert.equal(asLabel('x'.repeat(200)).length, 200);
    const long = asLabel('y'.repeat(50_000_000));
    assert.equal(long.length, 200);
    assert.ok(long.endsWith('…'));
  });

  it('is what a row gives for its version, and for the id of one that cannot be used', () => {
    const row = {
      instance_id: 'octo__cat-1',
      repo: 'octo/cat',
      base_commit: 'abcdef0',
      problem_statement: 'x',
      patch: 'diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n',
      test_patch:
        'diff --git a/tests/test_t.py b/tests/test_t.py\n--- a/tests/test_t.py\n+++ b/tests/test_t.py\n@@ -1 +1 @@\n-a\n+b\n',
      version: `1.${escape}\n2${reversed}`,
    };
    const read = readRow(row, 1);
    assert.ok('instance' in read, JSON.stringify(read));
    assert.equal(read.instance.version, '1. ]0;evil 2 1.2');
    const broken = readRow({ ...row, instance_id: `bad${escape}` }, 1);
    assert.ok('problem' in broken);
    assert.equal(broken.problem.id, 'bad ]0;evil');
  });
});
