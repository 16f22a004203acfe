import assert from 'node:assert/strict';
import { layOut, forTerminal, jsonText, withoutControl } from '../../../src/domain/text';
import fc from 'fast-check';

describe('a text of a stranger on a terminal', () => {
  it('has no sequences, controls or marks of direction, but its lines', () => {
    assert.equal(forTerminal('x\u001b[2J\u202e\u0007\u009by\r\n\tz\n'), 'x [2J y\n\tz\n');
    assert.equal(withoutControl('a\u2066b\nc'), 'a b c');
  });

  it('follows the sequences that this program begins with', () => {
    assert.equal(forTerminal('\r\u001b[2Kstep \u001b]0;x'), '\r\u001b[2Kstep  ]0;x');
  });

  it('does not push the other cells of a table out of sight', () => {
    const [, , row = ''] = layOut([
      ['name', 'value'],
      ['n'.repeat(3000), '1'],
    ]).split('\n');
    assert.equal(row.length, 200 + 3);
  });

  it('keeps its value in JSON, which has it as escapes', () => {
    const any = fc.string({
      unit: fc.constantFrom('a', '"', '\\', '\u001b', '\u009b', '\u202e', '\n'),
    });
    fc.assert(
      fc.property(fc.dictionary(any, any), (value) => {
        const text = jsonText(value);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
        assert.equal(forTerminal(text), text);
      }),
    );
  });
});
