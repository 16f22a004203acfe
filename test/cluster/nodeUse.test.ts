import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cli, sample, type Answer } from '../commandLine/cli';
import { fakeModels, type FakeModels } from '../commandLine/fakeModels';
import { lostCentPatch } from '../commandLine/lostCent';

interface Shown {
  readonly nodes?: readonly {
    readonly purpose: string;
    readonly name: string;
    readonly seconds: Readonly<Record<string, number>>;
  }[];
}

describe('the seconds of nodes', function () {
  let folder = '';
  let models: FakeModels | undefined;
  const at = (name: string): string => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-nodes-'));
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as object;
    const image = process.env['SWT_BENCH_CLUSTER_IMAGE'];
    await writeFile(at('set.jsonl'), `${JSON.stringify({ ...row, image })}\n`);
    models = await fakeModels(() => ({ text: `\`\`\`diff\n${lostCentPatch}\`\`\`\n` }));
  });
  after(async () => {
    await models?.close();
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  const run = async (...args: string[]): Promise<Answer> => {
    const answer = await cli([
      ...[...args, '--dataset', at('set.jsonl'), '--storage', at('storage')],
      ...['--source', join(sample, 'repository'), '--engine', 'kubernetes'],
      ...['--memory', '1g', '--cpus', '0.5', '--pending-minutes', '10'],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    return answer;
  };

  it('are reported of tests, of code patches, and of what a model wrote with a cluster', async () => {
    const written = at('written.jsonl');
    const model = ['--model', 'openai-compatible/m', '--base-url', models?.url ?? ''];
    const made = await run('generate', '--method', 'libro', ...model, '--out', written);
    assert.match(made.stderr, /node node-[ab]: \d+ seconds of sandboxes/);
    await run('evaluate', '--predictions', written, '--out', at('out'));
    await run('evaluate', '--kind', 'repair', '--predictions', 'gold', '--out', at('out'));
    const { stdout } = await cli(['report', at('out'), '--json']);
    const { nodes = [] } = JSON.parse(stdout) as Shown;
    assert.deepEqual(
      nodes.map(({ purpose, name }) => [purpose, name]),
      [
        ['predictions', written],
        ['tests', 'run'],
        ['code patches', 'run'],
      ],
    );
    for (const { seconds } of nodes) {
      const all = Object.entries(seconds);
      assert.ok(
        all.length > 0 && all.every(([node, used]) => /^node-[ab]$/.test(node) && used > 0),
      );
    }
    const text = await cli(['report', at('out')]);
    assert.match(text.stdout, /Nodes[^]*code patches +run +node-[ab] +\d+/);
  });
});
