import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, sample } from '../commandLine/cli';
import { assertAtif, harborPython } from '../commandLine/harborValidator';
import {
  blocksOfMethods,
  gatewayOfAllMethods,
  methodsIn,
  paste,
  ratesIn,
  rowName,
} from '../commandLine/pastedCommands';
import { agentProgram } from './agentProgram';
import { baseImage, containersOf, needDocker, removeImagesOf } from './dockerForTests';

describe('agents with a shell of docs/models.md @full', () => {
  // The real id is that of other tests, which may run at the same time.
  const id = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
  let folder = '';

  before(async function () {
    await needDocker(this);
    folder = await mkdtemp(join(tmpdir(), 'swt-pasted-'));
    await cp(join(root, 'dist'), join(folder, 'dist'), {
      recursive: true,
      filter: (path) => !path.endsWith('.map'),
    });
    const copy = join(folder, 'media', 'sample');
    await cp(sample, copy, { recursive: true });
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as object;
    await writeFile(
      join(copy, 'instance.jsonl'),
      `${JSON.stringify({ ...row, instance_id: id })}\n`,
    );
  });
  after(async () => {
    if (folder === '') return;
    await removeImagesOf(id);
    await rm(folder, { recursive: true, force: true });
  });

  it('go from generate through evaluate to report, pasted as they stand', async () => {
    const [, block = ''] = await blocksOfMethods();
    await agentProgram(join(folder, 'agent'), 'opencode', 'good');
    const gateway = await gatewayOfAllMethods();
    let printed = '';
    try {
      printed = await paste(block, {
        ...{ dist: join(folder, 'dist'), cwd: folder, gateway },
        engineOptions: ['--prebuilt', 'none', '--base-image', baseImage, '--memory', '512m'],
      });
    } finally {
      await gateway.close();
    }
    const report = printed.slice(printed.indexOf('Rates in %'));
    const rates = ratesIn(report);
    for (const method of methodsIn(block)) {
      const [selected, , success] = rates.get(rowName(method)) ?? [];
      assert.equal(selected, '1', `${method} in ${report}`);
      assert.match(success ?? '', /^100\.0/, method);
    }
    assert.deepEqual(await containersOf(id), []);
  });

  it("have left trajectories that are ATIF for Harbor's validator", async function () {
    const [, block = ''] = await blocksOfMethods();
    const python = await harborPython(this);
    for (const method of methodsIn(block)) {
      await assertAtif(python, join(folder, `${method.replace('acp:', '')}.jsonl`));
    }
  });
});
