import assert from 'node:assert/strict';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  answerDialog,
  closeAllEditors,
  hands,
  type Pane,
  screenshot,
  visible,
  waitFor,
} from '../host/client';

interface Walkthrough {
  readonly id: string;
  readonly title: string;
  readonly steps: readonly { readonly id: string; readonly title: string; description: string }[];
}

const extension = (): vscode.Extension<unknown> => {
  const found = vscode.extensions.getExtension('swt-bench.swt-bench');
  assert.ok(found);
  return found;
};
const walkthrough = (): Walkthrough => {
  const { contributes } = extension().packageJSON as {
    contributes: { walkthroughs: readonly Walkthrough[] };
  };
  const [first] = contributes.walkthroughs;
  assert.ok(first);
  return first;
};

/** Titles of the visible walkthrough steps that are completed. */
const done = (): Promise<string[]> =>
  visible.texts('button.getting-started-step[aria-checked="true"] .step-title');
/** Brings the walkthrough to the front, as a click on its tab does. */
const bringToFront = (): Thenable<unknown> =>
  vscode.commands.executeCommand(
    'workbench.action.openWalkthrough',
    `${extension().id}#${walkthrough().id}`,
    false,
  );
const isDone = async (id: string): Promise<true> => {
  const step = walkthrough().steps.find((each) => each.id === id);
  assert.ok(step, id);
  await bringToFront();
  return waitFor(`the step ${id} to be done`, async () => {
    const titles = await done();
    assert.ok(titles.includes(step.title), titles.join());
    return true as const;
  });
};

const welcome = (text: string): Promise<Pane> =>
  waitFor(`welcome content with: ${text}`, async () =>
    (await visible.panes()).find((pane) => pane.welcome.includes(text)),
  );
const set = (values: Readonly<Record<string, unknown>>): Promise<void[]> =>
  Promise.all(
    Object.entries(values).map(async ([key, value]) =>
      vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global),
    ),
  );

describe('what a view says when it has nothing to show', () => {
  before(async () => {
    await extension().activate();
  });
  after(async () => {
    await set({
      'swt-bench.python': undefined,
      'swt-bench.storageFolder': undefined,
      'swt-bench.engine': undefined,
      'swt-bench.docker.host': undefined,
    });
  });

  it('is what to do first: a test is to be written, and to be run', async () => {
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    const testing = await welcome('No tests yet');
    assert.doesNotMatch(testing.welcome, /Python not found|container engine|not trusted/);
    await vscode.commands.executeCommand('swt-bench.changeCoverage.focus');
    const coverage = await welcome('After a run, shows each line');
    assert.deepEqual(coverage.buttons, ['Run Tests on R and R∘X*']);
  });

  it('is that there is no Python, and what to do, before anything has run', async () => {
    await set({ 'swt-bench.python': '/nowhere/bin/python' });
    const coverage = await welcome('Python not found');
    assert.deepEqual(coverage.buttons, ['Select Environment…', 'Change Engine', 'Detect Again']);
    const row = await waitFor('its row', async () =>
      (await visible.treeRows('Current Instance')).find((each) => each.label === 'No Python'),
    );
    assert.match(row.aria, /\/nowhere\/bin\/python/, 'a screen reader says what was tried');
    await waitFor('the status bar', async () => (await visible.statusBar('No Python')).length > 0);
    await screenshot('welcome-no-python');
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await welcome('Python not found');
    await set({ 'swt-bench.python': undefined });
    await waitFor('the views without it', async () =>
      (await visible.panes()).every((pane) => !pane.welcome.includes('Python not found')),
    );
  });

  it('is that the storage folder cannot be used, in one message with its setting', async () => {
    await set({ 'swt-bench.storageFolder': '/proc/nowhere' });
    const testing = await welcome("Can't write to the storage folder");
    assert.deepEqual(testing.buttons.slice(0, 2), ['Set Storage Folder', 'Detect Again']);
    await waitFor(
      'the status bar',
      async () => (await visible.statusBar('No storage folder')).length > 0,
    );
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('swt-bench.reproduce');
    const shown = await waitFor('the message', async () => {
      const all = await visible.notifications();
      return all.length > 0 ? all : undefined;
    });
    await screenshot('no-storage');
    assert.deepEqual(
      shown.map(({ message, buttons }) => [message, buttons]),
      [
        [
          "Can't write to the storage folder /proc/nowhere: it does not exist, and cannot be " +
            'created. Choose another folder with the setting swt-bench.storageFolder',
          ['Open Settings'],
        ],
      ],
    );
    await vscode.commands.executeCommand('notifications.clearAll');
    await set({ 'swt-bench.storageFolder': undefined });
    await waitFor('the views without it', async () =>
      (await visible.panes()).every((pane) => !pane.welcome.includes('storage folder')),
    );
  });

  it('is that no container engine answers', async () => {
    await set({
      'swt-bench.docker.host': 'unix:///nowhere/docker.sock',
      'swt-bench.engine': 'docker',
    });
    const testing = await welcome('No container engine found');
    assert.deepEqual(testing.buttons.slice(0, 3), ['Set Address', 'Change Engine', 'Detect Again']);
    await set({ 'swt-bench.engine': undefined, 'swt-bench.docker.host': undefined });
    await waitFor('the views without it', async () =>
      (await visible.panes()).every((pane) => !pane.welcome.includes('container engine')),
    );
  });
});

