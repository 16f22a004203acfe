import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { screenshot, visible, waitFor, type StatusBarItem } from './host/client';

/** Milliseconds. */
const longWait = 240_000;

const kubectl = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)('kubectl', args)).stdout;
const status = async (): Promise<StatusBarItem | undefined> =>
  (await visible.statusBar()).find((item) => item.id.endsWith('swt-bench.verdict'));
const runningPods = async (): Promise<string[]> =>
  (
    await kubectl(
      ...['get', 'pods', '-o', 'name', '-l', 'swt-bench.made=1'],
      '--field-selector=status.phase=Running',
    )
  )
    .split('\n')
    .filter((name) => name !== '');

// The window opens while the nodes have no room, which pods of test/cluster have taken.
describe('an instance in pods of a cluster', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.view.testing.focus');
  });

  it('says what its pods wait for, and has them once there is room', async () => {
    const waiting = await waitFor(
      'what the pods wait for',
      async () => {
        const item = await status();
        return item?.aria.includes('no node has 1 GiB') === true ? item : undefined;
      },
      longWait,
    );
    assert.ok(waiting.icons.includes('sync'), waiting.aria);
    const pages = await visible.webviews();
    assert.ok(pages.some((each) => each.includes('What happened')));
    assert.ok(!pages.some((each) => each.includes('Create Environment')), 'its image is one');
    await screenshot('kubernetes-waiting');
    await kubectl('delete', 'pod', 'filler-a', 'filler-b', '--wait=false');
    const item = await waitFor(
      'the engine in the tooltip of the status bar',
      async () => {
        const found = await status();
        return found?.text.includes('no candidate yet') && found.aria.includes('Kubernetes')
          ? found
          : undefined;
      },
      longWait,
    );
    assert.match(item.aria, /CPython 3\.\d+/);
    assert.equal((await runningPods()).length, 2, 'one for each side');
  });

  it('shows a verdict from the warm pair', async () => {
    const before = (await runningPods()).sort();
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const uri = vscode.Uri.joinPath(folder.uri, 'tests/test_allocate.py');
    const lines = [
      ...['import unittest', 'from tallybook import Money', '', ''],
      ...['class AllocateTest(unittest.TestCase):', '    def test_parts_add_up(self):'],
      '        parts = Money(2000).allocate([1, 1, 1])',
      '        self.assertEqual(sum(part.cents for part in parts), 2000)',
    ];
    await vscode.workspace.fs.writeFile(uri, Buffer.from(`${lines.join('\n')}\n`));
    await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('swt-bench.reproduce');
    const item = await waitFor('a verdict', async () => {
      const found = await status();
      return found?.text.includes('ΔC') ? found : undefined;
    });
    assert.match(item.text, /1 F→P · ΔC \d+ %/);
    assert.deepEqual((await runningPods()).sort(), before, 'the same pair');
    await screenshot('kubernetes-verdict');
  });
});
