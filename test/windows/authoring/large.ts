import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { answerDialog, screenshot, visible, waitFor } from '../host/client';

const run = (command: string): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`);
/** The duration of each drawing, in milliseconds. */
const drawings = (): number[] =>
  performance.getEntriesByName('swt-bench.changeCoverageMarks').map(({ duration }) => duration);

/** Visible icons of newly covered lines, by side of the diff. */
async function icons(): Promise<Record<string, number>> {
  const found = (await visible.gutterIcons()).filter(({ icon }) => icon.includes('newly-covered'));
  const of = (side: string): number => found.filter((each) => each.side === side).length;
  return { original: of('original'), modified: of('modified') };
}

describe('a change of 2,000 lines', () => {
  it('shows its states on both sides of the golden diff', async () => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const test = [
      'import unittest',
      'from tallybook.large import total',
      '',
      'class LargeTest(unittest.TestCase):',
      '    def test_large(self):',
      '        self.assertEqual(total(), 2000)',
      '',
    ].join('\n');
    const uri = vscode.Uri.joinPath(folder.uri, 'tests/test_of_mine.py');
    await vscode.workspace.fs.writeFile(uri, Buffer.from(test));
    await run('reproduce');
    await waitFor('the verdict', async () =>
      (await visible.statusBar()).some(({ text }) => /1 F→P · ΔC 100 % 2000\/2000/.test(text)),
    );
    const asked = run('reveal');
    await answerDialog('Show Fix');
    await asked;
    await vscode.commands.executeCommand('workbench.action.closeSidebar');
    performance.clearMeasures();
    const start = performance.now();
    await run('showChangeCoverage');
    const shown = await waitFor('states on both sides', async () => {
      const found = await icons();
      return found['original'] && found['modified'] ? found : undefined;
    });
    const seen = performance.now() - start;
    const drawing = drawings();
    assert.ok(drawing.length > 0);
    assert.ok((shown['original'] ?? 0) >= 10 && (shown['modified'] ?? 0) >= 10);
    await screenshot('large-change');
    const milliseconds = drawing.map((each) => each.toFixed(1)).join(' + ');
    console.log(
      `    2,000 lines: marks handed to VS Code in ${milliseconds} ms; seen ${seen.toFixed(0)} ms after the command`,
    );
  });
});
