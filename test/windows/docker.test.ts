import assert from 'node:assert/strict';
import Dockerode from 'dockerode';
import * as vscode from 'vscode';
import { screenshot, visible, waitFor, type StatusBarItem } from './host/client';

/** Milliseconds; an image may have to be built. */
const longWait = 240_000;

const id = process.env['SWT_BENCH_INSTANCE'] ?? '';
const docker = new Dockerode();

const status = async (): Promise<StatusBarItem | undefined> =>
  (await visible.statusBar()).find((item) => item.id.endsWith('swt-bench.verdict'));
const reproduce = (): Thenable<unknown> => vscode.commands.executeCommand('swt-bench.reproduce');
const settings = (): vscode.WorkspaceConfiguration =>
  vscode.workspace.getConfiguration('swt-bench');

const containers = (): Promise<Dockerode.ContainerInfo[]> =>
  docker.listContainers({
    all: true,
    filters: { label: [`swt-bench.instance=${id}`, 'swt-bench.kind=pair'] },
  });

/** A file in the containers for which the tests of a candidate wait. */
const gate = '/tmp/swt-bench-test-go';

/**
 * Opens the gate for waiting tests. It is called again and again, since a sandbox may clean up
 * before a run begins.
 */
async function opened(): Promise<false> {
  for (const { Id } of await containers()) {
    const exec = await docker.getContainer(Id).exec({ Cmd: ['touch', gate], User: 'root' });
    await exec.start({ Detach: true });
  }
  return false;
}

/** Writes the test file of the candidate as an author does: typed and saved. */
async function write(path: string, lines: readonly string[]): Promise<vscode.TextDocument> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder);
  const uri = vscode.Uri.joinPath(folder.uri, path);
  await vscode.workspace.fs.writeFile(uri, Buffer.from(`${lines.join('\n')}\n`));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return document;
}

const candidate = (...more: string[]): string[] => [
  'import os, sys, time, unittest',
  'from tallybook import Money',
  '',
  ...more,
  'class AllocateTest(unittest.TestCase):',
  '    def test_parts_add_up(self):',
  '        parts = Money(2000).allocate([1, 1, 1])',
  '        self.assertEqual(sum(part.cents for part in parts), 2000)',
];

describe('an instance in containers', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.view.testing.focus');
  });

  it('has its sandboxes opened in the background, and tells what runs its tests', async () => {
    // The window shows what the person waits for.
    await waitFor(
      'a step of the preparation',
      async () => (await status())?.icons.includes('sync'),
      longWait,
    );
    await screenshot('docker-preparing');
    const item = await waitFor(
      'the engine in the tooltip of the status bar',
      async () => {
        const found = await status();
        return found?.text.includes('no candidate yet') && found.aria.includes('Docker Engine')
          ? found
          : undefined;
      },
      longWait,
    );
    assert.match(item.aria, /CPython 3\.\d+/);
    const running = (await containers()).filter((each) => each.State === 'running');
    assert.equal(running.length, 2, 'one for each side');
    for (const each of running) assert.equal(each.HostConfig.NetworkMode, 'none');
  });

  it('shows a verdict from the warm pair, where the test is defined and in the status bar', async () => {
    const before = (await containers()).map((each) => each.Id).sort();
    const document = await write('tests/test_allocate.py', candidate());
    await reproduce();
    const item = await waitFor('a verdict', async () => {
      const found = await status();
      return found?.text.includes('ΔC') ? found : undefined;
    });
    assert.match(item.text, /1 F→P · ΔC \d+ %/);
    const line = document.getText().split('\n').indexOf('    def test_parts_add_up(self):');
    const [after] = await waitFor('text after the definition', async () =>
      (await visible.decorationsAfter()).filter((each) => each.text.startsWith('on R: ')),
    );
    assert.equal(after?.line, line + 1);
    assert.match(after?.text ?? '', /on R: expected /);
    assert.deepEqual((await containers()).map((each) => each.Id).sort(), before, 'the same pair');
    await screenshot('docker-verdict');
  });

  it("shows what the candidate's own tests did before the whole files have run", async () => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    await vscode.workspace.fs.delete(vscode.Uri.joinPath(folder.uri, 'tests/test_allocate.py'));
    // A file with other tests, so that the candidate's own tests run before the rest.
    const uri = vscode.Uri.joinPath(folder.uri, 'tests/test_money.py');
    const before = Buffer.from(await vscode.workspace.fs.readFile(uri));
    const gated = candidate(
      // The runner's arguments name selected tests, but not those of whole files.
      "if not any('test_parts_add_up' in word for word in sys.argv):",
      `    while not os.path.exists('${gate}'): time.sleep(0.05)`,
      '',
    ).join('\n');
    await write('tests/test_money.py', [
      gated.replace('AllocateTest', 'PartsTest'),
      '',
      before.toString('utf8'),
    ]);
    const running = reproduce();
    const seen = await waitFor('a preliminary verdict', async () => {
      const found = await status();
      return found?.text.includes('running the whole files') ? found.text : undefined;
    });
    assert.match(seen, /1 F→P/);
    // VS Code asks for lenses again a moment after they have changed.
    await waitFor('the same above the test', async () =>
      (await visible.codeLenses()).some((each) => each.text.includes('F→P')),
    );
    let isDone = false;
    void running.then(() => (isDone = true));
    await waitFor('the end of the run', async () => isDone || (await opened()), longWait);
    await waitFor('the grade', async () => (await status())?.text.includes('ΔC'));
    await vscode.workspace.fs.writeFile(uri, before);
  });

  it('ends an endless run inside the containers when it is cancelled, and runs again', async () => {
    await write(
      'tests/test_allocate.py',
      candidate(
        'class EndlessTest(unittest.TestCase):',
        '    def test_endless(self):',
        '        while True: pass',
        '',
      ),
    );
    const running = reproduce();
    await waitFor('the run', async () => (await status())?.text.includes('running'));
    await vscode.commands.executeCommand('testing.cancelRun');
    await running;
    await waitFor('the end of the run', async () => !(await status())?.text.includes('running'));
    await write('tests/test_allocate.py', candidate());
    await reproduce();
    await waitFor('a verdict', async () => /1 F→P · ΔC/.test((await status())?.text ?? ''));
  });

  it('tells once what is wrong with the engine, and what can be done', async () => {
    await settings().update(
      'docker.host',
      'unix:///nowhere/docker.sock',
      vscode.ConfigurationTarget.Global,
    );
    await reproduce();
    const shown = await waitFor('the message', async () =>
      (await visible.notifications()).filter((each) => each.message.includes('/nowhere/')),
    );
    assert.equal(shown.length, 1);
    assert.deepEqual([...(shown[0]?.buttons ?? [])].sort(), [
      'Open Settings',
      'Show Log',
      'Use Local Engine',
    ]);
    assert.deepEqual(await containers(), [], 'the pair of the other engine is gone');
    await vscode.commands.executeCommand('notifications.clearAll');
    await settings().update('docker.host', undefined, vscode.ConfigurationTarget.Global);
  });

  it('uses another engine from the next run on when the setting changes', async () => {
    await settings().update('engine', 'local', vscode.ConfigurationTarget.Global);
    await reproduce();
    const item = await waitFor('a verdict of the local engine', async () => {
      const found = await status();
      return found?.aria.includes('local engine') && found.text.includes('ΔC') ? found : undefined;
    });
    assert.match(item.text, /1 F→P/);
    assert.deepEqual(await containers(), []);
    await settings().update('engine', 'docker', vscode.ConfigurationTarget.Global);
    await reproduce();
    await waitFor('a pair', async () => (await containers()).length === 2);
  });
});
