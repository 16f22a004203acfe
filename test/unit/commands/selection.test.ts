import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dataset } from '../../../src/dataset/dataset';
import { updateTriage } from '../../../src/dataset/triage';
import type { InstanceEntry } from '../../../src/domain/instance';
import { HumanError } from '../../../src/domain/work';
import { updateState } from '../../../src/repository/instanceState';
import { select, type Selection } from '../../../src/commands/evaluating/selection';

const entry = (id: string, repo: string, lines: number): InstanceEntry => ({
  id,
  repo,
  version: '1',
  baseCommit: '',
  createdAt: '2020-01-01',
  issue: `issue of ${id}`,
  patch: { files: ['a.py'], lines },
  tests: { files: ['t.py'], lines: 1 },
});

const dataset: Dataset = {
  name: 'test',
  path: 'test.jsonl',
  entries: [entry('a__b-1', 'a/b', 30), entry('a__b-2', 'a/b', 10), entry('c__d-1', 'c/d', 20)],
  problems: [],
  read: async () => [],
};

describe('selecting instances', () => {
  let storage = '';
  let triage = '';
  before(async () => {
    storage = await mkdtemp(join(tmpdir(), 'selection-test-'));
    triage = join(storage, 'triage.json');
    await updateTriage(triage, 'a__b-2', () => ({ tags: ['x'], note: '', classification: {} }));
    await updateState(storage, 'c__d-1', () => ({
      verdict: { success: true, reason: '', failToPass: 1, date: '2026-01-01T00:00:00Z' },
    }));
  });
  after(() => rm(storage, { recursive: true, force: true }));

  const ids = async (selection: Selection): Promise<string> =>
    (await select(dataset, selection, storage)).map(({ entry: { id } }) => id).join(' ');

  it('keeps what every condition keeps, in the order asked for', async () => {
    assert.equal(await ids({}), 'a__b-1 a__b-2 c__d-1');
    assert.equal(await ids({ ids: ['c__d-1', 'a__b-1'] }), 'c__d-1 a__b-1');
    assert.equal(await ids({ ids: ['c__d-1', 'a__b-1'], query: 'changed:>20' }), 'a__b-1');
    assert.equal(await ids({ repo: 'a/b', sort: 'size' }), 'a__b-2 a__b-1');
    assert.equal(await ids({ sort: '-size' }), 'a__b-1 c__d-1 a__b-2');
    assert.equal(await ids({ query: 'nothing' }), '');
    assert.equal(await ids({ query: 'status:success' }), 'c__d-1');
    assert.equal(await ids({ query: 'tag:x', triage }), 'a__b-2');
    assert.equal(await ids({ query: '-tag:x status:not-opened', triage }), 'a__b-1');
  });

  it('gives the status where it was needed, and the triage entry where a file is named', async () => {
    const [unasked] = await select(dataset, { ids: ['c__d-1'] }, storage);
    assert.equal(unasked?.status, undefined);
    const [asked] = await select(dataset, { query: 'status:success' }, storage);
    assert.deepEqual(asked?.status, { kind: 'candidate', success: true, reason: '' });
    const [tagged] = await select(dataset, { ids: ['a__b-2'], triage }, storage);
    assert.deepEqual(tagged?.triage?.tags, ['x']);
  });

  it('says what it cannot use', async () => {
    const refused = (selection: Selection, said: RegExp) =>
      assert.rejects(
        ids(selection),
        (error) => error instanceof HumanError && said.test(error.message),
      );
    await refused({ query: 'tag:x' }, /--triage/);
    await refused({ query: 'status:best' }, /"best"/);
    await refused({ sort: 'best' }, /"best"/);
    await refused({ ids: ['z__z-1'] }, /z__z-1/);
    const broken = join(storage, 'broken.json');
    await writeFile(broken, '{');
    await refused({ triage: broken }, /broken\.json/);
  });
});
