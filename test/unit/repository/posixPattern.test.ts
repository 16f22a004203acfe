import assert from 'node:assert/strict';
import { posixPattern } from '../../../src/method/view/posixPattern';

describe('a pattern for a git without PCRE', () => {
  it('means what it means in Perl', () => {
    for (const [perl, posix] of [
      ['a.*b|^c$', 'a.*b|^c$'],
      ['\\d+\\.\\d', '[0-9]+\\.[0-9]'],
      ['[\\d_]\\D', '[0-9_][^0-9]'],
      ['\\w\\s*[^\\s]', '[[:alnum:]_][[:space:]]*[^[:space:]]'],
      ['(?:ab)+?c', '(ab)+c'],
      ['(?P<name>x)', '(x)'],
      ['[]a]', '[]a]'],
      ['\\(\\[', '\\(\\['],
    ] as const) {
      assert.deepEqual(posixPattern(perl), { pattern: posix, ignoresCase: false }, perl);
    }
    assert.deepEqual(posixPattern('(?i)foo'), { pattern: 'foo', ignoresCase: true });
  });

  it('is refused where POSIX has no words for it', () => {
    for (const pattern of ['a(?=b)', 'a(?<!b)', 'a(?i)b']) {
      assert.throws(() => posixPattern(pattern), /not supported here/);
    }
  });
});
