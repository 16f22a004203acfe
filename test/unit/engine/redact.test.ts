import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formsOf, redactedStream, redactor } from '../../../src/engine/keysInUse';

const key = 'sk-a+key/with "all"-0123456789';
const redact = redactor([key]);

describe('redactor', () => {
  it('takes a key out in whatever form it is written', () => {
    for (const written of [
      key,
      JSON.stringify({ key }),
      `https://host/?key=${encodeURIComponent(key)}`,
      Buffer.from(key).toString('hex'),
      Buffer.from(key).toString('hex').toUpperCase(),
    ]) {
      const told = redact(`before ${written} after`);
      assert.match(told, /^before .*\[key\].* after$/);
      assert.ok(!told.includes('0123456789') && !told.includes('30313233343536373839'), told);
    }
  });

  it('takes it out of a longer text that was encoded as a whole, wherever it stands there', () => {
    for (const before of ['', 'a', 'ab', 'abc', 'OPENAI_API_KEY=']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(`${before}${key}\nand more`).toString(encoding);
        const told = redact(encoded);
        assert.match(told, /\[key\]/);
        assert.ok(!Buffer.from(told, encoding).toString('latin1').includes(key.slice(2, -2)));
      }
    }
  });

  it('leaves other texts alone, and takes no short word for a key', () => {
    const text = 'sk-a key with nothing of it';
    assert.equal(redact(text), text);
    assert.equal(redactor(['ollama', ''])('ollama serves it'), 'ollama serves it');
    assert.equal(redactor([])(key), key);
  });
});

describe('redactedStream', () => {
  it('tells the same as a redacted whole, however a text is cut', () => {
    const longest = formsOf([key])[0]?.length ?? 0;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(key, 'x', '\n', key.slice(0, 9), 'between'), { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        (parts, width) => {
          const text = parts.join('');
          const stream = redactedStream(redact, longest);
          let told = '';
          for (let at = 0; at < text.length; at += width) {
            told += stream.write(text.slice(at, at + width));
            assert.ok(!told.includes(key));
          }
          told += stream.end();
          assert.equal(told, redact(text));
        },
      ),
    );
  });

  it('holds back no finished line', () => {
    const stream = redactedStream(redact, 100);
    assert.equal(stream.write('one\ntwo'), 'one\n');
    assert.equal(stream.end(), 'two');
  });
});