describe('the walkthrough', () => {
  it('leads to commands that there are', async () => {
    const known = new Set(await vscode.commands.getCommands(true));
    const linked = walkthrough().steps.flatMap(({ description }) =>
      [...description.matchAll(/\(command:(?:toSide:)?([\w.-]+)/g)].map(([, id]) => id ?? ''),
    );
    assert.ok(linked.length >= walkthrough().steps.length, 'a step without anything to do');
    assert.deepEqual(
      linked.filter((id) => !known.has(id)),
      [],
    );
  });

  it('shows its steps, the instance opened already', async () => {
    await vscode.commands.executeCommand('swt-bench.openGettingStarted');
    await waitFor('its steps', async () => {
      const titles = await visible.texts('button.getting-started-step .step-title');
      assert.deepEqual(
        titles,
        walkthrough().steps.map((step) => step.title),
      );
      return true;
    });
    await isDone('open');
    const ticked = await done();
    assert.ok(!ticked.includes('Read the issue'), 'it was shown, and nobody has read it');
    await screenshot('walkthrough');
  });

  it('ticks off what was done: the issue, a test, F→P', async function () {
    this.timeout(180_000); // two runs
    await vscode.commands.executeCommand('swt-bench.showIssue');
    await isDone('issue');
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'passes-on-both');
    await isDone('write');
    await vscode.commands.executeCommand('swt-bench.reproduce');
    await bringToFront();
    const titles = await done();
    assert.ok(
      titles.includes('Write a test') && !titles.includes('Make it F→P'),
      'P→P is not what the step asks for',
    );
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
    await vscode.commands.executeCommand('swt-bench.reproduce');
    await isDone('run');
  });

  it('asks before it shows change coverage, and ticks it off only when it is shown', async () => {
    const refused = vscode.commands.executeCommand('swt-bench.showChangeCoverage');
    await answerDialog('Cancel', 'Show Change Coverage');
    await refused;
    await bringToFront();
    const titles = await done();
    assert.ok(titles.includes('Make it F→P'), titles.join());
    assert.ok(!titles.includes('See what it covers'));
    const asked = vscode.commands.executeCommand('swt-bench.showChangeCoverage');
    await answerDialog('Show Fix');
    await asked;
    await isDone('cover');
  });

  it('ends with the export', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'swt-bench-export-'));
    await vscode.commands.executeCommand('swt-bench.exportReproduction', vscode.Uri.file(folder));
    assert.equal((await readdir(folder)).length, 1);
    await isDone('export');
    assert.equal((await done()).length, walkthrough().steps.length);
    await screenshot('walkthrough-done');
    await vscode.commands.executeCommand('swt-bench.hideGoldenPatch');
  });
});

describe('without a mouse', () => {
  it('reaches the issue by its keys', async () => {
    await closeAllEditors();
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await hands.press('Control+;');
    await hands.press('i');
    await waitFor('the issue', async () =>
      (await visible.webviews()).some((each) => each.includes('out of balance by')),
    );
  });

  it('says of every row of the open instance what it shows', async () => {
    await vscode.commands.executeCommand('swt-bench.instance.focus');
    const rows = await waitFor('rows with the verdict', async () => {
      const all = await visible.treeRows('Current Instance');
      return all.some((row) => row.description.includes('reproduces')) ? all : undefined;
    });
    assert.ok(rows.length >= 4);
    for (const row of rows) {
      assert.ok(row.aria.includes(row.label) && row.aria.includes(row.description), row.aria);
    }
  });
});
