import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { formsOf } from '../../src/engine/keysInUse';
import { cli, root, sample, scratch, start } from './cli';
import { fakeModels } from './fakeModels';

const key = 'sk-a-key/that+nobody="may"-see-0123456789';
const backwards = [...key].reverse().join('');

/** Bodies of tests that search every process for the user's key, and reveal it in many ways. */
const thieves = [
  // The environment at the start of a process, which the kernel shows to processes of the same
  // user.
  [
    'import base64, glob, json, os, urllib.parse',
    'found = []',
    "for path in glob.glob('/proc/[0-9]*/environ'):",
    '    try:',
    "        found += open(path, 'rb').read().split(b'\\0')",
    '    except OSError:',
    '        pass',
    "found = [each for each in found if b'_API_KEY=' in each]",
    'for each in found:',
    "    print(each.decode(), json.dumps(each.decode()), urllib.parse.quote(each.decode(), ''))",
    '    print(base64.b64encode(each).decode(), base64.urlsafe_b64encode(each).decode(), each.hex())',
    "self.fail('%d found: %r' % (len(found), found))",
  ],
  // The number of processes with the key, which redaction cannot hide.
  [
    'import glob, os',
    `key = ${JSON.stringify(backwards)}[::-1].encode()`,
    'count = 0',
    "for path in glob.glob('/proc/[0-9]*/environ'):",
    '    try:',
    "        content = open(path, 'rb').read()",
    '    except OSError:',
    '        continue',
    '    count += key in content',
    "self.fail('%d processes, %d own variables' % (count, sum(key.decode() in each for each in os.environ.values())))",
  ],
  // A file of the user, which any test may read.
  ['text = open(%FILE%).read()', 'print(text)', 'self.fail(text + text)'],
];

const source = (body: readonly string[], at: number): string[] => [
  'import unittest',
  '',
  '',
  `class Thief${at}Test(unittest.TestCase):`,
  `    def test_thief_${at}(self):`,
  ...body.map((line) => `        ${line}`),
];

const custom = (at: number, lines: readonly string[]): string =>
  ['diff', `tests/test_thief_${at}.py`, 'insert', 'BOF', ...lines, 'end diff', ''].join('\n');

