import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFilter, publishedLists } from '../../../src/dataset/filterLists';
import { silent } from '../../../src/domain/work';

describe('filter lists', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'filter-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  const all = ['a__b-1', 'a__b-2', 'a__b-3'];
  async function kept(
    content: string,
    named?: Parameters<typeof loadFilter>[1]['named'],
    name?: string,
  ): Promise<string[]> {
    const path = join(folder, 'list.txt');
    await writeFile(path, content);
    const filter = await loadFilter(name ?? path, {
      storage: folder,
      reporter: silent,
      ...(named === undefined ? {} : { named }),
    });
    return all.filter((id) => filter.keeps(id));
  }

  it('keep the ids they name; # begins a comment', async () => {
    assert.deepEqual(await kept('\uFEFF# mine\r\na__b-1 # sound\r\n\r\n  a__b-3\r\n'), [
      'a__b-1',
      'a__b-3',
    ]);
    assert.deepEqual(await kept('z__z-1\n'), []);
  });

  it('leave out the ids behind !', async () => {
    assert.deepEqual(await kept('!a__b-1\n! a__b-2\n'), ['a__b-3']);
    assert.deepEqual(await kept('a__b-1\na__b-2\n!a__b-1\n'), ['a__b-2']);
  });

  it('have names of a person’s own, before the published ones', async () => {
    const from = join(folder, 'list.txt');
    assert.deepEqual(await kept('a__b-1\n', { mine: from }, 'mine'), ['a__b-1']);
    assert.deepEqual(await kept('a__b-1\n', { mine: { from, exclude: true } }, 'MINE'), [
      'a__b-2',
      'a__b-3',
    ]);
    assert.deepEqual(await kept('a__b-1\n', { lite: from }, 'Lite'), ['a__b-1']);
    const filter = await loadFilter('mine', {
      storage: folder,
      reporter: silent,
      named: { mine: { from, exclude: true } },
    });
    assert.equal(filter.name, 'mine');
    assert.deepEqual([...filter.ids], ['a__b-1']);
  });

  it('of the reference harness name what is left out', () => {
    for (const [name, list] of Object.entries(publishedLists)) {
      assert.ok(typeof list !== 'string' && list.exclude);
      assert.ok(list.from.endsWith(`/dataset/filter_cases_${name.toLowerCase()}.txt`));
    }
  });

  it('may be a triage file: those that the Agentless paper would keep', async () => {
    const instances = {
      'a__b-1': { classification: { description: 'insufficient' } },
      'a__b-2': { classification: { description: 'natural-language', solution: 'none' } },
    };
    assert.deepEqual(await kept(JSON.stringify({ format: 1, instances })), ['a__b-2']);
  });

  it('say what is wrong, and where', async () => {
    await assert.rejects(
      kept('a__b-1\n<html>\n'),
      /Line 2 of the filter list .* is not a valid instance ID: "<html>"/,
    );
    await assert.rejects(kept('[]'), /Line 1 of/);
    await assert.rejects(kept('# nothing\n'), /The filter list .* is empty/);
    await assert.rejects(
      kept('', {}, 'Nowhere'),
      /no filter list Nowhere\. .*Lite, Verified, Full/,
    );
    await assert.rejects(
      kept('', { gone: join(folder, 'gone') }, 'gone'),
      /no filter list gone at /,
    );
    await assert.rejects(kept('', {}, 'http://example.org/list'), /not an https URL/);
    await assert.rejects(kept('../x'), /not a valid instance ID/);
  });
});
