import { strict as assert } from 'node:assert';
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  mergeNodeSeconds,
  NodeSecondsJournal,
  nodesOfRun,
  readMadeOnNodes,
  readNodeSeconds,
} from '../../../src/results/nodeSeconds';

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

  const add = (to: string, nodes: Readonly<Record<string, number>>): Promise<void> =>
    new NodeSecondsJournal(nodesOfRun(to), () => nodes).end();

  it('adds up the commands of a run, without damaged lines', async () => {
    const run = await below('run');
    assert.equal(await readNodeSeconds(nodesOfRun(run)), undefined);
    await add(run, {});
    assert.equal(await readNodeSeconds(nodesOfRun(run)), undefined);
    await add(run, { a: 1.5, b: 2 });
    await appendFile(join(run, 'nodes.jsonl'), '{"nodes": {"a": -1}}\nno JSON\n{"to');
    await add(run, { a: 1 });
    assert.deepEqual(await readNodeSeconds(nodesOfRun(run)), { a: 2.5, b: 2 });
  });

  it('has what a killed command used, once the folder of its run is there', async () => {
    const run = join(folder, 'killed');
    let a = 0;
    const journal = new NodeSecondsJournal(nodesOfRun(run), () => ({ a: (a += 1) }), 1);
    const until = async (holds: () => Promise<boolean>): Promise<void> => {
      while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    await until(() => Promise.resolve(a >= 3));
    await below('killed');
    const kept = async (): Promise<number> => (await readNodeSeconds(nodesOfRun(run)))?.['a'] ?? 0;
    // The command has not ended, as one that is killed never does.
    await until(async () => (await kept()) > 4);
    const first = await kept();
    await until(async () => (await kept()) > first);
    assert.ok((await kept()) <= a, 'the records of one command are not added up');
    await journal.end();
    assert.equal(await readNodeSeconds(nodesOfRun(run)).then((all) => all?.['a']), a);
  });

  it('counts a shard once, however often it is merged', async () => {
    const [one, two, whole] = [await below('1'), await below('2'), await below('whole')];
    await add(one, { a: 1 });
    await add(two, { a: 2, b: 3 });
    await mergeNodeSeconds([one, two, two].map(nodesOfRun), nodesOfRun(whole));
    await mergeNodeSeconds([one, two].map(nodesOfRun), nodesOfRun(whole));
    assert.deepEqual(await readNodeSeconds(nodesOfRun(whole)), { a: 3, b: 3 });
  });

  it('are none for predictions of another machine, whose names may be anything', async () => {
    const names = ['a'.repeat(1 << 20), 'a\0b', join(folder, 'killed', 'nodes.jsonl', 'x'), ''];
    assert.deepEqual(await readMadeOnNodes(names.map((from) => ({ from }))), {});
  });
});
