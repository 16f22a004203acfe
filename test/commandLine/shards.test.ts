import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodesOfPredictions, readNodeSeconds } from '../../src/results/nodeSeconds';
import { cli, sample, scratch, type Answer } from './cli';
import { fakeModels, type FakeModels } from './fakeModels';
import { sameFilesBelow } from './runFolders';
import { manyIds, writeManyInstances } from './manyInstances';

const ids = manyIds(3);

describe('shards of a run', () => {
  const folder = scratch();
  let dataset = '';
  let predictions = '';
  const at = (name: string): string => join(folder.path, name);
  const evaluate = (out: string, ...more: string[]): Promise<Answer> =>
    cli([
      ...['evaluate', '--dataset', dataset, '--predictions', predictions, '--out', at(out)],
      ...['--source', join(sample, 'repository'), '--storage', at('storage'), ...more],
    ]);
  const merge = (out: string, ...dirs: string[]): Promise<Answer> =>
    cli(['merge', ...dirs.map(at), '--out', at(out)]);

  before(async () => {
    dataset = at('dataset.jsonl');
    await writeManyInstances(dataset, ids.length);
    const rows = (await readFile(join(sample, 'predictions.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { model_name_or_path: string })
      .filter(({ model_name_or_path: model }) => /^(covers-some|does-not-apply)$/.test(model));
    predictions = await folder.file(
      'predictions.jsonl',
      ids
        .flatMap((instance_id) => rows.map((row) => JSON.stringify({ ...row, instance_id })))
        .join('\n'),
    );
    for (const number of [1, 2, 3]) {
      const answer = await evaluate(`shard-${number}`, '--shard', `${number}/3`);
      assert.equal(answer.status, 0, answer.stderr);
    }
    assert.equal((await evaluate('whole')).status, 0);
  });

  const filesBelow = (below: string): Promise<Map<string, unknown>> => sameFilesBelow(at(below));

  it('merged are what one machine would have written', async () => {
    const answer = await merge('merged', 'shard-2', 'shard-1', 'shard-3');
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /^run: 6 of 6 candidates, all 3 shards$/m);
    assert.deepEqual(await filesBelow('merged'), await filesBelow('whole'));
    const again = await evaluate('merged', '--json');
    assert.equal((JSON.parse(again.stdout) as { reused: number }).reused, 6);
  });

  it('say in reports that they are parts', async () => {
    const { stdout } = await cli(['report', at('shard-2'), '--format', 'json']);
    assert.match(stdout, /run, shard 2\/3/);
  });

  it('are named when one is missing, which can be added later', async () => {
    const some = await merge('grown', 'shard-1', 'shard-3');
    assert.equal(some.status, 1);
    assert.match(some.stdout, /^run: 4 of 6 candidates, 2 of 3 shards; missing: 2$/m);
    const all = await merge('grown', 'shard-2', 'shard-1', 'shard-3');
    assert.equal(all.status, 0, all.stderr);
    assert.deepEqual(await filesBelow('grown'), await filesBelow('whole'));
  });

  it('count once when given twice, under another name too', async () => {
    await cp(at('shard-1'), at('copy-of-1'), { recursive: true });
    const answer = await merge('twice', 'shard-1', 'copy-of-1', 'shard-1', 'shard-2', 'shard-3');
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /^2 duplicate results$/m);
    assert.deepEqual(await filesBelow('twice'), await filesBelow('whole'));
  });

  it('name a report that is missing, and leave it to a further run', async () => {
    await cp(at('shard-1'), at('damaged'), { recursive: true });
    const reports = at(`damaged/run_instance_swt_logs/run/covers-some/${ids[0]}`);
    await rm(reports, { recursive: true });
    const answer = await merge('without', 'damaged', 'shard-2', 'shard-3');
    assert.equal(answer.status, 1);
    assert.match(answer.stderr, /report of tallybook__tallybook-1000, covers-some is missing/);
    assert.match(answer.stdout, /^run: 5 of 6 candidates, all 3 shards$/m);
    const { stdout } = await evaluate('without', '--json');
    assert.equal((JSON.parse(stdout) as { reused: number }).reused, 5);
  });

  it('are refused when they are not of one run', async () => {
    const answer = await evaluate('stricter', '--shard', '2/3', '--tests-only');
    assert.equal(answer.status, 0, answer.stderr);
    const merged = await merge('mixed', 'shard-1', 'stricter');
    assert.equal(merged.status, 2);
    assert.match(merged.stderr, /not from the same run: they differ in --tests-only/);
    const whole = await merge('mixed', 'whole');
    assert.equal(whole.status, 2);
    assert.match(whole.stderr, /No shards found in/);
  });

  it('have a folder each', async () => {
    const answer = await evaluate('shard-1', '--shard', '2/3');
    assert.equal(answer.status, 2);
    assert.match(answer.stderr, /--shard was 1\/3 and is 2\/3/);
    const onto = await merge('shard-1', 'shard-2', 'shard-3');
    assert.equal(onto.status, 2);
    assert.match(onto.stderr, /has shard 1\/3 of the run run/);
  });

  describe('that judge code patches', () => {
    it('merged are what one machine would have written', async () => {
      const judge = (out: string, ...more: string[]): Promise<Answer> =>
        cli([
          ...['evaluate', '--kind', 'repair', '--dataset', dataset, '--predictions', 'gold'],
          ...['--out', at(out), '--source', join(sample, 'repository')],
          ...['--storage', at('storage'), ...more],
        ]);
      for (const number of [1, 2]) {
        const answer = await judge(`judged-${number}`, '--shard', `${number}/2`);
        assert.equal(answer.status, 0, answer.stderr);
      }
      assert.equal((await judge('judged')).status, 0);
      const answer = await merge('judged-merged', 'judged-1', 'judged-2');
      assert.equal(answer.status, 0, answer.stderr);
      assert.deepEqual(await filesBelow('judged-merged'), await filesBelow('judged'));
    });
  });

  describe('that generate', () => {
    let server: FakeModels | undefined;
    after(() => server?.close());

    it('merged have every prediction and its trace once, and go on from there', async () => {
      const diff = [
        ...['```diff', '--- /dev/null', '+++ b/tests/test_new.py', '@@ -0,0 +1,2 @@'],
        ...['+def test_new():', '+    assert False', '```', ''],
      ].join('\n');
      let requests = 0;
      server = await fakeModels(() => {
        requests += 1;
        return { text: diff };
      });
      const url = server.url;
      const generate = (out: string, ...more: string[]): Promise<Answer> =>
        cli([
          ...['generate', '--method', 'zero-shot', '--model', 'openai-compatible/m'],
          ...['--dataset', dataset, '--out', join(at(out), 'answers.jsonl'), '--base-url', url],
          ...['--source', join(sample, 'repository'), '--storage', at('storage'), ...more],
        ]);
      for (const number of [1, 2]) {
        const answer = await generate(`answers-${number}`, '--shard', `${number}/2`);
        assert.equal(answer.status, 0, answer.stderr);
        // As an engine of a cluster leaves it.
        const used = { ended: '2025-01-01T00:00:00Z', command: `c${number}`, nodes: { a: number } };
        await writeFile(at(`answers-${number}/answers.jsonl.nodes.jsonl`), JSON.stringify(used));
      }
      const path = join(at('answers'), 'answers.jsonl');
      const part = await merge('answers', 'answers-2');
      assert.equal(part.status, 1);
      assert.match(part.stdout, /of 3 instances have a prediction, 1 of 2 shards; missing: 1$/m);
      const answer = await merge('answers', 'answers-1', 'answers-2');
      assert.equal(answer.status, 0, answer.stderr);
      const lines = (await readFile(path, 'utf8')).trim().split('\n');
      assert.deepEqual(
        lines.map((line) => (JSON.parse(line) as { instance_id: string }).instance_id),
        ids,
      );
      assert.deepEqual(await readNodeSeconds(nodesOfPredictions(path)), { a: 3 });
      const asked = requests;
      const again = await generate('answers');
      assert.equal(again.status, 0, again.stderr);
      assert.equal(requests, asked);
      const other = await generate('answers-1', '--shard', '2/2');
      assert.equal(other.status, 2);
      assert.match(other.stderr, /has shard 1\/2, but this command runs shard 2\/2/);
    });

    it('refuse to grade one shard as a run', async () => {
      const answer = await cli([
        ...['generate', '--method', 'zero-shot', '--model', 'openai-compatible/m'],
        ...['--dataset', dataset, '--out', at('x.jsonl'), '--base-url', 'http://127.0.0.1:9'],
        ...['--shard', '1/2', '--evaluate', at('x')],
      ]);
      assert.equal(answer.status, 2);
      assert.match(answer.stderr, /grade one shard as if it were a whole run/);
    });
  });

  it('damaged records are named', async () => {
    await cp(at('shard-1'), at('torn'), { recursive: true });
    await writeFile(at('torn/runs/run/run.json'), '{');
    const answer = await merge('never', 'torn', 'shard-2');
    assert.equal(answer.status, 2);
    assert.match(answer.stderr, /run\.json is damaged/);
  });
});
