import assert from 'node:assert/strict';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { sweAgentFile } from '../unit/trajectory/madeUpTrajectories';
import { cli, root, sample, scratch } from './cli';

const id = 'tallybook__tallybook-217';

describe('submissions', () => {
  const folder = scratch();
  const out = (): string => join(folder.path, 'submission');
  const json = async (...path: string[]): Promise<unknown> =>
    JSON.parse(await readFile(join(out(), ...path), 'utf8'));

  before(async () => {
    const answer = await cli([
      ...['evaluate', '--dataset', join(sample, 'instance.jsonl')],
      ...['--source', join(sample, 'repository'), '--storage', join(folder.path, 'storage')],
      ...['--predictions', join(sample, 'predictions.jsonl')],
      ...['--out', join(folder.path, 'results')],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    await mkdir(join(folder.path, 'trajs', id), { recursive: true });
    await folder.file(join('trajs', id, `${id}.traj`), JSON.stringify(sweAgentFile));
  });

  const report = (...args: string[]) =>
    cli([
      ...['report', join(folder.path, 'results'), '--format', 'submission'],
      ...['--storage', join(folder.path, 'storage'), ...args],
    ]);

  it('need one method and a new folder', async () => {
    const several = await report('--out', out());
    assert.equal(several.status, 2);
    assert.match(several.stderr, /A submission is of one method, and the run has .*covers-some/);
    const nowhere = await report('--compare', 'covers-some');
    assert.match(nowhere.stderr, /A submission is a folder/);
    const full = await report('--compare', 'covers-some', '--out', join(folder.path, 'results'));
    assert.match(full.stderr, /results is not empty/);
  });

  it('have what the leaderboard asks for, without paths of this machine', async () => {
    const trajs = ['--trajectories', join(folder.path, 'trajs')];
    const answer = await report('--compare', 'covers-some', '--out', out(), ...trajs);
    assert.equal(answer.status, 0, answer.stderr);
    const names = await readdir(out(), { recursive: true });
    assert.deepEqual(
      names.sort(),
      [
        ...[
          'README.md',
          'metadata.yaml',
          'preds.json',
          'preds.jsonl',
          'logs',
          `logs/${id}`,
          'results',
          'trajs',
        ],
        ...['patch.diff', 'report.json', 'test_output.txt', 'test_output_pre.txt'].map(
          (name) => `logs/${id}/${name}`,
        ),
        ...['results', 'resolved_by_repo', 'resolved_by_time'].map(
          (name) => `results/${name}.json`,
        ),
        `trajs/${id}.atif.json`,
      ].sort(),
    );
    const rows = (await json('preds.json')) as Record<string, Record<string, string>>;
    assert.equal(rows[id]?.['model_name_or_path'], 'covers-some');
    const lines = (await readFile(join(out(), 'preds.jsonl'), 'utf8')).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      [rows[id]],
    );
    const patch = await readFile(join(out(), 'logs', id, 'patch.diff'), 'utf8');
    assert.equal(rows[id]['model_patch'], patch);
    assert.deepEqual(await json('results', 'results.json'), {
      ...{ resolved: [id], no_generation: [], no_logs: [] },
    });
    assert.deepEqual(await json('results', 'resolved_by_time.json'), {
      2024: { resolved: 1, total: 1 },
    });
    const metadata = parse(await readFile(join(out(), 'metadata.yaml'), 'utf8')) as object;
    assert.deepEqual(metadata, {
      info: { name: 'covers-some', report: null, authors: null, site: null, logo: null },
      tags: {
        ...{ checked: false, model: ['covers-some'], org: [] },
        ...{ os_model: false, os_system: false, system: { attempts: '1' } },
      },
    });
    for (const name of names.filter((each) => /\.\w+$/.test(each))) {
      const text = await readFile(join(out(), name), 'utf8');
      assert.ok(!text.includes(folder.path) && !text.includes(root), name);
    }
  });

  it('are read back: as a published run, as predictions, and their trajectories', async () => {
    const { stdout } = await cli(['report', out(), '--json']);
    const study = JSON.parse(stdout) as { methods: { model: string }[] };
    assert.match(JSON.stringify(study), /covers-some/);
    const again = await cli([
      ...['evaluate', '--dataset', join(sample, 'instance.jsonl')],
      ...['--source', join(sample, 'repository'), '--storage', join(folder.path, 'storage')],
      ...['--predictions', out(), '--json'],
    ]);
    assert.equal(again.status, 0, again.stderr);
    assert.match(again.stdout, /"reason": "success"/);
    const steps = await cli(['trajectory', join(out(), 'trajs'), '--json']);
    assert.match(steps.stdout, /"format": "swe-agent"/);
  });

  it('say what they lack', async () => {
    const other = join(folder.path, 'other');
    const answer = await report('--compare', 'passes-on-both', '--out', other);
    assert.equal(answer.status, 1);
    assert.match(answer.stderr, /is incomplete: 1 of 1 instances have no trajectory/);
    const readme = await readFile(join(other, 'README.md'), 'utf8');
    assert.match(readme, /- \[ \] 1 of 1 instances have no trajectory/);
    assert.match(readme, /Resolved under the grading of the reference harness: 0 of 1 \(0\.00 %\)/);
  });
});
