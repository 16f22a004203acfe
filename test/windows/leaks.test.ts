import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { leaksIn, secretsOf } from '../unit/method/secretsOf';
import { answers } from './calledTools';
import { scriptedModels } from './scriptedModels';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';

/** Runs last: it checks what all tests of this window have sent and received. */
describe('what models and agents were given in this window', () => {
  let secrets: string[] = [];
  let hints = '';
  before(async () => {
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Parameters<
      typeof secretsOf
    >[0] & { readonly problem_statement: string; readonly hints_text: string };
    const repository = join(sample, 'repository');
    const names = (await readdir(repository, { recursive: true })).filter((name) =>
      /\.(py|md|toml)$/.test(name),
    );
    const files = await Promise.all(names.map((name) => readFile(join(repository, name), 'utf8')));
    secrets = secretsOf(row, [...files, row.problem_statement]);
    hints = row.hints_text;
    assert.ok(secrets.length > 20, `${secrets.length}`);
    assert.ok(hints.length > 20);
  });

  it('holds nothing of the answer in any request to a model', async () => {
    const { everything } = await scriptedModels();
    assert.ok(everything.length > 0);
    for (const request of everything) {
      // JSON escapes a line end, and no secret contains one.
      const all = `${request.text}\n${JSON.stringify(request)}`;
      assert.deepEqual(leaksIn(all, secrets), []);
      assert.doesNotMatch(all, /tallybook__tallybook-217/, 'the number of the pull request');
      for (const line of hints.split('\n')) {
        if (line.trim().length > 20) assert.ok(!all.includes(line.trim()), line);
      }
    }
    console.log(`    ${everything.length} requests to models were looked through`);
  });

  it('holds nothing of the answer in any result of a tool', () => {
    assert.ok(answers.length > 20, `${answers.length} results`);
    const all = answers.join('\n');
    assert.deepEqual(leaksIn(all, secrets), []);
    assert.doesNotMatch(all, /tallybook__tallybook-217/, 'the number of the pull request');
    for (const line of hints.split('\n')) {
      if (line.trim().length > 20) assert.ok(!all.includes(line.trim()), line);
    }
    console.log(`    ${answers.length} results of tools were looked through`);
  });
});
