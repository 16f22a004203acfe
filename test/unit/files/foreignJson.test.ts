import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Nesting, nestsDeeply, parseForeignJson } from '../../../src/files/json';

describe('JSON of a stranger', () => {
  it('is what JSON says, whatever its strings hold', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (text) => {
        assert.deepEqual(parseForeignJson(text), JSON.parse(text));
      }),
    );
    const brackets = JSON.stringify({ '[': '[{"'.repeat(1000), '\\': '\\"['.repeat(1000) });
    assert.deepEqual(parseForeignJson(brackets), JSON.parse(brackets));
    assert.throws(() => parseForeignJson('{"a'), SyntaxError);
  });

  it('is refused without being read where it nests more deeply than anything that is meant', () => {
    const level = fc.constantFrom(['[', ']'], ['{"[":', '}'], ['["]",{"\\\\":', '}]']);
    fc.assert(
      fc.property(level, fc.integer({ min: 1, max: 1000 }), ([open = '', close = ''], times) => {
        const text = `${open.repeat(times)}1${close.repeat(times)}`;
        const levels = times * (open.startsWith('["') ? 2 : 1);
        assert.equal(nestsDeeply(text), levels > 500);
        const nesting = new Nesting();
        const parts = text.match(/.{1,7}/g) ?? [];
        assert.equal(
          parts.some((part) => nesting.add(Buffer.from(part))),
          levels > 500,
        );
      }),
    );
    assert.throws(() => parseForeignJson('['.repeat(4_000_000)), /more than 500 levels deep/);
  });
});
