import assert from 'node:assert/strict';
import fc from 'fast-check';
import { longLine, mostLetters } from '../../../src/patch/custom/checkResult';
import { Image } from '../../../src/patch/unified/image';
import { mostCompared } from '../../../src/patch/custom/findTarget';
import { toUnified } from './formats';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';

describe('work on what a model wrote is bounded', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));
  const names = 1000;
  const file = Array.from(
    { length: names },
    (_, i) => `def test_number_${i}():\n    pass\n\n\n`,
  ).join('');
  const tree = { read: async (path: string) => (path === 'tests/test_a.py' ? file : undefined) };
  const convert = (text: string) => toUnified(text, { format: 'auto', tree, python });

  it('names that a file may mean are looked for until so many have been compared', async () => {
    const blocks = (2 * mostCompared) / names;
    const text = Array.from(
      { length: blocks },
      (_, i) =>
        `diff\ntests/test_a.py\nrewrite\nEOF\ndef test_numbers_${i}():\n    pass\nend diff\n`,
    ).join('');
    const { diagnostics } = await convert(text);
    const told = diagnostics.filter(({ code }) => code === 'unknown-function');
    assert.equal(told.length, blocks);
    const meant = told.map(({ hint }) => hint?.startsWith('Did you mean') === true);
    assert.deepEqual(meant.slice(0, mostCompared / names), Array(mostCompared / names).fill(true));
    assert.ok(!meant.slice(mostCompared / names).includes(true));
  });

  it('a name that stands in several blocks is looked for once', async () => {
    const blocks = (2 * mostCompared) / names;
    const text = Array.from(
      { length: blocks },
      (_, i) =>
        `diff\ntests/test_a.py\nrewrite\nEOF\ndef test_numbers():\n    return ${i}\nend diff\n`,
    ).join('');
    const { diagnostics } = await convert(text);
    assert.ok(diagnostics.every(({ hint }) => hint?.startsWith('Did you mean') === true));
  });

  it('letters of a line count that stand in no string', () => {
    const string = fc
      .tuple(
        fc.constantFrom('"', "'"),
        fc.array(fc.constantFrom('a', '\\\\', '\\"', "\\'", ' ', '#')),
      )
      .map(([quote, parts]) => `${quote}${parts.join('')}${quote}`);
    const code = fc.array(fc.constantFrom('x', ' ', '+', '(')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(fc.tuple(code, string)), fc.boolean(), (parts, isLong) => {
        const letters = parts.reduce((sum, [text]) => sum + text.length, 0);
        const fill = 'x'.repeat(mostLetters - letters + Number(isLong));
        const padding = `"${'y'.repeat(mostLetters)}"`;
        const line = fill + padding + parts.map((part) => part.join('')).join('');
        assert.equal(longLine(['', line]), isLong ? 1 : undefined);
      }),
    );
  });

  // Each of these took minutes, or ran out of memory, when the work grew with the square of the
  // length.
  const mean: Record<string, string> = {
    'quotes that are never closed': `diff\ntests/test_a.py\nrewrite\n1\n${'"\\'.repeat(500_000)}\nend diff\n`,
    'lines that may all part SEARCH from REPLACE': `tests/test_a.py\n<<<<<<< SEARCH\n${'=======\n'.repeat(100_000)}>>>>>>> REPLACE\n`,
    'a function that is rewritten thousands of times': `diff\ntests/test_a.py\nrewrite\n1\n${'def f():\n    pass\n'.repeat(5000)}end diff\n`,
    'more code in a block than any file has': `diff\ntests/test_a.py\ninsert\nEOF\n${'&amp;\n'.repeat(200_000)}end diff\n`,
    'a hunk of removed lines': `--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1,3 +1,3 @@\n def a():\n${'-a\n'.repeat(30_000)}`,
  };
  for (const [what, text] of Object.entries(mean)) {
    it(`comes to an end: ${what}`, async () => {
      assert.ok((await convert(text)).diagnostics.length > 0);
    });
  }

  it('hunks with wrong numbers look at the lines that they name, not at the whole file', () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}`);
    const image = new Image(`${lines.join('\n')}\n`);
    // The budget pays for each line that is looked at, and all hunks share it.
    for (let at = 0; at < lines.length; at += 2) {
      const own = lines.slice(at, at + 2);
      const place = image.nearest(own, (7 * at) % lines.length);
      assert.equal(place, at);
      image.replace(at, 2, [own[0] ?? '', 'written', own[1] ?? '']);
    }
    assert.ok(!image.isSpent);
    assert.equal(image.length, 30_000);
    assert.deepEqual(
      [image.oldAt(0), image.first, image.lines().length],
      [undefined, 20_000, 30_000],
    );
  });

  it('a hunk whose lines occur everywhere but not together is given up', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => (i % 2 === 0 ? 'a' : 'b'));
    const image = new Image(`${lines.join('\n')}\n`);
    for (let i = 0; i < 2000 && !image.isSpent; i++) {
      assert.equal(image.nearest(['a', 'a'], i), undefined);
    }
    assert.ok(image.isSpent);
  });

  it('parts of one file are applied until its text has been read too often', async () => {
    const line = 'x'.repeat(100_000);
    const long = `${line}\n`.repeat(10);
    const parts = Array.from(
      { length: 50 },
      (_, i) => `--- a/l\n+++ b/l\n@@ -10 +10,2 @@\n ${line}\n+y${i}\n`,
    );
    const { diagnostics } = await toUnified(parts.join(''), {
      ...{ format: 'unified', python },
      tree: { read: async (path) => (path === 'l' ? long : undefined) },
    });
    assert.ok(diagnostics.some(({ message }) => message.includes('too many parts')));
  });
});
