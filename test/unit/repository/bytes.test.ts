import assert from 'node:assert/strict';
import fc from 'fast-check';
import { asShown, bytesOf, textOf } from '../../../src/patch/bytes';

describe('text of bytes that may not be UTF-8', () => {
  it('gives the same bytes again', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.string({ unit: 'binary', maxLength: 6 }).map((text) => Buffer.from(text)),
      fc.constantFrom(
        Buffer.from([0xed, 0xb3, 0xa9]), // a surrogate, which is not valid UTF-8
        Buffer.from([0xf4, 0x90, 0x80, 0x80]), // beyond the last character
        Buffer.from([0xc0, 0x80]), // longer than necessary
        Buffer.from([0xe2, 0x88]), // cut off
        Buffer.from('∘😀'),
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const bytes = Buffer.concat(pieces);
        assert.deepEqual(bytesOf(textOf(bytes)), bytes);
      }),
    );
  });

  it('is the plain text where they are UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const bytes = Buffer.from(text);
        assert.equal(textOf(bytes), bytes.toString());
        assert.deepEqual(bytesOf(bytes.toString()), bytes);
        assert.equal(asShown(bytes.toString()), bytes.toString());
      }),
    );
  });

  it('is what Python makes of them with surrogateescape', () => {
    const bytes = Buffer.from([0x63, 0xe9, 0xff, 0x80, 0xc3, 0xa9]);
    assert.equal(textOf(bytes), 'c\udce9\udcff\udc80é');
    assert.equal(asShown(textOf(bytes)), 'c\ufffd\ufffd\ufffdé');
    assert.equal(textOf(bytes).split('é')[0]?.length, 4);
  });
});
