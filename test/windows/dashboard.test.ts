import assert from 'node:assert/strict';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { nothingKnown } from '../../src/study/entry';
import { journalPath } from '../../src/results/journal';
import { simulatedRuns } from '../unit/dashboard/simulated';
import { journalLine, writeRun } from '../unit/dashboard/savedRuns';
import {
  answerDialog,
  answerFileDialog,
  closeAllEditors,
  hands,
  type Row,
  screenshot,
  visible,
  waitFor,
} from './host/client';

const scratch = process.env['SWT_BENCH_SCRATCH'] ?? '';
const bundled = 'tallybook__tallybook-217';
const results = join(scratch, 'saved-runs');
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);
const row = async (label: string): Promise<Row | undefined> =>
  (await visible.treeRows('Runs')).find((each) => each.label === label);
const page = async (text: string): Promise<string> =>
  waitFor(`a page with "${text}"`, async () =>
    (await visible.webviews()).find((each) => each.replaceAll('\u202f', ' ').includes(text)),
  );
const trial = { predictions: ['bundled'], ids: [bundled], runId: 'trial' };
/** Presses a key at the first run, repeatedly, since a view that is redrawn may lose it. */
const atFirstRun = async (key: string): Promise<void> => {
  await vscode.commands.executeCommand('swt-bench.runs.focus');
  await hands.press('Home');
  await hands.press(key);
};

