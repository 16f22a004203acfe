import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acpNames } from '../../src/commands/options/acpOptions';
import { methods } from '../../src/method/methods';

const methodNames = methods.map(({ name }) => name);
import { root, scratch } from './cli';
import { assertAtif, harborPython } from './harborValidator';
import {
  blocksOfMethods,
  gatewayOfAllMethods,
  methodsIn,
  paste,
  ratesIn,
  rowName,
} from './pastedCommands';

describe('every method of docs/models.md', () => {
  const folder = scratch();

  it('is in a table, and in the commands for the bundled instance', async () => {
    const page = await readFile(join(root, 'docs', 'models.md'), 'utf8');
    const blocks = await blocksOfMethods();
    assert.equal(blocks.length, 2);
    // One agent of the protocol stands for all: they differ in their programs.
    const pasted = [...methodNames, 'acp:opencode'];
    assert.deepEqual(blocks.flatMap(methodsIn).sort(), pasted.sort());
    for (const name of [...methodNames, ...acpNames])
      assert.match(page, new RegExp(`^\\| \`${name}\` +\\|`, 'm'));
  });

  it('goes from generate through evaluate to report, pasted as it stands @full', async () => {
    const [block = ''] = await blocksOfMethods();
    const gateway = await gatewayOfAllMethods();
    let printed = '';
    try {
      printed = await paste(block, { cwd: folder.path, gateway });
    } finally {
      await gateway.close();
    }
    const report = printed.slice(printed.indexOf('Rates in %'));
    const rates = ratesIn(report);
    for (const method of methodsIn(block)) {
      const [selected, applies, success] = rates.get(rowName(method)) ?? [];
      assert.equal(selected, '1', `${method} in ${report}`);
      assert.match(applies ?? '', /^100\.0/, method);
      assert.match(success ?? '', /^100\.0/, method);
    }
  });

  it("has left trajectories that are ATIF for Harbor's validator @full", async function () {
    const [block = ''] = await blocksOfMethods();
    const python = await harborPython(this);
    for (const method of methodsIn(block)) {
      await assertAtif(python, join(folder.path, `${method}.jsonl`));
    }
  });
});
