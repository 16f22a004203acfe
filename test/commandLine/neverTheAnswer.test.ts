import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { lookingForAnswers } from '../unit/method/looking';
import { leaksIn, secretsOf } from '../unit/method/secretsOf';
import { cli, root, sample, scratch } from './cli';
import { fakeModels } from './fakeModels';
import { withOtherAnswer, type Row } from './otherAnswer';
import {
  bundledRow,
  prying,
  recordMcp,
  recordMethod,
  recordTools,
  recordScript,
  scriptsOfFilesAgents,
  recordAgentless,
} from './recordedSession';

const id = 'tallybook__tallybook-217';
const dataset = join(sample, 'instance.jsonl');

const looking = lookingForAnswers;

const source = (body: readonly string[], name: string): string[] => [
  'import unittest',
  '',
  '',
  `class Look${name}Test(unittest.TestCase):`,
  `    def test_look_${name}(self):`,
  ...body.map((line) => `        ${line}`),
];

const unified = (path: string, lines: readonly string[]): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n` +
  `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;

const custom = (path: string, lines: readonly string[]): string =>
  ['diff', path, 'insert', 'BOF', ...lines, 'end diff', ''].join('\n');

/**
 * Each day a whole run of the one that asks only; tests that look for the answer run each day in a session
 * of the Model Context Protocol.
 */
const mark = (method: string): string => (method === 'zero-shot' ? '' : ' @full');
/** The one that does all that the others do is compared each day. */
const markOfCompared = (method: string): string => (method === 'libro' ? '' : ' @full');

