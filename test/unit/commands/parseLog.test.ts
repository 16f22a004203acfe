import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../../../src/domain/work';
import { parseLogCommand, type ParseLogOptions } from '../../../src/commands/patches/parseLog';
import type { CommandContext } from '../../../src/commands/context';

describe('swt-bench parse-log', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parse-log-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = async (log: string | undefined, options: ParseLogOptions) => {
    const path = join(folder, 'log.txt');
    await rm(path, { force: true });
    if (log !== undefined) await writeFile(path, log);
    let [stdout, stderr] = ['', ''];
    const context: CommandContext = {
      stdout: (text) => (stdout += text),
      data: (text) => (stdout += text),
      stderr: (text) => (stderr += text),
      stdin: async () => Buffer.alloc(0),
      interactive: false,
      signal: new AbortController().signal,
      assets: '',
      bundled: { dataset: '', predictions: '', source: '' },
    };
    const status = await parseLogCommand(path, options, context);
    return { status, stdout, stderr };
  };

  const log = [
    '+ git apply -v -',
    'PASSED before the tests',
    "+ python3 /root/trace.py --count -C coverage.cover --include-pattern 'x' -m pytest -rA t.py",
    'PASSED t.py::test_a[x y]',
    'FAILED t.py::test_b - no',
    '+ cat coverage.cover',
    'PASSED after the tests',
    '',
  ].join('\r\n');

  it('prints the outcomes as the harness reads them, of its logs the part with the tests', async () => {
    const json = await run(log, { repo: 'pallets/flask', json: true });
    assert.deepEqual(JSON.parse(json.stdout), {
      't.py::test_a[x': 'PASSED',
      't.py::test_b': 'FAILED',
    });
    assert.deepEqual([json.status, json.stderr], [0, '']);
    const table = await run(log, { repo: 'Pallets/Flask' });
    assert.match(
      table.stdout,
      /^Outcome +Test\n─+\nPASSED +t\.py::test_a\[x\nFAILED +t\.py::test_b\n$/,
    );
  });

  it('reads the exit status of a reproduction script', async () => {
    const script = '+ python3 /testbed/x.py\nTraceback\n+ echo 1\n1\n';
    const { stdout } = await run(script, {
      repo: 'pallets/flask',
      mode: 'reproduction-script',
      json: true,
    });
    assert.deepEqual(JSON.parse(stdout), { reproduction_script: 'FAILED' });
  });

  it('says when the harness has no parser, and when there is no outcome', async () => {
    const other = await run('test_a (t.A) ... ok\n', { repo: 'octo/cat', json: true });
    assert.deepEqual(JSON.parse(other.stdout), { 'test_a (t.A)': 'PASSED' });
    assert.match(other.stderr, /no log parser for octo\/cat/);
    const none = await run('nothing\n', { repo: 'pallets/flask', json: true });
    assert.deepEqual([none.status, none.stdout], [1, '{}\n']);
    assert.match(none.stderr, /found no test outcomes/);
  });

  it('names a log that cannot be read', async () => {
    await assert.rejects(run(undefined, { repo: 'pallets/flask' }), (error) => {
      assert(error instanceof HumanError);
      assert.match(error.message, /log\.txt cannot be read/);
      return true;
    });
  });
});
