import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readTriage, updateTriage } from '../../src/dataset/triage';

const source = JSON.stringify(resolve(__dirname, '..', '..', 'src', 'dataset', 'triage.ts'));

/** A process that adds its own tags to two instances, one after the other. */
const script = `
const { updateTriage } = require(${source});
const [path, name, count] = process.argv.slice(1);
(async () => {
  for (let n = 0; n < Number(count); n += 1) {
    await updateTriage(path, 'a__b-' + (n % 2), (entry) => ({
      note: '', classification: {}, ...entry,
      tags: [...(entry?.tags ?? []), name + '-' + n],
    }));
    console.log(n);
  }
})().catch((error) => { console.error(error); process.exitCode = 1; });
`;

function start(path: string, name: string, count: number) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--eval', script, path, name, String(count)],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: resolve(__dirname, '..', '..') },
  );
  const ended = new Promise<number | null>((done) => child.on('close', done));
  return { child, ended };
}

describe('one triage file, several processes @full', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'triage-test-'));
    path = join(folder, 'triage.json');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('loses no edit, and whoever reads meanwhile sees a whole file', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const all = Promise.all(names.map((name) => start(path, name, 25).ended));
    let done = false;
    void all.then(() => (done = true));
    while (!done) {
      await readTriage(path);
      await new Promise((next) => setTimeout(next, 5));
    }
    assert.deepEqual(await all, [0, 0, 0, 0]);
    const tags = [...(await readTriage(path)).instances.values()].flatMap((entry) => entry.tags);
    const expected = names.flatMap((name) => Array.from({ length: 25 }, (_, n) => `${name}-${n}`));
    assert.deepEqual(tags.sort(), expected.sort());
    assert.deepEqual(await readdir(folder), ['triage.json']);
  });

  it('is whole, and can be edited on, after a process was killed', async () => {
    const { child, ended } = start(path, 'killed', 1_000_000);
    let edits = 0;
    await new Promise<void>((enough) => {
      child.stdout.on('data', (chunk: Buffer) => {
        edits += chunk.toString().split('\n').length - 1;
        if (edits >= 10) enough();
      });
    });
    child.kill('SIGKILL');
    await ended;
    const kept = [...(await readTriage(path)).instances.values()].flatMap((entry) => entry.tags);
    assert.ok(kept.length >= 10);
    const file = await updateTriage(path, 'a__b-9', () => ({
      tags: ['x'],
      note: '',
      classification: {},
    }));
    assert.equal(file.instances.size, 3);
    assert.deepEqual(await readdir(folder), ['triage.json']);
  });

  it('takes over the lock of a process that is no more', async () => {
    await writeFile(path, '{"format": 1, "instances": {}}');
    await mkdir(`${path}.lock`);
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(`${path}.lock`, longAgo, longAgo);
    await updateTriage(path, 'a__b-1', () => ({ tags: ['x'], note: '', classification: {} }));
    assert.match(await readFile(path, 'utf8'), /"x"/);
  });
});
