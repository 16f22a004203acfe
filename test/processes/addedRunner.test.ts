import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { plain, useExample, write, type Example } from './exampleRepository';

const run = promisify(execFile);

describe('a runner that is added by its descriptor alone', () => {
  let example: Example;
  useExample((made) => (example = made));

  it('plans and runs tests with the local engine, and its log is read', async () => {
    const { origin } = example;
    const storage = await example.storage();
    const trees = await example.prepare({ kind: 'commit', from: origin }, storage);
    const file = 'tests/check_purr.py';
    await write(origin, { [file]: 'import cat\ndef test_purr():\n    assert cat.purr() == 2\n' });
    plain(origin, 'add', '-N', file);
    const patch = `${plain(origin, 'diff', '--', file)}\n`;
    const input = join(storage, 'input.json');
    await writeFile(
      input,
      JSON.stringify({ instance: example.instance(), trees, storage, patch, file }),
    );
    const { stdout } = await run(process.execPath, [
      ...['--import', 'tsx', resolve('test/processes/addedRunnerProcess.ts'), input],
    ]);
    assert.deepEqual(JSON.parse(stdout), {
      runner: 'lines',
      packages: {},
      base: { [`${file}::test_purr`]: 'FAILED', counted: 1 },
      fixed: { [`${file}::test_purr`]: 'PASSED', counted: 1 },
    });
  });
});
