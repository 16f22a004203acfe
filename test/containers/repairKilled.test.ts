import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentlessAnswer, agentlessVectors } from '../commandLine/agentlessScript';
import { cli, sample, start } from '../commandLine/cli';
import { modelByStage } from '../real/modelByStage';
import { hasOutputs, killedWhen, processesOn, volumeNames } from './afterKill';
import { baseImage, containersOf, needDocker, removeImagesOf } from './dockerForTests';

describe('repair that was killed while patches ran in containers', () => {
  // The real id is that of other tests, which may run at the same time.
  const id = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
  let folder = '';
  before(async function () {
    await needDocker(this);
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-killed-'));
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as object;
    await writeFile(join(folder, 'row.jsonl'), JSON.stringify({ ...row, instance_id: id }));
  });
  after(async () => {
    if (folder === '') return;
    await removeImagesOf(id);
    await rm(folder, { recursive: true, force: true });
  });

  it('goes on with what was paid, and leaves no container, volume or process', async () => {
    const server = await modelByStage({ answer: agentlessAnswer, vectors: agentlessVectors });
    const out = join(folder, 'repairs.jsonl');
    const args = [
      ...['repair', '--method', 'agentless', '--model', 'openai-compatible/m', '--out', out],
      ...['--base-url', server.url, '--reproduction-samples', '2', '--location-samples', '1'],
      ...['--dataset', join(folder, 'row.jsonl'), '--source', join(sample, 'repository')],
      ...['--engine', 'docker', '--base-image', baseImage, '--prebuilt', 'none'],
      ...['--memory', '512m', '--storage', join(folder, 'storage')],
    ];
    const volumes = await volumeNames();
    try {
      const killed = start(args);
      await killedWhen(killed.child, () => hasOutputs(out, 'regression tests with a patch', 1));
      assert.equal((await killed.answer).status, null, 'it was killed before its end');
      const left = await containersOf(id);
      assert.ok(left.length > 0, 'the killed command leaves its containers');
      const asked = server.asked.length;
      const { status, stderr } = await cli(args);
      assert.equal(status, 0, stderr);
      assert.equal(server.asked.length, asked, 'everything was paid for');
      assert.deepEqual(await containersOf(id), []);
      assert.deepEqual(await volumeNames(), volumes);
      assert.deepEqual(await processesOn(folder), []);
      const [first] = (await readFile(`${out}.ranked.jsonl`, 'utf8')).split('\n');
      const best = JSON.parse(first ?? '') as Record<string, unknown>;
      assert.deepEqual([best['reproduction'], best['regressions']], ['Issue resolved', []]);
    } finally {
      await server.close();
    }
  });
});
