import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storedCandidate, type StoredCandidate } from '../../../src/commands/mcp/storedCandidate';

describe('a candidate that is kept as a prediction', () => {
  let folder = '';
  const logged: string[] = [];
  const reporter = { log: (line: string) => logged.push(line), progress: () => undefined };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-kept-'));
    logged.splice(0);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const kept = (id: string): Promise<StoredCandidate> =>
    storedCandidate({
      ...{ instance: { id }, out: join(folder, 'out.jsonl'), model: 'mcp' },
      ...{ storage: join(folder, 'storage'), reporter },
    });
  const patches = async (): Promise<string[]> =>
    (await readFile(join(folder, 'out.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { model_patch: string }).model_patch)
      .sort();

  it('loses no row of servers that write the same file at once', async () => {
    const servers = await Promise.all(['a-1', 'b-2', 'c-3'].map(kept));
    await Promise.all(servers.map(({ slot }, at) => slot.apply(`patch ${at}`)));
    assert.deepEqual(await patches(), ['patch 0', 'patch 1', 'patch 2']);
    const [first] = servers;
    await first?.slot.apply('another');
    assert.deepEqual(await patches(), ['another', 'patch 1', 'patch 2']);
    assert.deepEqual(await Promise.all(servers.map((each) => each.finish())), [true, true, true]);
  });

  it('stays in memory where the file cannot be written, and is written later', async () => {
    const one = await kept('a-1');
    await mkdir(join(folder, 'out.jsonl'));
    await one.slot.apply('patch');
    assert.equal(await one.slot.read(), 'patch');
    assert.match(logged.join('\n'), /could not save the candidate to .*out\.jsonl: /);
    assert.equal(await one.finish(), false);
    await rmdir(join(folder, 'out.jsonl'));
    assert.equal(await one.finish(), true);
    assert.deepEqual(await patches(), ['patch']);
  });

  it('leaves no file where there is none', async () => {
    assert.equal(await (await kept('a-1')).finish(), true);
    await assert.rejects(patches(), /ENOENT/);
  });
});
