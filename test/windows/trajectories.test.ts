import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { nothingKnown, type RunEntry } from '../../src/study/entry';
import { readManifest, writeManifest } from '../../src/results/runFolder';
import { writeRun } from '../unit/dashboard/savedRuns';
import {
  agentTrace,
  asLines,
  instance,
  miniFile,
  oracleTrace,
} from '../unit/trajectory/madeUpTrajectories';
import {
  answerFileDialog,
  closeAllEditors,
  hands,
  inQuickInput,
  screenshot,
  visible,
  waitFor,
} from './host/client';

const folder = join(process.env['SWT_BENCH_SCRATCH'] ?? '', 'trajectories');
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);
const page = (text: string): Promise<string> =>
  waitFor(`a page with "${text}"`, async () =>
    (await visible.webviews()).find((each) => each.replaceAll('\u202f', ' ').includes(text)),
  );

describe('trajectories in the editor', () => {
  before(() => mkdir(folder, { recursive: true }));
  afterEach(() => closeAllEditors());

  it('opens a file of another agent, folded', async () => {
    const path = join(folder, `${instance}.traj.json`);
    await writeFile(path, JSON.stringify(miniFile));
    await run('showTrajectory', vscode.Uri.file(path));
    const text = await page('mini-SWE-agent · anthropic/claude');
    assert.match(text, /Not graded/);
    assert.ok(!text.includes('Text of step'));
    await hands.clickInWebview('I look around', '.step-line');
    await page('I look around.\n');
    await screenshot('trajectory');
  });

  it('opens the trace of a run with its verdicts, one at a time', async () => {
    const predictions = join(folder, 'mini.jsonl');
    await writeFile(`${predictions}.trace.jsonl`, asLines([...agentTrace, ...oracleTrace]));
    const entry: RunEntry = {
      ...nothingKnown,
      ...{ instance, model: 'mini/openai/gpt-4o', sample: 1, reason: 'success' },
      ...{ explanation: '', evaluated: true, success: true, failToPass: 1, seconds: 1 },
    };
    const facts = { id: instance, repo: 'octo/cat', created: '', issueLength: 1 };
    const results = join(folder, 'results');
    const place = await writeRun(results, {
      label: 'graded',
      instances: [facts],
      entries: [entry],
    });
    const manifest = await readManifest(place);
    assert.ok(manifest !== undefined);
    await writeManifest(place, { ...manifest, predictions: [{ from: predictions }] });
    await run('addResults', results);
    await run('showTrajectory', { kind: 'run', label: 'graded' });
    await page('2 trajectories');
    await screenshot('trajectory-index');
    await hands.clickInWebview(instance, 'tbody button');
    const text = await page('4 turns');
    assert.match(text, /success; 1 F→P/);
    assert.match(text, /continued in a new workspace once/);
    await screenshot('trajectory-graded');
    await screenshot('trajectory-narrow', { width: 900, height: 1000 });
    await hands.resize(1500, 1000);
  });

  it('opens from the details of a cell of the dashboard', async () => {
    await run('openDashboard', 'graded');
    await page('Success rate');
    await hands.clickInWebview('F→P', '[role=gridcell]');
    await page('Open Instance');
    await screenshot('dashboard-trajectory');
    await hands.clickInWebview('Trajectory', 'button');
    const text = await page('4 turns');
    assert.match(text, /run graded/);
    assert.ok(!text.includes('All trajectories'), 'only that of the instance is read');
    await run('removeResults', 'graded');
  });

  it('says what is wrong with a file that is none', async () => {
    const path = join(folder, 'other.json');
    await writeFile(path, '{"a": 1}');
    await run('showTrajectory', path);
    await waitFor('the message', async () =>
      (await visible.notifications()).find(({ message }) => /is not a trajectory/.test(message)),
    );
  });

  it('evaluates a job of Harbor and shows its trajectories', async () => {
    const trial = join(folder, 'job', 'a');
    const bundled = 'tallybook__tallybook-217';
    await mkdir(join(trial, 'agent'), { recursive: true });
    const result = {
      ...{ task_name: `swtbench/${bundled}`, trial_name: 'a', agent_info: { name: 'octo' } },
    };
    const root = vscode.extensions.getExtension('swt-bench.swt-bench')?.extensionPath ?? '';
    const rows = await readFile(join(root, 'media', 'sample', 'instance.jsonl'), 'utf8');
    const { test_patch: patch } = JSON.parse(rows) as { readonly test_patch: string };
    await mkdir(join(trial, 'verifier'));
    await writeFile(join(trial, 'verifier', 'model.patch'), patch);
    await writeFile(join(trial, 'result.json'), JSON.stringify(result));
    await writeFile(
      join(trial, 'agent', 'trajectory.json'),
      JSON.stringify({
        schema_version: 'ATIF-v1.2',
        agent: { name: 'octo', version: '1' },
        steps: [{ step_id: 1, source: 'agent', message: 'I am done.' }],
      }),
    );
    const asked = run('evaluatePredictions');
    await inQuickInput.choose('Folders…');
    await answerFileDialog(join(folder, 'job'));
    await waitFor('the evaluated job', async () => {
      // Asks for the name of the run. The last Enter of the dialog may have answered.
      if ((await visible.quickInput()) !== null) await hands.press('Enter');
      return (await visible.notifications()).find(({ message }) =>
        message.startsWith('Evaluated job-bundled'),
      );
    });
    await asked;
    await run('showTrajectory', { kind: 'run', label: 'job-bundled' });
    const text = await page('I am done.');
    assert.match(text, /success; 5 F→P/);
  });
});