const unified = (at: number, lines: readonly string[]): string =>
  `diff --git a/tests/test_thief_${at}.py b/tests/test_thief_${at}.py\nnew file mode 100644\n--- /dev/null\n` +
  `+++ b/tests/test_thief_${at}.py\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;

/** Everything below a folder, as text. */
async function textsBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path, await readFile(path, 'latin1')] as const;
      }),
    ),
  );
}

describe('a key of the user', function () {
  const folder = scratch();
  let kept = '';
  let bodies: string[][] = [];
  before(async () => {
    kept = await folder.file('a file of the user', `the key is ${key}, and nothing else\n`);
    bodies = thieves.map((body) =>
      body.map((line) => line.replace('%FILE%', JSON.stringify(kept))),
    );
  });
  const common = (): string[] => [
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', join(folder.path, 'storage')],
  ];
  const forms = formsOf([key]);
  const leaksIn = (text: string): string[] => forms.filter((form) => text.includes(form));

  // What runs tests for one method runs them for the other.
  for (const method of ['libro', 'pass-at-5']) {
    const mark = method === 'libro' ? '' : ' @full';
    it(`is in no request, trace, prediction, kept run or message of ${method}, whose tests look for it${mark}`, async () => {
      let candidates = 0;
      const server = await fakeModels(({ text }) => {
        if (text.includes('only YES or NO')) return { text: 'NO' };
        const at = candidates++;
        const lines = source(bodies[at % bodies.length] ?? [], at);
        return { text: `Here:\n\n\`\`\`diff\n${custom(at, lines)}\`\`\`\n` };
      });
      try {
        const out = join(folder.path, `${method}.jsonl`);
        const model = ['--model', 'openai-compatible/m', '--base-url', server.url];
        const answer = await cli(
          [
            ...['generate', '--method', method, '--out', out, '--concurrency', '1', '--json'],
            ...common(),
            ...model,
            '--run-tests-locally',
          ],
          { OPENAI_COMPATIBLE_API_KEY: key, ANTHROPIC_API_KEY: key },
        );
        assert.equal(answer.status, 0, answer.stderr);
        assert.deepEqual(leaksIn(answer.stdout + answer.stderr), []);
        // The provider gets the key unredacted.
        for (const { headers } of server.asked)
          assert.equal(headers['authorization'], `Bearer ${key}`);
        for (const { body } of server.asked) assert.deepEqual(leaksIn(JSON.stringify(body)), []);
        // Files in this folder may be shared with others.
        const grades = ['evaluate', ...common(), '--predictions', out, '--out', `${out}.results`];
        const graded = await cli([...grades, '--json'], { OPENAI_API_KEY: key });
        assert.deepEqual(leaksIn(graded.stdout + graded.stderr), []);
        let seen = 0;
        for (const [path, text] of await textsBelow(folder.path)) {
          if (path === kept) continue;
          seen += 1;
          assert.deepEqual(leaksIn(text), [], path);
        }
        assert.ok(seen > 20, `${seen} files`);
        // The other one runs nothing before it has all its candidates, and asks nothing afterwards.
        if (method !== 'libro') return;
        const trace = await readFile(join(folder.path, `${method}.jsonl.trace.jsonl`), 'utf8');
        assert.match(trace, /the key is \[key\], and nothing else/, 'it was found, and redacted');
        // Nor does it reach the model by the file.
        assert.ok(server.asked.some(({ text }) => text.includes('the key is [key], and nothing')));
        if (process.platform === 'linux') {
          const told = /\d+ processes, \d+ own variables/.exec(trace)?.[0];
          assert.equal(told, '0 processes, 0 own variables');
        }
      } finally {
        await server.close();
      }
    });
  }

  it('is in no message of the Model Context Protocol, nor in the environment of its server', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        ...[join(root, 'dist', 'cli.js'), 'mcp', '--id', 'tallybook__tallybook-217'],
        ...common(),
        '--run-tests-locally',
      ],
      cwd: root,
      env: { ...(process.env as Record<string, string>), OPENAI_API_KEY: key },
      stderr: 'pipe',
    });
    let all = '';
    transport.stderr?.on('data', (chunk: Buffer) => (all += chunk.toString()));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    try {
      for (const [at, body] of bodies.entries()) {
        const lines = source(body, at);
        await client.callTool({
          name: 'apply_candidate',
          arguments: { patch: unified(at, lines) },
        });
        const { content } = await client.callTool({ name: 'run_tests', arguments: {} });
        all += (content as { text: string }[])[0]?.text ?? '';
      }
    } finally {
      await client.close();
    }
    assert.match(all, /the key is \[key\], and nothing else/);
    assert.deepEqual(leaksIn(all), []);
    if (process.platform === 'linux') assert.match(all, /0 processes, 0 own variables/);
  });

  it('leaves the environment of a process of ours as soon as it runs', async function () {
    if (process.platform !== 'linux') this.skip();
    // A server that waits for its client: inspect it after its first answer.
    const child = spawn(
      process.execPath,
      [join(root, 'dist', 'cli.js'), 'mcp', '--id', 'tallybook__tallybook-217', ...common()],
      {
        cwd: root,
        env: {
          ...process.env,
          OPENAI_API_KEY: key,
          GEMINI_API_KEY: key,
          NOT_A_KEY_OF_OURS: 'left alone',
        },
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    try {
      const clientInfo = { name: 'test', version: '1' };
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
      const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
      const answered = new Promise((done) => child.stdout.once('data', done));
      child.stdin.write(`${JSON.stringify(message)}\n`);
      await answered;
      const environment = await readFile(`/proc/${child.pid}/environ`, 'latin1');
      assert.deepEqual(leaksIn(environment), []);
      assert.match(environment, /NOT_A_KEY_OF_OURS=left alone\0/);
    } finally {
      child.stdin.end();
      await new Promise((done) => child.once('close', done));
    }
  });

  it('is taken out of what the command line says of it', async () => {
    const { answer } = start(['show', key, '--dataset', 'bundled'], { OPENAI_API_KEY: key });
    const { status, stdout, stderr } = await answer;
    assert.equal(status, 2);
    assert.match(stderr, /\[key\]/);
    assert.deepEqual(leaksIn(stdout + stderr), []);
  });
});
