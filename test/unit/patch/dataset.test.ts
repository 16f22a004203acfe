import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { parsePatch } from 'diff';
import { changedLines } from '../../../src/patch/changedLines';
import { checkPatchPaths } from '../../../src/patch/unsafePath';
import { isTestPath, testFilesOf } from '../../../src/patch/testFiles';
import { parseUnified } from '../../../src/patch/parseUnified';
import { formatFilePatch } from '../../../src/patch/makeUnified';

const dataset = process.env['SWT_BENCH_DATA'] ?? '../shared/data/swe-bench-lite.dev.jsonl';

interface Row {
  instance_id: string;
  patch: string;
  test_patch: string;
}

/** Endings that the reference harness does not run; `csv` has no dot there. */
const notTests = '.json .png csv .txt .md .jpg .jpeg .pkl .yml .yaml .toml'.split(' ');

/**
 * The test files of a run, exactly as the reference harness finds them (`get_test_directives` in
 * its utils.py). It takes every new path of a `diff --git` line, wherever that stands, except some
 * endings. The result includes deleted files and files that are not tests; without such lines it is
 * empty.
 */
function harnessTestFiles(patchText: string): string[] {
  return [...patchText.matchAll(/diff --git a\/[^\n]* b\/([^\n]*)/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => !notTests.some((ending) => path.endsWith(ending)));
}

describe('the patches of 200 real instances', function () {
  let rows: Row[] = [];
  before(function () {
    if (!existsSync(dataset)) {
      console.log(`      skipped: no dataset at ${dataset} (set SWT_BENCH_DATA)`);
      this.skip();
    }
    rows = readFileSync(dataset, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    assert.ok(rows.length >= 200);
  });

  const each = (check: (text: string, id: string) => void): void => {
    for (const row of rows) {
      check(row.patch, row.instance_id);
      check(row.test_patch, row.instance_id);
    }
  };

  it('parse without problems and are written again as they were', () => {
    each((text, id) => {
      const { files, problems } = parseUnified(text);
      assert.deepEqual(problems, [], id);
      const known = text
        .split('\n')
        .filter((line) => !/^(index [0-9a-f]|similarity index)/.test(line))
        .join('\n');
      assert.equal(files.map(formatFilePatch).join(''), known.replace(/^(@@ .*@@) $/gm, '$1'), id);
    });
  });

  it('have as many lines as their headers say, numbered without gaps', () => {
    each((text, id) => {
      for (const file of parseUnified(text).files) {
        for (const hunk of file.hunks) {
          const old = hunk.lines.flatMap((line) => line.oldLine ?? []);
          const now = hunk.lines.flatMap((line) => line.newLine ?? []);
          assert.equal(old.length, hunk.oldLines, id);
          assert.equal(now.length, hunk.newLines, id);
          old.forEach((line, i) => assert.equal(line, hunk.oldStart + i));
          now.forEach((line, i) => assert.equal(line, hunk.newStart + i));
        }
      }
    });
  });

  it('give the same hunks as the diff package, which reads them too', () => {
    each((text, id) => {
      const theirs = parsePatch(text).flatMap((file) => file.hunks);
      const ours = parseUnified(text).files.flatMap((file) => file.hunks);
      assert.equal(ours.length, theirs.length, id);
      ours.forEach((hunk, i) => {
        const lines = theirs[i]?.lines.filter((line) => !line.startsWith('\\')) ?? [];
        const marks = { context: ' ', removed: '-', added: '+' };
        assert.deepEqual(
          hunk.lines.map((line) => marks[line.kind] + line.text),
          lines.map((line) => (line === '' ? ' ' : line)),
          id,
        );
      });
    });
  });

  it('name safe paths, golden patches outside the tests and golden tests inside', () => {
    for (const row of rows) {
      const [patch, tests] = [parseUnified(row.patch), parseUnified(row.test_patch)];
      assert.deepEqual([...checkPatchPaths(patch), ...checkPatchPaths(tests)], []);
      for (const file of patch.files) assert.ok(!isTestPath(file.newPath ?? ''), row.instance_id);
      for (const file of tests.files) assert.ok(isTestPath(file.newPath ?? ''), row.instance_id);
      const { removed, added } = changedLines(patch);
      assert.ok(removed.length + added.length > 0, row.instance_id);
      // Ours are the harness's, without data and helpers: models.py of Django, roots of Sphinx.
      const [ours, harness] = [testFilesOf(tests), harnessTestFiles(row.test_patch)];
      assert.ok(ours.length > 0, row.instance_id);
      assert.ok(
        ours.every((path) => harness.includes(path)),
        row.instance_id,
      );
      for (const path of harness.filter((p) => !ours.includes(p))) {
        assert.doesNotMatch(path, /(^|\/)(test_[^/]*|tests)\.py$/, row.instance_id);
      }
    }
  });
});
