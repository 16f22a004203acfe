import assert from 'node:assert/strict';
import fc from 'fast-check';
import { atOnce } from '../../../src/domain/work';
import { changedTestsSteps, compareTests, testFile } from '../../../src/python/changedTests';
import { definitionsIn, findDefinitions } from '../../../src/python/definitions';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from './loadParser';

const path = 'tests/test_a.py';
const pieces = [
  'def test_a():\n    assert 1\n',
  'class TestB:\n    def test_x(self):\n        """é 🐈"""\n        return 2\n',
  '@fixture\ndef cat():\n    yield\n',
  'x = """\n',
  '    ',
  '\n',
  '(',
  ')',
  '🐈',
  '# note\n',
  'async ',
  'def f(',
];

describe('a source that is edited', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });

  it('is read with its earlier version as each of them by itself', () => {
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join(''));
    fc.assert(
      fc.property(text, text, text, text, (head, old, now, tail) => {
        const [before, after] = [head + old + tail, head + now + tail];
        assert.deepEqual(python.parseBoth(before, definitionsIn, after, definitionsIn), [
          findDefinitions(python, before),
          findDefinitions(python, after),
        ]);
      }),
    );
  });

  it('reads the same after any edits as when it is read anew', () => {
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join(''));
    const edits = fc.array(
      fc.record({ at: fc.nat(), length: fc.nat(40), text, seen: fc.boolean() }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(text, edits, (source, all) => {
        const edited = python.open(source);
        try {
          let plain = source;
          for (const each of all) {
            const start = each.at % (plain.length + 1);
            const end = Math.min(plain.length, start + each.length);
            edited.replace(start, end, each.text);
            plain = plain.slice(0, start) + each.text + plain.slice(end);
            assert.equal(edited.text, plain);
            // Several edits may happen between two reads.
            if (each.seen) edited.read(definitionsIn);
          }
          const isSound = python.parse(plain, (root) => !root.hasError);
          // The reading of broken code depends on the code before the edit.
          if (!isSound) return;
          assert.deepEqual(edited.read(definitionsIn), findDefinitions(python, plain));
          assert.deepEqual(
            compareTests(
              python,
              python.parse(source, (root) => testFile(root, source, path)),
              edited.read((root) => testFile(root, plain, path)),
            ),
            atOnce(changedTestsSteps(python, source, plain, { path })),
          );
        } finally {
          edited.dispose();
        }
      }),
    );
  });
});
