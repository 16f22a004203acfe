import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { sharedStorage } from '../sharedStorage';
import { cli, root, sample, scratch, type Answer } from './cli';
import { fakeModels, type FakeModels } from './fakeModels';
import { bundledRow } from './recordedSession';

describe('swt-bench repair --method rag', () => {
  const folder = scratch();
  let server: FakeModels;
  let goldenPatch: string;

  before(async () => {
    goldenPatch = (await bundledRow()).patch;
    server = await fakeModels(() => ({ text: `A fix.\n\n\`\`\`diff\n${goldenPatch}\`\`\`\n` }));
  });
  after(() => server.close());

  const repair = (out: string, ...more: string[]): Promise<Answer> =>
    cli([
      ...['repair', '--method', 'rag', '--model', 'openai-compatible/m', '--out', out],
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', sharedStorage(), '--base-url', server.url, ...more],
    ]);

  it('writes the code patch, its place, and a trace that replays', async () => {
    const out = join(folder.path, 'repairs.jsonl');
    const estimated = async (): Promise<unknown[]> => {
      const { stdout, stderr } = await repair(out, '--dry-run', '--json');
      assert.notEqual(stdout, '', stderr);
      const { requests, answered } = JSON.parse(stdout) as Record<string, unknown>;
      return [requests, answered];
    };
    assert.deepEqual(await estimated(), [1, 0]);
    assert.equal(server.asked.length, 0);
    const answer = await repair(out);
    assert.equal(answer.status, 0, answer.stderr);
    assert.deepEqual(await estimated(), [0, 1]);
    assert.match(answer.stdout, /^RAG, openai-compatible\/m: 1 of 1 instances have a prediction/);
    const [asked] = server.asked;
    assert.ok(asked);
    assert.ok(asked.text.includes('tallybook/money.py'), 'the prompt shows the code');
    assert.ok(!asked.text.includes('tests/test_money.py'), 'and no tests');
    const row = JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;
    assert.equal(row['model_name_or_path'], 'rag/openai-compatible/m');
    assert.ok(String(row['model_patch']).includes('--- a/tallybook/money.py'));
    const ranked = JSON.parse(await readFile(`${out}.ranked.jsonl`, 'utf8')) as typeof row;
    assert.deepEqual(
      [ranked['model_patch'], ranked['rank'], ranked['votes']],
      [row['model_patch'], 1, 1],
    );
    const before = server.asked.length;
    assert.deepEqual([(await repair(out, '--replay')).status, (await repair(out)).status], [0, 0]);
    assert.equal(server.asked.length, before, 'an answered request is not sent again');
  });

  it('works in a storage folder that is named from here', async () => {
    const storage = relative(root, join(folder.path, 'relative'));
    const answer = await repair(join(folder.path, 'relative.jsonl'), '--storage', storage);
    assert.equal(answer.status, 0, answer.stderr);
  });

  it('refuses a method of generate', async () => {
    const { status, stderr } = await repair(join(folder.path, 'x.jsonl'), '--method', 'libro');
    assert.equal(status, 2);
    assert.match(stderr, /There is no method named "libro"\. Use one of agentless, rag/);
  });
});
