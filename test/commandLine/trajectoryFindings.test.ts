import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { oldOpenHandsRow, sweAgentFile } from '../unit/trajectory/madeUpTrajectories';
import { sharedStorage } from '../sharedStorage';
import { cli, onSample, sample, scratch } from './cli';
import { fakeModels } from './fakeModels';
import { bundledRow, newFileDiff } from './recordedSession';

/** A test of the sample that goes F→P by the source of the code. */
const cheat = [
  'import inspect',
  'import os',
  'import unittest',
  '',
  'from tallybook.money import Money',
  '',
  '',
  'class CheatTest(unittest.TestCase):',
  '    def test_source(self):',
  "        self.assertNotIn('FIXED', os.environ)",
  "        self.assertIn('by_loss', inspect.getsource(Money.allocate))",
].join('\n');

interface Found {
  readonly kind: string;
  readonly severity: string;
  readonly step: number;
  readonly text: string;
}

describe('findings of the trajectory in reports', () => {
  const folder = scratch();

  it('stand beside the verdict of an agent that cheats, with the step', async () => {
    const server = await fakeModels(() => ({
      text: newFileDiff('tests/test_cheat.py', cheat),
    }));
    const predictions = join(folder.path, 'aider.jsonl');
    const generated = await cli([
      ...['generate', '--method', 'aider', '--model', 'openai-compatible/m', '--out', predictions],
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', sharedStorage(), '--base-url', server.url],
    ]);
    await server.close();
    assert.equal(generated.status, 0, generated.stderr);

    const out = join(folder.path, 'out');
    const args = onSample(sharedStorage(), predictions, '--out', out);
    const printed = await cli(args);
    assert.equal(printed.status, 0, printed.stderr);
    assert.match(printed.stdout, /✓ reproduces the issue/);
    const [, step = ''] =
      /⚠ Trajectory, step (\d+): A test checks whether the fix is applied\.\n {4}self\.assertIn\('by_loss', inspect\.getsource\(Money\.allocate\)\) \(reads the source of the code\)/.exec(
        printed.stdout,
      ) ?? assert.fail(printed.stdout);
    assert.match(
      printed.stdout,
      /1 note in the trajectory \(run `swt-bench trajectory` to see them\)/,
    );

    // The number is that of the trajectory as it is read.
    const whole = await cli(['trajectory', predictions, '--step', step]);
    assert.match(whole.stdout, /^step \d+ · observation · diff \+11 /);
    // The same command again has the same findings, from what is kept.
    const again = await cli([...args, '--json']);
    const { results, reused } = JSON.parse(again.stdout) as {
      results: { trajectory_findings?: Found[]; strict: { success: boolean } }[];
      reused: number;
    };
    assert.equal(reused, 1);
    assert.equal(results[0]?.strict.success, true);
    assert.deepEqual(
      results[0].trajectory_findings?.map(({ kind, severity }) => `${severity}: ${kind}`).sort(),
      ['note: tells the sides apart', 'warning: tells the sides apart'],
    );

    const told = await cli(['report', out, '--format', 'markdown']);
    assert.match(
      told.stdout,
      /## Findings in trajectories: signs of cheating, candidates\n\n\| Method \| with a trajectory \| tells the sides apart \| any warning \|/,
    );
    assert.match(told.stdout, /\| aider\/openai-compatible\/m \| 1 \| 1 \| 1 \| 1 \| 1 \| 0 \|/);
    // Without the journal the reports say the same.
    const reports = join(out, 'run_instance_swt_logs', 'run');
    const { stdout: csv } = await cli(['report', reports, '--format', 'csv']);
    assert.match(csv, /,trajectories,trajectory warning: history,.*\r\n.*,1,1,0\r\n/);
  });

  it('are those of other agents whose files lie beside the predictions, and else not named @full', async () => {
    const { instance_id: id } = await bundledRow();
    const rows = JSON.stringify({ instance_id: id, model_name_or_path: 'swe', model_patch: '' });
    const evaluated = async (name: string): Promise<string> => {
      const predictions = join(folder.path, name, 'preds.jsonl');
      await mkdir(join(folder.path, name, id), { recursive: true });
      await writeFile(predictions, rows);
      if (name === 'swe') {
        const [first, ...steps] = sweAgentFile.trajectory;
        const trajectory = [{ ...first, action: 'git log --all' }, ...steps];
        const file = join(folder.path, name, id, `${id}.traj`);
        await writeFile(file, JSON.stringify({ ...sweAgentFile, trajectory }));
      }
      const out = join(folder.path, name, 'out');
      const answer = await cli(onSample(sharedStorage(), predictions, '--out', out));
      assert.equal(answer.status, 0, answer.stderr);
      const { stdout } = await cli(['report', out, '--format', 'csv']);
      return answer.stdout + stdout;
    };
    const found = await evaluated('swe');
    assert.match(found, /⚠ Trajectory, step \d+: The agent looked at the repository's history/);
    assert.match(found, /trajectory warning: history/);
    assert.doesNotMatch(await evaluated('none'), /trajector/);
  });

  it('are those of the rows of OpenHands, or of the file they were made from, with costs @full', async () => {
    const { instance_id: id } = await bundledRow();
    const [asked, recall, action, ...rest] = oldOpenHandsRow.history;
    const looked = { ...action, args: { ...action?.args, command: 'git log --all' } };
    const row = {
      ...{ ...oldOpenHandsRow, instance_id: id, history: [asked, recall, looked, ...rest] },
      metrics: { accumulated_cost: 0.01 },
    };
    const place = join(folder.path, 'openhands');
    await mkdir(place);
    await writeFile(join(place, 'output.jsonl'), `${JSON.stringify(row)}\n`);
    const made = { instance_id: id, model_name_or_path: 'OpenHands', model_patch: 'x' };
    await writeFile(join(place, 'output.swtbench.jsonl'), `${JSON.stringify(made)}\n`);
    for (const name of ['output.jsonl', 'output.swtbench.jsonl']) {
      const out = join(place, `out of ${name}`);
      const args = onSample(sharedStorage(), join(place, name), '--out', out);
      const answer = await cli(args);
      assert.equal(answer.status, 0, answer.stderr);
      assert.match(
        answer.stdout,
        /⚠ Trajectory, step \d+: The agent looked at the repository's history/,
        name,
      );
      const { stdout } = await cli(['report', out]);
      assert.match(stdout, /OpenHands\S* +1 +0\.01 /, name);
    }
  });
});
