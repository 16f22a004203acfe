import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tracesOfRun } from '../../../src/editor/runs/trajectoriesOfRuns';
import { nothingKnown, type RunData, type RunEntry } from '../../../src/study/entry';
import { readManifest, writeManifest } from '../../../src/results/runFolder';
import type { Trajectory } from '../../../src/trajectory/trajectory';
import { finalVerdict } from '../../../src/trajectory/finalVerdict';
import { writeRun } from '../dashboard/savedRuns';
import { instance, testDiff } from './madeUpTrajectories';

const trajectory: Trajectory = {
  ...{ instance, format: 'swt-bench', steps: [] },
  ...{ agent: 'mini', model: 'openai/gpt-4o', submission: testDiff },
};

const entry = (model: string, more: Partial<RunEntry> = {}): RunEntry => ({
  ...nothingKnown,
  ...{ instance, model, sample: 1, reason: 'passes on R', explanation: '', seconds: 1 },
  ...more,
});

describe('the verdict of a trajectory', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-verdict-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const run = (label: string, entries: readonly RunEntry[]): RunData => ({
    ...{ label, instances: [], entries, folder },
  });
  const graded = async (name: string, patch: string): Promise<{ readonly report: string }> => {
    const report = join(name, 'report.json');
    await mkdir(dirname(join(folder, report)), { recursive: true });
    await writeFile(join(folder, name, 'model_patch.diff'), patch);
    return { report };
  };
  const verdict = async (...runs: readonly RunData[]): Promise<string | undefined> => {
    const found = await finalVerdict(trajectory, runs);
    return found && `${found.run} ${found.entry.model}`;
  };

  it('is that of the same patch, whatever its model is called, in the last run', async () => {
    const same = await graded('same', `${testDiff}\n`);
    const other = await graded('other', 'another patch');
    assert.equal(await verdict(run('a', [entry('x', other), entry('y', same)])), 'a y');
    assert.equal(await verdict(run('a', [entry('x', same)]), run('b', [entry('z', same)])), 'b z');
    assert.equal(await verdict(run('a', [entry('mini/openai/gpt-4o', other)])), undefined);
    assert.equal(await verdict(run('a', [entry('y', { ...same, instance: 'other' })])), undefined);
  });

  it('is that of the model where the patch is not kept and nothing else can be meant', async () => {
    const name = 'mini/openai/gpt-4o';
    assert.equal(await verdict(run('a', [entry(name), entry('other')])), `a ${name}`);
    assert.equal(await verdict(run('a', [entry(name), entry(name, { sample: 2 })])), undefined);
    const outside = { report: '../same/report.json' };
    await graded('../same', testDiff);
    assert.equal(await verdict(run('a', [entry('y', outside)])), undefined);
    await rm(join(folder, '..', 'same'), { recursive: true });
    assert.equal(await verdict(), undefined);
  });

  it('stands beside the traces of its run', async () => {
    const place = await writeRun(folder, run('run', [entry('m')]));
    const data = { ...run('run', []), place };
    assert.deepEqual(await tracesOfRun(data), []);
    const manifest = await readManifest(place);
    assert.ok(manifest !== undefined);
    const predictions = [
      { from: join(folder, 'a.jsonl') },
      { from: 'b.jsonl' },
      { from: 'c.jsonl' },
      ...[{ from: 'log.eval' }, { from: 'job' }, { from: 'none.eval' }],
    ];
    await writeManifest(place, { ...manifest, predictions });
    const traces = ['a', 'b'].map((name) => join(folder, `${name}.jsonl.trace.jsonl`));
    const both = [join(folder, 'log.eval'), join(folder, 'job')];
    for (const path of traces) await writeFile(path, '');
    await writeFile(join(folder, 'log.eval'), 'PK\x03\x04');
    await mkdir(join(folder, 'job'));
    assert.deepEqual(await tracesOfRun(data), [...traces, ...both]);
    assert.deepEqual(await tracesOfRun(run('read from the harness', [])), []);
  });
});
