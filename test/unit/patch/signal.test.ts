import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Cancelled, inTurns, turnsOf } from '../../../src/domain/work';
import { changedTestsSteps } from '../../../src/python/changedTests';
import { toUnified, type PatchFormat } from './formats';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';

/** A signal that counts its reads, and is aborted from the n-th read on. */
function abortedAt(look: number): { signal: AbortSignal; looks: () => number } {
  let looks = 0;
  const signal = new AbortController().signal;
  Object.defineProperty(signal, 'aborted', { get: () => (looks += 1) >= look });
  return { signal, looks: () => looks };
}

const count = 40;
const each = (text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join('');
const file = each((i) => `def test_${i}():\n    assert ${i} == ${i}\n\n\n`);

/** A text of many parts in each format, and one of which no part fits. */
const texts: Record<PatchFormat, { fitting: string; wrong: string }> = {
  custom: {
    fitting: each(
      (i) =>
        `diff\ntests/test_a.py\nrewrite\n${1 + 4 * i}\ndef test_${i}():\n    assert 0\nend diff\n`,
    ),
    wrong: each(
      (i) => `diff\ntests/test_a.py\nrewrite\n1\ndef other_${i}():\n    assert 0\nend diff\n`,
    ),
  },
  unified: {
    fitting:
      '--- a/tests/test_a.py\n+++ b/tests/test_a.py\n' +
      each(
        (i) =>
          `@@ -${4 * i + 5},3 +${4 * i + 5},3 @@\n def test_${i}():\n-    assert ${i} == ${i}\n+    assert 0\n \n`,
      ),
    wrong: each(
      (i) => `--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-nothing ${i}\n+more\n`,
    ),
  },
  fuzzy: {
    fitting:
      '--- a/tests/test_a.py\n+++ b/tests/test_a.py\n' +
      each((i) => `@@ -1,2 +1,2 @@\n def test_${i}():\n-    assert ${i} == ${i}\n+    assert 0\n`),
    wrong: each(
      (i) => `--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-nothing ${i}\n+more\n`,
    ),
  },
  'search-replace': {
    fitting: each(
      (i) =>
        `tests/test_a.py\n<<<<<<< SEARCH\n    assert ${i} == ${i}\n=======\n    assert 0\n>>>>>>> REPLACE\n`,
    ),
    wrong: each(
      (i) =>
        `tests/test_a.py\n<<<<<<< SEARCH\nnothing ${i}\n=======\n    assert 0\n>>>>>>> REPLACE\n`,
    ),
  },
};

describe('reading what a model wrote', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));
  const read = (path: string): Promise<string | undefined> =>
    Promise.resolve(path === 'tests/test_a.py' ? file : undefined);
  const convert = (text: string, format: PatchFormat, signal: AbortSignal) =>
    toUnified(text, { format, tree: { read }, python, signal });

  for (const [format, { fitting, wrong }] of Object.entries(texts) as [
    PatchFormat,
    (typeof texts)[PatchFormat],
  ][]) {
    for (const [what, text] of Object.entries({ fitting, wrong })) {
      it(`looks at its signal for each part: ${format}, ${what}`, async () => {
        const never = abortedAt(Infinity);
        const { patch } = await convert(text, format, never.signal);
        assert.equal(patch !== '', what === 'fitting');
        assert.ok(never.looks() >= count, `${never.looks()} looks for ${count} parts`);
      });
    }
    it(`ends wherever its signal is aborted: ${format}`, async () => {
      for (const text of [fitting, wrong]) {
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 1, max: count }), async (look) => {
            const at = abortedAt(look);
            await assert.rejects(convert(text, format, at.signal), Cancelled);
            assert.equal(at.looks(), look);
          }),
          { numRuns: 20 },
        );
      }
    });
  }

  it('looks at its signal for each test that is compared', async () => {
    const after = file.replaceAll('assert', 'assert not');
    const work = () => changedTestsSteps(python, file, after, { path: 'tests/test_a.py' });
    const never = abortedAt(Infinity);
    const changes = await inTurns(work(), turnsOf(never.signal));
    assert.equal(changes.changed.length, count);
    assert.ok(never.looks() >= count);
    const soon = abortedAt(10);
    await assert.rejects(inTurns(work(), turnsOf(soon.signal)), Cancelled);
    assert.equal(soon.looks(), 10);
  });

  it('a real signal arrives while a long text is read', async () => {
    const end = new AbortController();
    const many = Array.from(
      { length: 2000 },
      (_, i) => `diff\ntests/test_a.py\nrewrite\n1\ndef other_${i}():\n    assert 0\nend diff\n`,
    ).join('');
    const converting = convert(many, 'custom', end.signal);
    setImmediate(() => end.abort());
    await assert.rejects(converting, Cancelled);
  });
});
