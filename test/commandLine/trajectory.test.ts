import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nothingKnown, type RunEntry } from '../../src/study/entry';
import type { ShownTrajectory } from '../../src/trajectory/trajectoryPages';
import { writeRun } from '../unit/dashboard/savedRuns';
import {
  agentTrace,
  asLines,
  instance,
  miniFile,
  oracleTrace,
  sweAgentFile,
} from '../unit/trajectory/madeUpTrajectories';
import { cli, scratch } from './cli';

describe('swt-bench trajectory', () => {
  const folder = scratch();
  const trace = (): Promise<string> =>
    folder.file('out.jsonl.trace.jsonl', asLines([...agentTrace, ...oracleTrace]));

  it('prints a line a step, and a step whole', async () => {
    const path = await trace();
    const { stdout, status } = await cli(['trajectory', path, '--instance', instance]);
    assert.equal(status, 0);
    assert.match(stdout, /^octo__cat-7 · mini · openai\/gpt-4o\n14 steps · 4 turns · /);
    assert.match(stdout, /verdict: not graded\nno finding\n/);
    assert.match(stdout, /^ +12 {2}action {7}submit {2}\(new workspace\)$/m);
    const whole = await cli(['trajectory', path, '--instance', instance, '--step', '2']);
    assert.equal(whole.stdout, 'step 2 · asked · user\n\nThe issue\n');
    const beyond = await cli(['trajectory', path, '--instance', instance, '--step', '99']);
    assert.equal(beyond.status, 2);
    assert.match(beyond.stderr, /^swt-bench: There is no step 99: the trajectory has 14 steps\./);
  });

  it('lists several, with the verdicts of --report', async () => {
    const path = await trace();
    const entry: RunEntry = {
      ...nothingKnown,
      ...{ instance, model: 'mini/openai/gpt-4o', sample: 1, reason: 'success' },
      ...{ explanation: '', evaluated: true, success: true, failToPass: 1, seconds: 1 },
    };
    const results = join(folder.path, 'results');
    const facts = { id: instance, repo: 'octo/cat', created: '', issueLength: 1 };
    await writeRun(results, { label: 'run', instances: [facts], entries: [entry] });
    const { stdout, status } = await cli(['trajectory', path, '--report', results]);
    assert.equal(status, 0);
    const [cat, dog] = stdout.split('\n');
    assert.match(cat ?? '', /^octo__cat-7 {2}mini, openai\/gpt-4o · 4 turns · .* · success$/);
    assert.match(dog ?? '', /^octo__dog-8 {2}.* · not graded$/);
  });

  it('gives one JSON document', async () => {
    const { stdout } = await cli(['trajectory', await trace(), '--json', '--instance', instance]);
    const read = JSON.parse(stdout) as {
      version: number;
      trajectories: (ShownTrajectory & { totals: { turns: number } })[];
    };
    assert.equal(read.version, 1);
    assert.equal(read.trajectories[0]?.trajectory.steps.length, 14);
    assert.equal(read.trajectories[0]?.totals.turns, 4);
    assert.deepEqual(read.trajectories[0]?.findings, []);
  });

  it('writes one page of a folder, names what it cannot read, and holds no path', async () => {
    const dir = join(folder.path, 'agents');
    await mkdir(dir, { recursive: true });
    await folder.file('agents/a.traj', JSON.stringify(sweAgentFile));
    await folder.file('agents/b.traj.json', JSON.stringify(miniFile));
    await folder.file('agents/c.traj', '{');
    const out = join(folder.path, 'page.html');
    const answer = await cli(['trajectory', dir, '--format', 'html', '--out', out]);
    assert.equal(answer.status, 1);
    assert.match(answer.stderr, /c\.traj is not JSON .*\nwritten: /);
    const html = await readFile(out, 'utf8');
    assert.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
    assert.ok(!html.includes(folder.path));
    assert.ok(html.includes('2 trajectories'));
  });

  it('refuses what is no trajectory with one line', async () => {
    for (const [name, content] of [
      ['other.json', '{"a": 1}'],
      ['empty.jsonl', ''],
      ['list.traj', '[1, 2]'],
      ['words.traj.json', '"words"'],
    ] as const) {
      const path = await folder.file(name, content);
      const { status, stderr, stdout } = await cli(['trajectory', path]);
      assert.equal(status, 2, name);
      assert.equal(stdout, '');
      assert.match(stderr, /^swt-bench: .*\n$/, name);
    }
    const unknown = await cli(['trajectory', await trace(), '--instance', 'octo__none-1']);
    assert.equal(unknown.status, 2);
    assert.match(unknown.stderr, /No trajectory of "octo__none-1" found in .*\. Omit --instance/);
  });
});
