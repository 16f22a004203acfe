import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli, type Evaluation } from '../commandLine/cli';
import { fakeModels, type FakeModels } from '../commandLine/fakeModels';
import { cases, data, placeOf } from './cases';

interface Row {
  readonly instance_id: string;
  readonly problem_statement: string;
  readonly test_patch: string;
}

describe('generate on real instances from source releases @full', () => {
  let storage: string | undefined;
  let server: FakeModels | undefined;
  before(async () => {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-real-'));
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  after(async () => {
    if (storage !== undefined) await rm(storage, { recursive: true, force: true });
  });

  for (const each of cases) {
    const { id } = each;
    it(`${id}: an answer leads to a resolved instance by each of the four methods`, async function () {
      const { venv, archive } = await placeOf(this, each);
      assert.ok(storage !== undefined);
      const row = (await readFile(data, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Row)
        .find((one) => one.instance_id === id);
      assert.ok(row);
      // The model answers with the maintainers' tests, which it was not shown.
      server = await fakeModels((asked, number) => ({
        text: asked.text.includes('YES or NO')
          ? 'YES'
          : number % 2 === 0
            ? 'I do not know.'
            : `Here they are.\n\n\`\`\`diff\n${row.test_patch.trimEnd()}\n\`\`\`\n`,
      }));
      const out = join(storage, `${id}.jsonl`);
      const where = ['--dataset', data, '--ids', id, '--source', archive];
      const how = ['--python', venv, '--storage', storage];
      const allowed = ['--run-tests-locally'];
      const tests = row.test_patch
        .split('\n')
        .filter((line) => line.startsWith('+') && line.length > 40)
        .map((line) => line.slice(1).trim())
        // Lines of the issue do not belong to the answer.
        .filter((line) => !row.problem_statement.includes(line));
      for (const method of ['zero-shot', 'libro', 'pass-at-5', 'zero-shot-plus']) {
        const before = server.asked.length;
        // Odd requests get tests as the answer: the first request of each method.
        if (before % 2 === 1) {
          await fetch(`${server.url}/chat/completions`, { method: 'POST', body: '{}' });
        }
        const written = await cli([
          ...['generate', '--method', method, '--model', 'openai-compatible/m', '--out', out],
          ...['--base-url', server.url, '--concurrency', '1', ...where, ...how, ...allowed],
        ]);
        assert.equal(written.status, 0, written.stderr);
      }
      const prompts = server.asked.filter(({ text }) => text.includes('[start of '));
      assert.equal(prompts.length, 1 + 5 + 1);
      for (const { text } of prompts) {
        for (const line of tests) assert.equal(text.includes(line), false, line);
      }
      const answer = await cli(['evaluate', '--json', '--predictions', out, ...where, ...how]);
      assert.equal(answer.status, 0, answer.stderr);
      const { results } = JSON.parse(answer.stdout) as Evaluation;
      assert.equal(results.length, 4);
      for (const { resolved, model_name_or_path: name, strict } of results) {
        assert.equal(resolved, true, `${name}: ${strict?.explanation}`);
        assert.equal(strict?.success, true, name);
      }
    });
  }
});