describe('the Runs view and its dashboard', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
    await vscode.commands.executeCommand('swt-bench.runs.focus');
  });

  it('welcomes with what makes a run', async () => {
    const pane = await waitFor('welcome text', async () =>
      (await visible.panes()).find(
        (each) => each.title === 'Runs' && each.welcome.includes('evaluated candidates'),
      ),
    );
    assert.deepEqual(pane.buttons, ['Evaluate Predictions…', 'Add Results…']);
  });

  it('evaluates predictions until it is cancelled in the dashboard', async () => {
    const begun = run('evaluatePredictions', trial);
    // The list of instances may start to reload while the command waits for it.
    await run('refresh');
    await begun;
    await waitFor('the running batch', () => row('trial'));
    // A paused batch cannot end before it is cancelled.
    await run('pauseBatch', 'trial');
    await waitFor('the pause', async () => (await row('trial'))?.description.includes('paused'));
    await run('openDashboard', 'trial');
    await page('paused');
    await hands.clickInWebview('Cancel', 'button');
    await waitFor('the end', async () =>
      (await row('trial'))?.description.startsWith('not finished'),
    );
    await closeAllEditors();
    assert.deepEqual(
      (await visible.notifications()).filter(({ severity }) => severity === 'error'),
      [],
    );
  });

  it('goes on with it later, can be told to wait, and lists the run with its rates', async () => {
    await run('evaluatePredictions', trial);
    await waitFor('the running batch', async () =>
      (await row('trial'))?.description.includes(' of 8'),
    );
    await run('pauseBatch', 'trial');
    await waitFor('the pause', async () => (await row('trial'))?.description.includes('paused'));
    await run('resumeBatch', 'trial');
    await waitFor(
      'the finished run',
      async () => {
        const failed = (await visible.notifications()).find(({ severity }) => severity === 'error');
        if (failed !== undefined) throw new Error(failed.message);
        const found = await row('trial');
        return found?.description === '8 methods' ? found : undefined;
      },
      180_000,
    );
    const method = await waitFor('its methods', async () => {
      await atFirstRun('ArrowRight');
      return row('covers-everything');
    });
    assert.match(method.description, /^S 100\.0 % \(1 of 1\) · ΔC 100\.0 %$/);
    // The view may be too short for those that follow.
    assert.match((await row('passes-on-both'))?.description ?? '', /^S 0\.0 % \(0 of 1\)/);
    await waitFor('its methods to be folded', async () => {
      await atFirstRun('ArrowLeft');
      return (await row('covers-everything')) === undefined;
    });
  });

  it('shows the run with a word for every cell', async () => {
    await run('openDashboard', 'trial');
    const text = await page('Success rate');
    for (const word of ['covers-everything', 'F→P', 'does not apply', 'passes-on-both', 'P→P']) {
      assert.ok(text.includes(word), `${word} is not in the page`);
    }
    await screenshot('dashboard');
  });

  it('leads from a cell to its explanation, log, diff and gutters', async () => {
    await hands.clickInWebview('does not apply', '[role=gridcell]');
    const details = await page('Open Instance');
    assert.ok(details.includes('Dashboard: trial'), 'the page has the title of its tab');
    assert.ok(!details.includes('Trajectory'), 'these predictions have none');
    await hands.clickInWebview('Diff', 'button');
    await waitFor('the candidate', async () =>
      (await visible.tabs()).find(({ label }) => label.startsWith('model_patch.diff')),
    );
    await closeAllEditors();

    await run('openDashboard', 'trial');
    await page('Success rate');
    await hands.clickInWebview('F→F', '[role=gridcell]');
    await page('Open Instance');
    await hands.clickInWebview('Log', 'button');
    await waitFor('the output of both sides', async () =>
      (await visible.tabs()).find(({ label }) => label === `Output of ${bundled} (R ↔ R∘X*)`),
    );
    await run('openDashboard', 'trial');
    await hands.clickInWebview('Gutters', 'button');
    await answerDialog('Show Fix');
    const icons = await waitFor('marks in the gutter', async () =>
      (await visible.gutterIcons()).filter(({ icon }) => /covered|missed/.test(icon)),
    );
    assert.ok(icons.every(({ uri }) => uri.startsWith('swt-bench://result/')));
    await screenshot('dashboard-gutters');
    await closeAllEditors();
  });

  it('saves a plot as SVG and as PNG where a person says', async () => {
    await run('openDashboard', 'trial');
    await page('Success rate');
    for (const kind of ['SVG', 'PNG']) {
      const file = join(scratch, `plot.${kind.toLowerCase()}`);
      // The button is below the visible part, and appears when its plot is drawn.
      await waitFor('the button', async () => {
        await hands.clickInWebview('Success rate', 'h3');
        return (await visible.webviews()).some((each) => each.includes(`Save as ${kind}`));
      });
      await hands.clickInWebview(`Save as ${kind}`, 'button');
      await answerFileDialog(file);
      const saved = await waitFor('the file', () => readFile(file).catch(() => undefined));
      if (kind === 'SVG') {
        assert.match(
          saved.toString('utf8'),
          /^<\?xml.*\n<svg [^>]*xmlns=.*<rect[^>]* fill="rgb\(/s,
        );
      } else {
        assert.deepEqual([...saved.subarray(1, 4)], [...Buffer.from('PNG')]);
      }
    }
    await closeAllEditors();
  });

  it('hides a method until it is shown again, also in the next dashboard', async () => {
    await run('openDashboard', 'trial');
    await page('Success rate');
    await hands.clickInWebview('does-not-apply', '.method');
    await waitFor('the row by name alone', async () =>
      (await visible.webviews()).some((each) => /does-not-apply\s+hidden/.test(each)),
    );
    await closeAllEditors();
    await run('openDashboard', 'trial');
    const text = await page('hidden');
    assert.ok(text.includes('1 of 1 instances'));
    await hands.clickInWebview('does-not-apply', '.method');
    await waitFor('all methods', async () =>
      (await visible.webviews()).every((each) => !/\bhidden\b/.test(each)),
    );
    await closeAllEditors();
  });

  it('compares with results of code repair that a person adds', async () => {
    const file = join(scratch, 'a-repairer.report.json');
    await writeFile(file, JSON.stringify({ resolved_ids: [bundled], unresolved_ids: ['a__b-1'] }));
    await run('openDashboard', 'trial');
    await page('Success rate');
    await hands.clickInWebview('Add Code Repair Results', 'button');
    await answerFileDialog(file);
    await page('hypergeometric');
    const listed = await waitFor('its row', () => row('a-repairer.report'));
    assert.equal(listed.description, 'code repair · 1 of 2 resolved');
    await screenshot('dashboard-repairs');
    await run('removeResults', { kind: 'repairs', path: file });
    await page('No code repair results');
    await waitFor(
      'the list without it',
      async () => (await row('a-repairer.report')) === undefined,
    );
    await closeAllEditors();

    await writeFile(file, '{"something": "else"}');
    await run('addResults', file);
    await waitFor('the refusal', async () =>
      (await visible.notifications()).find(({ message }) =>
        message.includes('does not list resolved instances'),
      ),
    );
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('keeps the same filter as the Instances view', async () => {
    await run('openDashboard', 'trial');
    await page('1 of 1 instances');
    await run('filterInstances', 'repo:nowhere');
    await page('0 of 1 instances');
    await run('clearInstanceFilter');
    await page('1 of 1 instances');
    await closeAllEditors();
  });

  it('follows a batch of another process while its journal grows', async () => {
    const [all] = simulatedRuns({ instances: 40, methods: 1, seed: 3 });
    assert.ok(all);
    const entries = all.entries.slice(0, 10);
    const folder = await writeRun(results, { ...all, label: 'night', entries }, 40);
    await writeFile(join(folder, 'live.json'), JSON.stringify(live(10)));
    await run('addResults', results);
    await waitFor('the running batch', async () =>
      (await row('night'))?.description.startsWith('10 of 40 · 90 per hour'),
    );
    await run('openDashboard', 'night');
    await page('10 of 40 · 90 per hour · 20 min 0 s left');

    for (const entry of all.entries.slice(10, 25)) {
      await appendFile(journalPath(folder), journalLine('night', entry));
    }
    await writeFile(join(folder, 'live.json'), JSON.stringify(live(25)));
    await page('25 of 40');
    const evaluated = all.entries.slice(0, 25).filter((entry) => entry.evaluated).length;
    await waitFor('the number that is not evaluated', async () =>
      (await visible.inWebviews('table.summary td.evaluated')).some(
        ({ text }) => text === `${40 - evaluated}`,
      ),
    );
    await screenshot('dashboard-live');

    await rm(join(folder, 'live.json'));
    await waitFor('the end', async () =>
      (await row('night'))?.description.startsWith('not finished'),
    );
    await closeAllEditors();
  });

  it('marks a candidate with findings, and shows their evidence beside its verdict', async () => {
    const [all] = simulatedRuns({ instances: 12, methods: 1, seed: 5 });
    const one = all?.entries.find(({ success }) => success);
    assert.ok(all && one);
    const evidence =
      'tests/test_new.py:5 runs git: assert b"fix" in subprocess.check_output(["git", "log"])';
    const entries = all.entries.map((entry) => ({
      ...entry,
      ...(entry.evaluated && { findings: [] }),
      ...(entry === one && {
        findings: [
          { kind: 'no changed line ran', evidence: ['The one F→P test ran none of them'] } as const,
          { kind: 'inspects source', evidence: [evidence] } as const,
        ],
      }),
    }));
    await writeRun(results, { ...all, label: 'spoofed', entries });
    await run('addResults', results);
    await run('refresh');
    const listed = await waitFor('the run', () => row('spoofed'));
    assert.match(listed.description, /⚠ findings in 1 of \d+ with F→P/);
    await run('openDashboard', 'spoofed');
    await page('12 of 12 instances');
    await page('S with a finding');
    await hands.clickInWebview('⚠', '[role=gridcell]');
    const text = await page(evidence);
    assert.ok(text.includes('⚠ No F→P test executed a changed line.'));
    await screenshot('dashboard-findings');
    await run('removeResults', 'spoofed');
    await closeAllEditors();
  });

  it('lets a person choose a folder with R where R cannot be had', async () => {
    const [all] = simulatedRuns({ instances: 12, methods: 1, seed: 5 });
    const [first, ...others] = all?.entries ?? [];
    assert.ok(all && first);
    const explanation =
      'Commit 0123456789012345678901234567890123456789 of octo/cat cannot be fetched from ' +
      'https://github.com/octo/cat.git: the host is unknown (Could not resolve host: ' +
      'github.com). Check the network, the proxy and the URL, and try again. Give --source ' +
      'octo/cat=PATH_OR_URL of a repository that has it, or a folder or archive with a release ' +
      'that the patch fits';
    const { instance, model, sample } = first;
    const without = {
      ...{ ...nothingKnown, instance, model, sample, explanation, seconds: 0 },
      reason: 'source not available' as const,
    };
    const instances = all.instances.map((each) =>
      each.id === instance ? { ...each, repo: 'octo/cat' } : each,
    );
    await writeRun(results, { ...all, label: 'offline', instances, entries: [without, ...others] });
    await run('addResults', results);
    await run('refresh');
    await run('openDashboard', 'offline');
    await page('12 of 12 instances');
    await hands.clickInWebview('source not available', '[role=gridcell]');
    await page('Choose Repository Folder…');
    await screenshot('dashboard-without-source');
    await hands.clickInWebview('Choose Repository Folder…', 'button');
    await answerFileDialog(scratch);
    const configuration = (): unknown =>
      vscode.workspace.getConfiguration('swt-bench').get('repositorySources');
    await waitFor('the setting', () =>
      JSON.stringify(configuration()).includes(JSON.stringify(scratch)),
    );
    assert.deepEqual(configuration(), { 'octo/cat': scratch });
    const said = await waitFor('what is next', async () =>
      (await visible.notifications()).find(({ message }) => message.startsWith('octo/cat now')),
    );
    assert.deepEqual(said.buttons, ['Evaluate Predictions…']);
    await vscode.workspace
      .getConfiguration('swt-bench')
      .update('repositorySources', undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('notifications.clearAll');
    await run('removeResults', 'offline');
    await closeAllEditors();
  });

  it('shows several runs beside each other in light, dark and high contrast', async () => {
    for (const each of simulatedRuns({ instances: 300, methods: 4 })) await writeRun(results, each);
    await run('refresh');
    await waitFor('the runs', () => row('run-4'));
    const themes = [
      ['Default Light Modern', 'vscode-light'],
      ['Default Dark Modern', 'vscode-dark'],
      ['Default High Contrast', 'vscode-high-contrast'],
    ] as const;
    const configuration = vscode.workspace.getConfiguration('workbench');
    await run('openDashboard', ...[undefined, ['run-1', 'run-2', 'run-3', 'run-4']]);
    await page('300 of 300 instances');
    for (const [theme, kind] of themes) {
      await configuration.update('colorTheme', theme, vscode.ConfigurationTarget.Global);
      await waitFor(`the page in ${theme}`, () => visible.inWebviews(`body.${kind}`));
      const rows = await visible.inWebviews('table.summary tbody tr');
      assert.deepEqual(
        rows.map(({ text }) => /method-\d/.exec(text)?.[0]),
        ['method-1', 'method-2', 'method-3', 'method-4'],
      );
      for (const { text, isCut } of rows) {
        // Of each the number of instances, and shares with their intervals.
        assert.match(text, /\b300\b[^]*\d\.\d[^]*\d\.\d–/, theme);
        assert.equal(isCut, false, `${text} is not whole in ${theme}`);
      }
      await screenshot(`dashboard-${theme.split(' ').slice(1).join('-').toLowerCase()}`);
    }
    await configuration.update('colorTheme', undefined, vscode.ConfigurationTarget.Global);
  });

  it('paints many results soon', async () => {
    const many = join(scratch, 'many-runs');
    const simulated = simulatedRuns({ instances: 2000, methods: 10, seed: 7 });
    for (const each of simulated) await writeRun(many, { ...each, label: `many-${each.label}` });
    await run('addResults', many);
    await closeAllEditors();
    const labels = simulated.map(({ label }) => `many-${label}`);
    const times: string[] = [];
    for (let round = 0; round < 3; round++) {
      const asked = Date.now();
      await run('openDashboard', undefined, labels);
      const [paint] = await waitFor('the paint', async () => {
        const paints = await visible.paints();
        return paints.length > 0 ? paints : undefined;
      });
      assert.ok(paint);
      const { opened, received, painted } = paint;
      times.push(
        `${(painted - asked).toFixed(0)} (${(opened - asked).toFixed(0)} until the webview is ` +
          `there, ${(received - opened).toFixed(0)} until it has the data, ` +
          `${(painted - received).toFixed(0)} until they are painted)`,
      );
      await closeAllEditors();
    }
    console.log(`2,000 instances × 10 runs, ms from the command to the paint: ${times.join(', ')}`);
    for (const label of labels) await run('removeResults', label);
  });

  it('writes the same page as a file that asks nothing of any network', async () => {
    const file = join(scratch, 'dashboard.html');
    await run('exportDashboard', 'run-1', vscode.Uri.file(file));
    const html = await readFile(file, 'utf8');
    assert.match(html, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
    assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)=/);
    assert.ok(!html.includes(results), 'a path of this machine is in the file');
  });

  it('takes a run off the list and leaves its files', async () => {
    await run('removeResults', 'run-4');
    await waitFor('the list without it', async () => (await row('run-4')) === undefined);
    assert.ok((await readFile(join(results, 'runs', 'run-4', 'run.json'), 'utf8')).length > 0);
  });
});

const live = (done: number): object => ({
  done,
  total: 40,
  running: [{ instance: 'sympy__sympy-1', model: 'method-1', since: '2026-11-21T00:00:00.000Z' }],
  paused: false,
  pid: process.pid,
  started: '2026-11-21T00:00:00.000Z',
  perHour: 90,
  secondsLeft: 1200,
});