describe('of the answer', function () {
  const folder = scratch();
  before(async () => {
    // R∘X* is there to be found, as it is on the machine of whoever has evaluated something. What is kept
    // of one answer, and not of the other, is no difference either.
    const gold = await cli([
      ...['evaluate', '--dataset', dataset, '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage of answer 0'), '--predictions', 'gold', '--json'],
    ]);
    assert.equal(gold.status, 0, gold.stderr);
  });

  describe('what models and agents are given', () => {
    let secrets: string[] = [];
    before(async () => {
      const row = JSON.parse(await readFile(dataset, 'utf8')) as Parameters<typeof secretsOf>[0] & {
        readonly problem_statement: string;
      };
      const repository = join(sample, 'repository');
      const names = (await readdir(repository, { recursive: true })).filter((name) =>
        /\.(py|md|toml)$/.test(name),
      );
      const files = await Promise.all(
        names.map((name) => readFile(join(repository, name), 'utf8')),
      );
      secrets = secretsOf(row, [...files, row.problem_statement]);
    });

    const common = (): string[] => [
      ...['--dataset', dataset, '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage of answer 0'), '--run-tests-locally'],
    ];

    it('is searched for what can be found: all of it is in what a person may reveal', async () => {
      const { stdout } = await cli(['show', id, '--dataset', dataset, '--reveal', '--json']);
      const found = leaksIn(stdout.replaceAll('\\\\', '\\'), secrets);
      assert.deepEqual(found, secrets);
      assert.ok(secrets.length > 20, `${secrets.length}`);
      for (const kind of ['by_loss', 'test_any_amount_balances', 'amounts(parts)']) {
        assert.ok(
          secrets.some((secret) => secret.includes(kind)),
          kind,
        );
      }
    });

    for (const method of ['zero-shot', 'zero-shot-plus', 'pass-at-5', 'libro']) {
      it(`holds nothing of the answer in a whole run of ${method}${mark(method)}`, async () => {
        let candidates = 0;
        const server = await fakeModels(({ text }) => {
          if (text.includes('only YES or NO')) return { text: 'It does not.\nNO' };
          const body = looking[candidates++ % looking.length] ?? [];
          const path = `tests/test_look_${candidates}.py`;
          const lines = source(body, String(candidates));
          const patch = method === 'zero-shot' ? unified(path, lines) : custom(path, lines);
          return { text: `These tests look for it.\n\n\`\`\`diff\n${patch}\`\`\`\n` };
        });
        const out = join(folder.path, `${method}.jsonl`);
        try {
          const args = [
            '--model',
            'openai-compatible/fake',
            '--base-url',
            server.url,
            '--out',
            out,
          ];
          const answer = await cli(['generate', ...common(), '--method', method, ...args], {
            OPENAI_COMPATIBLE_API_KEY: 'sk-of-the-user',
          });
          assert.equal(answer.status, 0, answer.stderr);
          assert.equal(candidates, method.startsWith('zero') ? 1 : 5);
          const judged = server.asked.length - candidates;
          if (method === 'libro') assert.ok(judged >= 4, `${judged} judged`);
          else assert.equal(judged, 0);
          for (const { text, body } of server.asked) {
            assert.deepEqual(leaksIn(text, secrets), []);
            assert.deepEqual(leaksIn(JSON.stringify(body), secrets), []);
            assert.doesNotMatch(text, /Rounding down first/, 'hints');
          }
          const written = [answer.stdout, answer.stderr];
          for (const file of [out, `${out}.trace.jsonl`])
            written.push(await readFile(file, 'utf8'));
          for (const text of written) {
            assert.deepEqual(leaksIn(text, secrets), []);
            assert.doesNotMatch(text, /sk-of-the-user/);
          }
        } finally {
          await server.close();
        }
      });
    }

    it('holds nothing of the answer in any request of tools @full', async () => {
      const asked = await recordTools(common(), looking, join(folder.path, 'tools.jsonl'));
      assert.match(asked.at(-1) ?? '', /FAILED tests\/test_pry_2\.py/);
      assert.deepEqual(leaksIn(asked.join('\n').replaceAll('\\\\', '\\'), secrets), []);
      assert.doesNotMatch(asked.join('\n'), /Rounding down first/, 'hints');
    });

    it('holds nothing of the answer in any message of the Model Context Protocol', async () => {
      const messages: string[] = [];
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [join(root, 'dist', 'cli.js'), 'mcp', '--id', id, ...common()],
        cwd: root,
        stderr: 'pipe',
      });
      transport.stderr?.on('data', (chunk: Buffer) => messages.push(chunk.toString()));
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport);
      const receive = transport.onmessage;
      transport.onmessage = (message) => {
        messages.push(JSON.stringify(message));
        receive?.(message);
      };
      const call = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
        const { content } = await client.callTool({ name, arguments: input });
        return (content as { text: string }[])[0]?.text ?? '';
      };
      try {
        await client.listTools();
        await call('read_issue');
        for (const name of (await call('list_files', { folder: 'tallybook' })).split('\n')) {
          await call('read_file', { path: name });
          await call('outline_file', { path: name });
        }
        for (const part of [
          'by_loss',
          'left_o',
          'lost',
          'test_any_amount',
          'FAIL_TO',
          'allocate',
        ]) {
          for (const kind of ['text', 'regex', 'class', 'function']) {
            await call('search_code', { query: part, kind });
          }
        }
        for (const path of [dataset, '../fixed/tallybook/money.py', '.git/HEAD', '../trees.json']) {
          for (const name of ['read_file', 'outline_file']) await call(name, { path });
          await call('list_files', { folder: path });
          await call('run_tests', { tests: [path] });
        }
        for (const [at, body] of looking.entries()) {
          const path = `tests/test_look_${at}.py`;
          const applied = await call('apply_candidate', {
            patch: unified(path, source(body, String(at))),
          });
          assert.match(applied, /^The candidate applies/);
          assert.match(await call('run_tests'), /FAILED tests\/test_look_\d\.py/);
          await call('run_tests', { whole_files: true });
          await call('list_candidate_tests');
        }
        await call('run_tests', { tests: ['tests'], without_candidate: true });
        await call('run_tests', { tests: ['tests/test_money.py::AllocateTest::test_no'] });
      } finally {
        await client.close();
      }
      assert.ok(messages.length > 60, `${messages.length} messages`);
      const all = messages.join('\n');
      assert.deepEqual(leaksIn(all, secrets), []);
      assert.doesNotMatch(all, /Rounding down first/, 'hints');
    });
  });

  describe('what models receive of two instances that differ in their answers alone', () => {
    /** Arguments of two sessions, by the answer; each has a storage folder of its own. */
    const sessions: string[][] = [];
    let rows: Row[] = [];
    before(async () => {
      const bundled = await bundledRow();
      rows = [bundled, withOtherAnswer(bundled)];
      for (const [at, row] of rows.entries()) {
        const file = await folder.file(`answer-${at}.jsonl`, JSON.stringify(row));
        sessions.push([
          ...['--dataset', file, '--source', join(sample, 'repository')],
          ...['--storage', join(folder.path, `storage of answer ${at}`)],
        ]);
      }
    });
    const allowed = (args: readonly string[]): string[] => [...args, '--run-tests-locally'];

    it('is the same by the Model Context Protocol, to the byte', async () => {
      const bodies = prying(rows, []);
      const received: string[][] = [];
      for (const args of sessions) {
        received.push(await recordMcp(['--id', id, ...allowed(args)], bodies));
      }
      const [first = [], second = []] = received;
      assert.deepEqual(first, second);
      const all = first.join('\n');
      assert.ok(first.length > 100, `${first.length} lines`);
      // What a test prints comes through whole, the right guesses as the wrong ones.
      assert.match(all, /by_loss = sorted/);
      assert.match(all, /takes no part pays nothing/);
      assert.doesNotMatch(all, /withheld/);
      assert.doesNotMatch(all, /tallybook-217|#217|\/217/, 'the number of the pull request');
      assert.doesNotMatch(all, new RegExp(folder.path), 'places of this machine');
      assert.ok(!all.includes(join(root, 'dist')), 'the place of this program');
    });

    it('is the same in every request of Agentless, to the byte @full', async () => {
      const asked: string[][] = [];
      for (const [at, args] of sessions.entries()) {
        const out = join(folder.path, `agentless-${at}.jsonl`);
        asked.push(await recordAgentless(allowed(args), out));
      }
      const [first = [], second = []] = asked;
      assert.deepEqual(first, second);
      // Files, folders, elements, 4 locations, 8 patches, regression tests, 2 scripts.
      assert.equal(first.length, 18);
      for (const each of first) {
        assert.doesNotMatch(each, /tallybook-217/);
        assert.ok(!each.includes(folder.path), 'places of this machine');
      }
    });

    it('is the same in every request of tools, to the byte @full', async () => {
      const bodies = prying(rows, []);
      const asked: string[][] = [];
      for (const [at, args] of sessions.entries()) {
        const out = join(folder.path, `tools-${at}.jsonl`);
        asked.push(await recordTools(allowed(args), bodies, out));
      }
      const [first = [], second = []] = asked;
      assert.deepEqual(first, second);
      const last = first.at(-1) ?? '';
      // What a test prints comes through whole, the right guesses as the wrong ones.
      assert.match(last, /by_loss = sorted/);
      assert.match(last, /takes no part pays nothing/);
      assert.doesNotMatch(last, /tallybook-217/);
      assert.ok(!last.includes(folder.path), 'places of this machine');
    });

    for (const method of ['zero-shot', 'zero-shot-plus', 'pass-at-5', 'libro', 'agentless-tests']) {
      it(`is the same in every request of ${method}, to the byte${markOfCompared(method)}`, async () => {
        const bodies = prying(rows, []);
        const asked: string[][] = [];
        for (const [at, args] of sessions.entries()) {
          const out = join(folder.path, `${method}-${at}.jsonl`);
          asked.push(await recordMethod(method, allowed(args), bodies, out));
        }
        const [first = [], second = []] = asked;
        assert.deepEqual(first, second);
        assert.equal(
          first.length,
          { libro: 10, 'pass-at-5': 5, 'agentless-tests': 40 }[method] ?? 1,
        );
        for (const each of first) {
          assert.doesNotMatch(each, /tallybook-217/);
          assert.ok(!each.includes(folder.path), 'places of this machine');
        }
      });
    }

    it('is the same in every request of assertflip, to the byte @full', async () => {
      // What fails is sent back with its output. What fails turned round goes to the judge.
      const bodies = [...prying(rows, []), ['pass'], ['pass'], ...prying(rows, []).slice(0, 1)];
      const asked: string[][] = [];
      for (const [at, args] of sessions.entries()) {
        const out = join(folder.path, `assertflip-${at}.jsonl`);
        const attempt = ['--samples', '1', ...allowed(args)];
        asked.push(await recordMethod('assertflip', attempt, bodies, out));
      }
      const [first = [], second = []] = asked;
      assert.deepEqual(first, second);
      assert.equal(first.length, bodies.length + 1);
      assert.match(first.at(-1) ?? '', /takes no part pays nothing/);
      for (const each of first) {
        assert.doesNotMatch(each, /tallybook-217/);
        assert.ok(!each.includes(folder.path), 'places of this machine');
      }
    });

    it('is the same in every request of a refinement, to the byte @full', async () => {
      // Only an error of the test itself is sent back: the body raises what it finds as one.
      const bodies = prying(rows, []).map((body) =>
        [...body, "self.fail('nothing')"].map((line) =>
          line.replace('self.fail(', 'raise NameError('),
        ),
      );
      const asked: string[][] = [];
      for (const [at, args] of sessions.entries()) {
        const out = join(folder.path, `refined-${at}.jsonl`);
        const times = ['--refine', String(bodies.length - 1), ...allowed(args)];
        asked.push(await recordMethod('zero-shot-plus', times, bodies, out));
      }
      const [first = [], second = []] = asked;
      assert.deepEqual(first, second);
      assert.equal(first.length, bodies.length);
      assert.match(first[1] ?? '', /takes no part pays nothing/);
      for (const each of first) {
        assert.doesNotMatch(each, /tallybook-217/);
        assert.ok(!each.includes(folder.path), 'places of this machine');
      }
    });

    for (const [method, script] of Object.entries(scriptsOfFilesAgents)) {
      it(`is the same in every request of ${method}, to the byte`, async () => {
        const asked: string[][] = [];
        for (const [at, args] of sessions.entries()) {
          const out = join(folder.path, `${method}-${at}.jsonl`);
          asked.push(await recordScript(method, args, script, out));
        }
        const [first = [], second = []] = asked;
        assert.deepEqual(first, second);
        assert.equal(first.length, script.length);
        for (const each of first) {
          assert.doesNotMatch(each, /tallybook-217/);
          assert.ok(!each.includes(folder.path), 'places of this machine');
        }
      });
    }
  });
});
