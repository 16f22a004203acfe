// VS Code restarts the suite in the window that it reloads. The first time, it opens panels and reloads
// the window. The second time, each panel must show the same again, or say why it cannot.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
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
import { hands, screenshot, visible, waitFor } from './host/client';
import { scriptedModel, scriptedModels } from './scriptedModels';

const folder = join(process.env['SWT_BENCH_SCRATCH'] ?? '', 'panels');
const notes = join(folder, 'reloaded');
const moved = join(folder, `${instance}.traj.json`);
const results = join(folder, 'results');
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);
/** The page in the front, once it has a text. */
const page = (text: string): Promise<string> =>
  waitFor(`a page with "${text}"`, async () =>
    (await visible.webviews()).find((each) => each.replaceAll('\u202f', ' ').includes(text)),
  );
/** Brings a tab to the front. A panel is filled again only then. */
async function show(label: string): Promise<void> {
  const found = await waitFor(`the tab ${label}`, async () => {
    const labels = (await visible.tabs()).map((each) => each.label);
    const at = labels.indexOf(label);
    if (at < 0) throw new Error(labels.join(', '));
    return { at };
  });
  await vscode.commands.executeCommand(`workbench.action.openEditorAtIndex${found.at + 1}`);
}

/** An agent that calls tools writes a candidate, and its steps stand in a panel. */
async function showOwnSteps(): Promise<void> {
  const models = await scriptedModels();
  await scriptedModel();
  const lines = ['import unittest', 'class OwnTest(unittest.TestCase):', '    def test_own(self):'];
  const body = [...lines, "        self.fail('no')"].map((each) => `+${each}\n`).join('');
  const patch = `--- /dev/null\n+++ b/tests/test_own.py\n@@ -0,0 +1,4 @@\n${body}`;
  models.script(
    { text: 'I look around.', calls: [{ name: 'list_files' }] },
    {
      text: 'I search.',
      calls: [{ name: 'search_code', input: { kind: 'text', query: 'def allocate' } }],
    },
    { calls: [{ name: 'apply_candidate', input: { patch } }, { name: 'run_tests' }] },
    'It fails as the issue says.',
  );
  await run('generate', { method: 'tools', model: 'vscode/swt-test/scripted' });
  await run('generated.focus');
  await waitFor('the candidate', async () =>
    (await visible.treeRows('Generated')).find(({ description }) =>
      /^selected · W · fails/.test(description),
    ),
  );
  await waitFor('its steps', async () => {
    const row = (await visible.treeRows('Generated')).find(({ label }) => label === 'Steps');
    if (row?.expanded === false) {
      await hands.click({ selector: '.monaco-list-row', text: 'Steps' });
    }
    return row?.expanded;
  });
  await screenshot('generated-steps');
  await run('showTrajectory');
  await page('I search.');
}

/** A graded run whose predictions have a trace of two trajectories beside them. */
async function addRun(): Promise<void> {
  const predictions = join(folder, 'mini.jsonl');
  await writeFile(`${predictions}.trace.jsonl`, asLines([...agentTrace, ...oracleTrace]));
  const entry: RunEntry = {
    ...nothingKnown,
    ...{ instance, model: 'mini/openai/gpt-4o', sample: 1, reason: 'success' },
    ...{ explanation: '', evaluated: true, success: true, failToPass: 1, seconds: 1 },
  };
  const facts = { id: instance, repo: 'octo/cat', created: '', issueLength: 1 };
  const run = { label: 'graded', instances: [facts], entries: [entry] };
  const place = await writeRun(results, run);
  const manifest = await readManifest(place);
  assert.ok(manifest !== undefined);
  await writeManifest(place, { ...manifest, predictions: [{ from: predictions }] });
}

async function openPanels(): Promise<void> {
  await mkdir(folder, { recursive: true });
  await showOwnSteps();
  await writeFile(moved, JSON.stringify(miniFile));
  await run('showTrajectory', vscode.Uri.file(moved));
  await page('I look around');
  await addRun();
  await run('addResults', results);
  await run('showTrajectory', { kind: 'run', label: 'graded' });
  await page('2 trajectories');
  await hands.clickInWebview(instance, 'tbody button');
  await page('4 turns');
  await run('openDashboard', 'graded');
  await page('Success rate');
}

describe('a reload of the window', () => {
  it('keeps trajectories and dashboards, and says what is gone', async () => {
    if (!existsSync(notes)) {
      await openPanels();
      await rename(moved, `${moved}.elsewhere`);
      await writeFile(notes, '');
      // This extension host ends before it gets the answer. Errors of other extensions in it about
      // closed channels do not matter here.
      process.removeAllListeners('uncaughtException');
      process.on('uncaughtException', () => undefined);
      vscode.commands
        .executeCommand('workbench.action.reloadWindow')
        .then(undefined, () => undefined);
      await new Promise(() => undefined);
    }
    assert.match(await page('Success rate'), /mini\/openai\/gpt-4o/);

    await show('Trajectory: mini.jsonl.trace.jsonl');
    const graded = await page('4 turns');
    assert.match(graded, /success; 1 F→P/);
    assert.match(graded, /All trajectories/, 'the row that was open, of several');

    await show(`Trajectory: ${instance}`);
    assert.match(await page('no longer exists or cannot be read'), /Restore it/);
    await screenshot('trajectory-gone');
    await rename(`${moved}.elsewhere`, moved);
    await hands.clickInWebview('Try Again', 'button');
    await page('I look around');

    await show('Trajectory: tallybook__tallybook-217');
    assert.match(await page('I search.'), /With the fix \(hidden from models\)/);
    await screenshot('trajectory-after-reload');
    assert.deepEqual(
      (await visible.notifications()).filter(({ severity }) => severity === 'error'),
      [],
    );
    await rm(notes);
  });
});
