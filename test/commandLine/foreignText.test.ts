import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedRuns, writeSimulatedRun } from '../bench/manyRuns';
import { cli } from './cli';

describe('names of strangers on the command line', () => {
  /** A title of a window, a cleared screen, both by one byte too, and text that is turned around. */
  const evil = '\u001b]0;x\u0007\u001b[2J\u009b2J\u009d0;x\u202e\u2066';
  const drives =
    // oxlint-disable-next-line no-control-regex -- these are what must not come
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'foreign-text-test-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  const harmless = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await cli(args);
    assert.doesNotMatch(stdout, drives, args.join(' '));
    assert.doesNotMatch(stderr, drives, args.join(' '));
    return stdout;
  };

  it('reach no terminal from predictions, datasets, triage files and what they are refused for', async () => {
    const row = { instance_id: `x${evil}`, model_name_or_path: evil, model_patch: 'a' };
    const file = join(folder, `${evil.replace('/', '')}.jsonl`);
    await writeFile(file, `${JSON.stringify(row)}\n{"${evil}":`);
    await harmless('evaluate', '--dataset', 'bundled', '--predictions', file, '--out', folder);
    await harmless('instances', '--dataset', file);
    await harmless('show', `x${evil}`, '--dataset', 'bundled');
    await harmless('instances', '--dataset', 'bundled', '--filter', file);
    await harmless('triage', '--file', file, '--dataset', 'bundled');
    await harmless('trajectory', file);
    await harmless(evil, evil);
    await harmless('evaluate', `--${evil}`);
  });

  it('reach no table, file of values or document of a report, and leave room for its figures', async () => {
    const [run] = simulatedRuns(3, 1);
    assert.ok(run);
    const model = `${evil}${'n'.repeat(3000)}`;
    const instances = run.instances.map((each) => ({ ...each, repo: `o/${each.id}${evil}` }));
    const entries = run.entries.map((each) => ({ ...each, model, explanation: evil }));
    await writeSimulatedRun(folder, { ...run, instances, entries, models: [model] });
    const table = await harmless('report', folder);
    const rows = table.split('\n').filter((line) => !line.startsWith('- '));
    assert.ok(rows.every((line) => line.length < 600));
    for (const format of ['csv', 'markdown']) await harmless('report', folder, '--format', format);
    const json = JSON.parse(await harmless('report', folder, '--json')) as {
      methods: { name: string }[];
    };
    assert.equal(json.methods[0]?.name, model);
  });
});
