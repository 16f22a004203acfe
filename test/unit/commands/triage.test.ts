import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../../../src/domain/work';
import type { CommandContext } from '../../../src/commands/context';
import { statisticsCommand } from '../../../src/commands/instances/statistics';
import { triageCommand, type TriageOptions } from '../../../src/commands/instances/triage';

const diff = (path: string): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n`;

const row = (id: string) =>
  JSON.stringify({
    instance_id: id,
    repo: 'octo/cat',
    base_commit: 'abcdef0123456789abcdef0123456789abcdef01',
    problem_statement: 'It does not purr',
    created_at: '2023-01-02T03:04:05Z',
    version: '1.0',
    patch: diff('cat.py'),
    test_patch: diff('tests/test_cat.py'),
  });

describe('commands on what a person and the machine found out', () => {
  let storage = '';
  let triage = '';
  let dataset = '';
  beforeEach(async () => {
    storage = await mkdtemp(join(tmpdir(), 'triage-command-test-'));
    triage = join(storage, 'triage.json');
    dataset = join(storage, 'rows.jsonl');
    await writeFile(dataset, ['octo__cat-1', 'octo__cat-2'].map(row).join('\n'));
  });
  afterEach(() => rm(storage, { recursive: true, force: true }));

  function contextOf(): { context: CommandContext; out: () => string; err: () => string } {
    let [out, err] = ['', ''];
    const context: CommandContext = {
      stdout: (text) => (out += text),
      data: (text) => (out += text),
      stderr: (text) => (err += text),
      stdin: async () => Buffer.alloc(0),
      interactive: false,
      signal: new AbortController().signal,
      assets: '',
      bundled: { dataset: '', predictions: '', source: '' },
    };
    return { context, out: () => out, err: () => err };
  }

  async function run(ids: readonly string[], options: Partial<TriageOptions>) {
    const { context, out, err } = contextOf();
    const status = await triageCommand(ids, { triage, storage, ...options }, context);
    return { status, out: out(), err: err() };
  }

  const refused = (ids: readonly string[], options: Partial<TriageOptions>, said: RegExp) =>
    assert.rejects(
      run(ids, options),
      (error) => error instanceof HumanError && said.test(error.message),
    );

  it('changes the named entries and prints them', async () => {
    const first = await run(['octo__cat-1', 'octo__cat-2'], {
      tag: ['mine', 'slow'],
      location: ['keywords', 'file=none'],
      json: true,
    });
    assert.equal(first.status, 0);
    const [one] = JSON.parse(first.out) as unknown[];
    assert.deepEqual(one, {
      instance_id: 'octo__cat-1',
      tags: ['mine', 'slow'],
      note: '',
      classification: { location: { line: 'keywords', function: 'keywords', file: 'none' } },
      lite_s: true,
    });
    await run(['octo__cat-1'], { note: 'look', solution: 'misleading', untag: ['slow'] });
    const table = await run(['octo__cat-1'], {
      location: ['unjudged'],
      description: 'reproducible',
    });
    assert.match(table.out, /octo__cat-1 +mine +reproducible +misleading +look/);
    assert.doesNotMatch(table.out, /octo__cat-2/);
    await run(['octo__cat-1'], {
      untag: ['mine'],
      note: '',
      description: 'unjudged',
      solution: 'unjudged',
    });
    const file = JSON.parse(await readFile(triage, 'utf8')) as { instances: object };
    assert.deepEqual(Object.keys(file.instances), ['octo__cat-2']);
  });

  it('prints ids as a filter list, and CSV with every instance of the dataset', async () => {
    await run(['octo__cat-2'], { tag: ['x'], solution: 'exact-patch' });
    await run(['octo__dog-1'], { tag: ['x'] });
    assert.equal((await run([], { list: true })).out, 'octo__cat-2\nocto__dog-1\n');
    assert.equal((await run([], { list: true, query: 'is:lite-s' })).out, 'octo__dog-1\n');
    assert.equal((await run([], { list: true, query: 'purr', dataset })).out, 'octo__cat-2\n');
    const csv = (await run([], { csv: true, dataset })).out.split('\r\n');
    assert.equal(csv.length, 4);
    assert.match(csv[1] ?? '', /^octo__cat-1,octo\/cat,2023/);
    assert.match(csv[2] ?? '', /^octo__cat-2,octo\/cat,2023-01-02T03:04:05Z,x,,,exact-patch,/);
    assert.equal((await run([], { csv: true })).out.split('\r\n').length, 4);
  });

  it('merges another file and names what only one side can win', async () => {
    const other = join(storage, 'other.json');
    await run(['octo__cat-1'], { triage: other, solution: 'none', tag: ['theirs'] });
    await run(['octo__cat-1'], { solution: 'partial', tag: ['ours'] });
    const merged = await run([], { merge: other });
    assert.equal(merged.status, 1);
    assert.match(
      merged.err,
      /octo__cat-1: classification solution is "partial" here and "none" there/,
    );
    assert.match(merged.out, /ours, theirs +partial/);
    await refused([], { merge: join(storage, 'absent.json') }, /absent\.json/);
  });

  it('says what is wrong with its arguments, and then changes nothing', async () => {
    await refused([], { tag: ['x'] }, /No instance is specified for the change/);
    await refused(['octo__cat-1'], { tag: ['x\u0007'] }, /control character/);
    await refused(['octo__cat-1'], { solution: 'good' }, /"good".*exact-patch/);
    await refused(['octo__cat-1'], { location: ['line=good'] }, /"good".*stack-trace/);
    await refused(['../x'], { tag: ['x'] }, /not a valid instance ID/);
    await refused(['octo__dog-1'], { tag: ['x'], dataset }, /octo__dog-1/);
    await refused([], { query: 'purr' }, /--dataset/);
    await refused([], { csv: true, list: true }, /cannot be combined/);
    await assert.rejects(readFile(triage));
  });

  it('exits with 1 when the file says nothing about a named instance', async () => {
    const { status, err } = await run(['octo__cat-1'], {});
    assert.equal(status, 1);
    assert.match(err, /has no entry for octo__cat-1/);
  });

  it('prints statistics with the denominator of every figure', async () => {
    const json = contextOf();
    assert.equal(await statisticsCommand({ dataset, storage, json: true }, json.context), 0);
    const { selected, statistics } = JSON.parse(json.out()) as {
      selected: number;
      statistics: { key: string; n: number; mean: number | null }[];
    };
    assert.equal(selected, 2);
    assert.equal(statistics.length, 15);
    const of = (key: string) => statistics.find((each) => each.key === key);
    assert.deepEqual([of('golden_lines')?.mean, of('golden_lines')?.n], [3, 2]);
    assert.deepEqual([of('existing_total')?.mean, of('existing_total')?.n], [null, 0]);
    const text = contextOf();
    await statisticsCommand({ dataset, storage, query: 'octo__cat-1' }, text.context);
    assert.match(text.out(), /Issue Text +# Words +4\.0 +4 +1 of 1/);
    assert.match(text.out(), /Codebase +# Files +– +– +0 of 1/);
  });
});
