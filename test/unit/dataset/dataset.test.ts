import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  describeProblem,
  figures,
  openDataset,
  selectEntries,
  type Dataset,
} from '../../../src/dataset/dataset';
import { HumanError, silent } from '../../../src/domain/work';

const diff = (path: string, hunk = '@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n'): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunk}`;

const row = {
  instance_id: 'octo__cat-1',
  repo: 'octo/cat',
  base_commit: 'abcdef0123456789abcdef0123456789abcdef01',
  problem_statement: 'It does not purr',
  created_at: '2023-01-02T03:04:05Z',
  version: '1.0',
  patch: diff('cat.py') + diff('purr.py'),
  test_patch: diff('tests/test_cat.py'),
};

describe('loading a dataset', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'dataset-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  async function load(...rows: unknown[]): Promise<Dataset> {
    const path = join(folder, 'rows.jsonl');
    await writeFile(
      path,
      rows.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n'),
    );
    return openDataset(path, { storage: join(folder, 'storage'), reporter: silent });
  }

  it('keeps sound rows in order and names the others by row, id and field', async () => {
    const dataset = await load(
      row,
      '{"instance_id":',
      { ...row, instance_id: 'octo__cat-2', repo: undefined },
      { ...row, instance_id: 'octo__cat-3', patch: 'Sorry, I cannot help with that' },
      { ...row, instance_id: 'octo__cat-4', test_patch: diff('../evil.py') },
      { ...row, instance_id: 'octo__cat-1', problem_statement: 'the second one' },
      { ...row, instance_id: 'octo__cat-5' },
    );
    assert.deepEqual(
      dataset.entries.map((each) => each.id),
      ['octo__cat-1', 'octo__cat-5'],
    );
    assert.equal(dataset.entries[0]?.issue, 'It does not purr');
    const said = dataset.problems.map(describeProblem);
    assert.equal(said.length, 5);
    assert.match(said[0] ?? '', /^row 2: line 2 is not JSON/);
    assert.equal(said[1], 'row 3 (octo__cat-2): repo is missing or not a string');
    assert.equal(said[2], 'row 4 (octo__cat-3): patch is not a unified diff');
    assert.match(said[3] ?? '', /^row 5 \(octo__cat-4\): test_patch names a path outside the tree/);
    assert.match(said[4] ?? '', /^row 6 \(octo__cat-1\): duplicate ID; the first/);
    assert.deepEqual(
      dataset.problems.map((each) => each.field),
      [undefined, 'repo', 'patch', 'test_patch', 'instance_id'],
    );
  });

  it('exchanges code and tests where they are swapped, and says so', async () => {
    const swapped = {
      ...row,
      instance_id: 'octo__cat-2',
      patch: row.test_patch,
      test_patch: row.patch,
    };
    const dataset = await load(row, swapped);
    assert.deepEqual(dataset.problems, []);
    const [one, two] = await dataset.read(['octo__cat-1', 'octo__cat-2']);
    assert.equal(two?.goldenPatch, one?.goldenPatch);
    assert.equal(two?.goldenTests, one?.goldenTests);
    assert.equal(one?.remarks, undefined);
    assert.match(two?.remarks?.[0] ?? '', /patch contained the tests and test_patch the fix/);
    assert.deepEqual(dataset.entries[1]?.patch.files, ['cat.py', 'purr.py']);
  });

  it('takes a fix inside a folder of tests for what it is', async () => {
    const dataset = await load({ ...row, patch: diff('octo/test/client.py') });
    assert.deepEqual(dataset.problems, []);
  });

  it('says what is wrong when no row can be used', async () => {
    await assert.rejects(
      load({ ...row, patch: '' }, 'x'),
      (error) =>
        error instanceof HumanError &&
        /The dataset .*rows\.jsonl has no valid rows \(row 1 \(octo__cat-1\): patch is empty/.test(
          error.message,
        ) &&
        /problem_statement/.test(error.next ?? ''),
    );
    await assert.rejects(load('[]'), /has no valid rows/);
    await assert.rejects(load('{}'), /has no valid rows/);
    await assert.rejects(load('null'), /not an object/);
    await assert.rejects(load(''), /is empty/);
  });

  it('selects by id, in the order asked for and once each, and by repository', async () => {
    const two = { ...row, instance_id: 'octo__cat-2' };
    const dog = { ...row, instance_id: 'octo__dog-1', repo: 'octo/dog' };
    const dataset = await load(row, two, dog, { ...row, instance_id: 'octo__cat-3', patch: '' });
    const ids = (filter: Parameters<typeof selectEntries>[1]): string[] =>
      selectEntries(dataset, filter).map((each) => each.id);
    assert.deepEqual(ids({}), ['octo__cat-1', 'octo__cat-2', 'octo__dog-1']);
    assert.deepEqual(ids({ ids: ['octo__dog-1', 'octo__cat-1', 'octo__dog-1'] }), [
      'octo__dog-1',
      'octo__cat-1',
    ]);
    assert.deepEqual(ids({ repo: 'octo/dog' }), ['octo__dog-1']);
    assert.throws(
      () => ids({ ids: ['octo__cat-9', 'x'] }),
      /octo__cat-9, x are not in the dataset/,
    );
    assert.throws(
      () => ids({ ids: ['octo__cat-3'] }),
      /octo__cat-3 has an invalid row: row 4 .*patch/,
    );
  });

  it('figures: issue characters, files and lines of both patches', async () => {
    const dataset = await load(row);
    const [entry] = dataset.entries;
    assert.ok(entry !== undefined);
    assert.deepEqual(figures(entry), {
      id: 'octo__cat-1',
      repo: 'octo/cat',
      version: '1.0',
      base_commit: row.base_commit,
      created_at: '2023-01-02T03:04:05Z',
      issue_length: 16,
      patch: { files: 2, lines: 6 },
      test_patch: { files: 1, lines: 3 },
    });
  });
});

describe('the 200 published rows', () => {
  const root = resolve(__dirname, '../../..');
  const path =
    process.env['SWT_BENCH_DATA'] ?? join(root, '../shared/data/swe-bench-lite.dev.jsonl');

  it('all load, each with a golden patch, golden tests and both lists', async function () {
    if (!existsSync(path)) {
      console.log(`      skipped: no dataset at ${path} (set SWT_BENCH_DATA)`);
      this.skip();
    }
    const storage = await mkdtemp(join(tmpdir(), 'dataset-test-'));
    try {
      for (const time of ['read', 'from its index']) {
        const dataset = await openDataset(path, { storage, reporter: silent });
        assert.deepEqual(dataset.problems, [], time);
        assert.equal(dataset.entries.length, 200);
        const instances = await dataset.read(dataset.entries.map((each) => each.id));
        for (const [index, entry] of dataset.entries.entries()) {
          const instance = instances[index];
          assert.ok(instance !== undefined);
          assert.equal(instance.id, entry.id);
          assert.equal(instance.issue, entry.issue);
          assert.equal(instance.remarks, undefined);
          assert.match(instance.baseCommit, /^[0-9a-f]{40}$/);
          assert.ok((instance.failToPass?.length ?? 0) > 0, instance.id);
          assert.ok(Array.isArray(instance.passToPass), instance.id);
          const { patch, test_patch } = figures(entry);
          assert.ok(patch.files > 0 && patch.lines > 0, instance.id);
          assert.ok(test_patch.files > 0 && test_patch.lines > 0, instance.id);
        }
      }
    } finally {
      await rm(storage, { recursive: true, force: true });
    }
  });
});
