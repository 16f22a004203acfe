import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { cli, root, sample, scratch, start } from './cli';

const id = 'tallybook__tallybook-217';

/** A patch that adds a file. */
const added = (path: string, ...lines: string[]): string => `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;

const reproducing = added(
  'tests/test_parts.py',
  'import unittest',
  '',
  'from tallybook import Money',
  '',
  'class PartsTest(unittest.TestCase):',
  '    def test_parts_add_up(self):',
  '        parts = Money(2000).allocate([1, 1, 1])',
  '        self.assertEqual(sum(part.cents for part in parts), 2000)',
);

describe('swt-bench mcp', function () {
  const folder = scratch();
  const args = (...more: string[]): string[] => [
    ...['mcp', '--dataset', join(sample, 'instance.jsonl'), '--id', id],
    ...['--source', join(sample, 'repository'), '--storage', join(folder.path, 'storage')],
    ...['--run-tests-locally', ...more],
  ];

  /** Calls `work` with a client of a server, which ends together with it. */
  const connected = async <T>(
    work: (client: Client, transport: StdioClientTransport) => Promise<T>,
    more: readonly string[] = [],
  ): Promise<T> => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(root, 'dist', 'cli.js'), ...args(...more)],
      cwd: root,
      stderr: 'pipe',
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    try {
      return await work(client, transport);
    } finally {
      await client.close();
    }
  };
  const call = async (
    client: Client,
    name: string,
    input: Record<string, unknown> = {},
    options: Parameters<Client['callTool']>[2] = {},
  ): Promise<{ text: string; isError: boolean }> => {
    const answer = await client.callTool({ name, arguments: input }, undefined, options);
    const [content] = answer.content as { type: string; text: string }[];
    assert.equal(content?.type, 'text');
    return { text: content.text, isError: answer.isError === true };
  };

  it('introduces itself and its tools', () =>
    connected(async (client) => {
      assert.equal(client.getServerVersion()?.name, 'swt-bench');
      assert.match(client.getInstructions() ?? '', /reproduce an issue/);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        [
          ...['read_issue', 'list_files', 'search_code', 'outline_file', 'read_file'],
          ...['apply_candidate', 'list_candidate_tests', 'run_tests', 'check_candidate'],
        ],
      );
      for (const { name, description, inputSchema, annotations } of tools) {
        assert.ok((description ?? '').length > 50, name);
        assert.equal(inputSchema.type, 'object', name);
        const runs = ['run_tests', 'check_candidate', 'apply_candidate'].includes(name);
        assert.equal(annotations?.readOnlyHint, !runs, name);
      }
    }));

  it('leads from the issue to a candidate that fails on R', () =>
    connected(async (client) => {
      assert.match((await call(client, 'read_issue')).text, /out of balance by -0\.01/);
      const found = await call(client, 'search_code', { query: 'allocate', kind: 'function' });
      assert.match(found.text, /tallybook\/money\.py/);
      assert.equal((await call(client, 'run_tests')).isError, true);
      assert.equal((await call(client, 'apply_candidate', { patch: reproducing })).isError, false);
      const ran = await call(client, 'run_tests');
      assert.match(ran.text, /1 failed\.[^]*AssertionError: 2001 != 2000/);
      assert.match((await call(client, 'list_candidate_tests')).text, /test_parts_add_up/);
      assert.match((await call(client, 'check_candidate')).text, /^Ready to submit/);
    }));

  it('tells that it goes on while the repository is being made, and nothing else', () =>
    connected(
      async (client) => {
        const steps: string[] = [];
        const onprogress = ({ message }: { message?: string | undefined }): void => {
          steps.push(message ?? '');
        };
        await call(client, 'read_issue', {}, { onprogress });
        assert.deepEqual(steps, ['read_issue is running']);
      },
      ['--storage', join(folder.path, 'fresh')],
    ));

  it('gives a model code as it is, and no structure that clients would show instead', () =>
    connected(async (client) => {
      const { tools } = await client.listTools();
      for (const { outputSchema, _meta: meta } of tools) {
        assert.equal(outputSchema, undefined);
        const schema = meta?.['swt-bench/data'] as { type?: unknown } | undefined;
        assert.equal(schema?.type, 'object');
      }
      const input = { path: 'tallybook/money.py', start_line: 1, end_line: 7 };
      const answer = await client.callTool({ name: 'read_file', arguments: input });
      assert.equal(answer.structuredContent, undefined);
      const [{ text } = { text: '' }] = answer.content as { text: string }[];
      assert.match(text, /^1 {2}"""Exact amounts of money\.$/m);
    }));

  it('does calls that are sent together in their order, with their data for programs', () =>
    connected(async (client) => {
      const data = async (name: string, input: object = {}): Promise<Record<string, unknown>> => {
        const { _meta: meta } = await client.callTool({ name, arguments: { ...input } });
        return meta?.['swt-bench/data'] as Record<string, unknown>;
      };
      const passing = reproducing.replace('2000)\n', '2001)\n');
      for (let time = 0; time < 3; time += 1) {
        const [, first, , second, listed] = await Promise.all([
          data('apply_candidate', { patch: reproducing }),
          data('run_tests'),
          data('apply_candidate', { patch: passing }),
          data('run_tests'),
          data('list_candidate_tests'),
        ]);
        assert.deepEqual([first?.['counts'], second?.['counts']], [{ failed: 1 }, { passed: 1 }]);
        assert.match(String(second?.['conclusion']), /reproduces nothing/);
        assert.match(String(listed?.['diff']), /2001\)/);
      }
    }));

  it('takes and gives long patches whole, and goes on after a message that is too long', () =>
    connected(async (client) => {
      const lines = Array.from({ length: 1000 }, (_, at) => `    assert ${at} < ${'9'.repeat(30)}`);
      const patch = added('tests/test_long.py', 'def test_long():', ...lines);
      assert.ok(patch.length > 40_000);
      await call(client, 'apply_candidate', { patch });
      assert.ok((await call(client, 'list_candidate_tests')).text.endsWith(patch.trimEnd()));
      const tooLong = call(client, 'apply_candidate', { patch: 'x'.repeat(11 * 1024 * 1024) });
      await assert.rejects(tooLong, /The message has \d+ bytes, and the limit is 10485760/);
      assert.ok((await call(client, 'list_candidate_tests')).text.endsWith(patch.trimEnd()));
    }));

  it('keeps the candidate as a prediction, which can be evaluated', async () => {
    const other = { instance_id: 'other__other-1', model_name_or_path: 'm', model_patch: '' };
    const out = await folder.file('kept.jsonl', `${JSON.stringify(other)}\n`);
    const rows = async (): Promise<unknown[]> =>
      (await readFile(out, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    const named = { instance_id: id, model_name_or_path: 'agent', model_patch: reproducing };
    await connected(
      async (client) => {
        assert.deepEqual(await rows(), [other]);
        const passing = reproducing.replace('2000)\n', '2001)\n');
        await call(client, 'apply_candidate', { patch: passing });
        assert.deepEqual(await rows(), [other, { ...named, model_patch: passing }]);
        await call(client, 'apply_candidate', { patch: 'no patch' });
        const { text } = await call(client, 'apply_candidate', { patch: reproducing });
        assert.doesNotMatch(text, /kept\.jsonl|tallybook-217/);
        assert.deepEqual(await rows(), [other, named]);
      },
      ['--out', out, '--name', 'agent'],
    );
    assert.deepEqual(await rows(), [other, named]);
    const evaluated = args().slice(1, -1);
    const at = evaluated.indexOf('--id');
    evaluated[at] = '--ids';
    const { stdout, stderr } = await cli([
      'evaluate',
      ...evaluated,
      '--predictions',
      out,
      '--json',
    ]);
    const { results } = JSON.parse(stdout) as {
      results: { instance_id: string; resolved: boolean }[];
    };
    assert.deepEqual(
      results.filter(({ instance_id }) => instance_id === id).map(({ resolved }) => resolved),
      [true],
      stderr,
    );
  });

  it('keeps the candidate for one connection only', () =>
    connected(async (client) => {
      assert.match((await call(client, 'list_candidate_tests')).text, /no candidate yet/);
    }));

  it('answers wrong calls with words for a model, and goes on', () =>
    connected(async (client) => {
      await assert.rejects(
        call(client, 'show_golden_patch'),
        /no tool "show_golden_patch".*read_issue/,
      );
      const wrong = await call(client, 'read_file', { file: 'README.md' });
      assert.ok(wrong.isError);
      assert.match(wrong.text, /`path`/);
      const beyond = await call(client, 'read_file', { path: '../fixed/tallybook/money.py' });
      assert.ok(beyond.isError);
      assert.match(beyond.text, /component "\.\."/);
      await assert.rejects(client.listResources(), /Method not found|does not support/);
      assert.equal((await call(client, 'read_file', { path: 'README.md' })).isError, false);
    }));

  /** Lines of a test that leave a mark when it runs, so that others can wait for it. */
  const marks = (name: string): string[] => [
    `        open(${JSON.stringify(join(folder.path, `runs-${name}`))}, 'w').close()`,
  ];
  const marked = async (name: string): Promise<void> => {
    while (!existsSync(join(folder.path, `runs-${name}`))) await sleep(20);
  };

  it('stops a run when the client cancels the call', () =>
    connected(async (client) => {
      const endless = added(
        'tests/test_endless.py',
        ...['import time, unittest', '', 'class EndlessTest(unittest.TestCase):'],
        ...['    def test_endless(self):', ...marks('cancelled'), '        time.sleep(3600)'],
      );
      await call(client, 'apply_candidate', { patch: endless });
      const stop = new AbortController();
      const rejected = assert.rejects(call(client, 'run_tests', {}, { signal: stop.signal }));
      await marked('cancelled');
      stop.abort();
      await rejected;
      // Runs follow one another: this one would wait for ever.
      await call(client, 'apply_candidate', { patch: reproducing });
      assert.match((await call(client, 'run_tests')).text, /1 failed/);
    }));

  it('stops a run at its time limit and says so', () =>
    connected(
      async (client) => {
        const endless = added(
          'tests/test_slow.py',
          ...['import time, unittest', '', 'class SlowTest(unittest.TestCase):'],
          ...['    def test_slow(self):', '        time.sleep(3600)'],
        );
        await call(client, 'apply_candidate', { patch: endless });
        assert.match(
          (await call(client, 'run_tests')).text,
          /stopped at the time limit after \d s/,
        );
      },
      ['--timeout', '2'],
    ));

  it('says why tests cannot run, and goes on without them', () =>
    connected(
      async (client, transport) => {
        let log = '';
        transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
        await call(client, 'apply_candidate', { patch: reproducing });
        const { text, isError } = await call(client, 'run_tests');
        assert.ok(isError);
        assert.match(text, /Tests cannot run here; the log says why/);
        assert.doesNotMatch(text, /nowhere/);
        assert.match(log, /nowhere/);
        assert.equal((await call(client, 'read_issue')).isError, false);
      },
      ['--python', '/nowhere/python'],
    ));

  it('runs nothing of a model on this machine unless it is allowed, and says so to the person', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        join(root, 'dist', 'cli.js'),
        ...args().filter((each) => each !== '--run-tests-locally'),
      ],
      cwd: root,
      stderr: 'pipe',
    });
    let log = '';
    transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    try {
      const left = join(folder.path, 'it ran');
      const writing = added(
        'tests/test_left.py',
        ...['import unittest', '', 'class LeftTest(unittest.TestCase):'],
        ...['    def test_left(self):', `        open(${JSON.stringify(left)}, 'w').close()`],
      );
      assert.equal((await call(client, 'apply_candidate', { patch: writing })).isError, false);
      for (const input of [{}, { tests: ['tests/test_money.py'], without_candidate: true }]) {
        const { text, isError } = await call(client, 'run_tests', input);
        assert.ok(isError);
        assert.match(text, /^Tests cannot run here/);
      }
      await assert.rejects(readFile(left), /ENOENT/);
      assert.match(log, /--engine docker, or --run-tests-locally/);
    } finally {
      await client.close();
    }
  });

  it('writes nothing but messages to stdout, and ends with its input', async () => {
    const { child, answer } = start(args(), {});
    child.stdin?.end();
    const { status, stdout, stderr } = await answer;
    assert.equal(status, 0, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /serving tools/);
  });

  it('ends when its client goes in the middle of a run, and on a signal', async () => {
    const endless = (end: string): string =>
      added(
        'tests/test_endless.py',
        ...['import time, unittest', '', 'class EndlessTest(unittest.TestCase):'],
        ...['    def test_endless(self):', ...marks(end), '        time.sleep(3600)'],
      );
    const clientInfo = { name: 'test', version: '1' };
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    for (const end of ['close', 'signal'] as const) {
      const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), ...args()], {
        cwd: root,
      });
      const status = new Promise<number | null>((done) => child.on('close', done));
      let out = '';
      const applied = new Promise<void>((done) =>
        child.stdout.on('data', (chunk: Buffer) => {
          out += chunk.toString();
          if (out.includes('"id":2')) done();
        }),
      );
      const send = (message: object): void => {
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      };
      const ask = (id: number, name: string, input: object): void =>
        send({ id, method: 'tools/call', params: { name, arguments: input } });
      send({ id: 1, method: 'initialize', params: initialize });
      send({ method: 'notifications/initialized' });
      ask(2, 'apply_candidate', { patch: endless(end) });
      await applied;
      ask(3, 'run_tests', {});
      await marked(end);
      if (end === 'close') child.stdin.end();
      else child.kill('SIGTERM');
      assert.equal(await status, end === 'close' ? 0 : 130);
    }
    const pairs = await readdir(join(folder.path, 'storage', 'pairs')).catch(() => []);
    assert.deepEqual(pairs, []);
  });

  it('ends with 2 and one line for wrong usage and unreadable input', async () => {
    const wrong = [
      ['mcp', '--dataset', join(sample, 'instance.jsonl')],
      ['mcp', '--dataset', join(sample, 'instance.jsonl'), '--id', 'no__such-1'],
      ['mcp', '--dataset', join(folder.path, 'none.jsonl'), '--id', id],
      args('--timeout', '-1'),
      args('--memory', '4g'),
      args('--out', await folder.file('no predictions.txt', 'some text')),
    ];
    for (const each of wrong) {
      const { status, stdout, stderr } = await cli(each);
      assert.equal(status, 2, each.join(' '));
      assert.equal(stdout, '');
      assert.doesNotMatch(stderr, /^\s+at /m);
    }
  });

  it('tells an agent that the repository cannot be had, and only the log why', async () => {
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as {
      patch: string;
    };
    const unfit = {
      ...row,
      patch: row.patch.replaceAll('-        missing = ', '-        absent = '),
    };
    const dataset = await folder.file('unfit.jsonl', JSON.stringify(unfit));
    for (const [source, why] of [
      [join(folder.path, 'no repository'), /no repository of tallybook\/tallybook does not exist/],
      [
        join(sample, 'repository'),
        /golden patch of tallybook__tallybook-217 does not apply.*money\.py/,
      ],
    ] as const) {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [
          ...[join(root, 'dist', 'cli.js'), 'mcp', '--dataset', dataset, '--id', id],
          ...['--source', source, '--storage', join(folder.path, 'other')],
        ],
        cwd: root,
        stderr: 'pipe',
      });
      let log = '';
      transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport);
      try {
        const { text, isError } = await call(client, 'read_issue');
        assert.ok(isError);
        assert.match(text, /not available.*server's log says why/);
        assert.doesNotMatch(text, /money|golden/);
        assert.match(log, why);
      } finally {
        await client.close();
      }
    }
  });
});
