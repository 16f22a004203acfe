import { strict as assert } from 'node:assert';
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addNodeSeconds,
  mergeNodeSeconds,
  readNodeSeconds,
} from '../../../../src/results/nodeSeconds';

describe('seconds of nodes', () => {
  let folder = '';
  const below = async (name: string): Promise<string> => {
    const made = join(folder, name);
    await mkdir(made, { recursive: true });
    return made;
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-nodes-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('adds up the commands of a run, without damaged lines', async () => {
    const run = await below('run');
    assert.equal(await readNodeSeconds(run), undefined);
    await addNodeSeconds(run, {});
    assert.equal(await readNodeSeconds(run), undefined);
    await addNodeSeconds(run, { a: 1.5, b: 2 });
    await appendFile(join(run, 'nodes.jsonl'), '{"nodes": {"a": -1}}\nno JSON\n{"to');
    await addNodeSeconds(run, { a: 1 });
    assert.deepEqual(await readNodeSeconds(run), { a: 2.5, b: 2 });
  });

  it('counts a shard once, however often it is merged', async () => {
    const [one, two, whole] = [await below('1'), await below('2'), await below('whole')];
    await addNodeSeconds(one, { a: 1 });
    await addNodeSeconds(two, { a: 2, b: 3 });
    await mergeNodeSeconds([one, two, two], whole);
    await mergeNodeSeconds([one, two], whole);
    assert.deepEqual(await readNodeSeconds(whole), { a: 3, b: 3 });
  });
});
