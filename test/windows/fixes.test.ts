import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { hands, screenshot, visible, waitFor, type Row } from './host/client';
import { scriptedModel, scriptedModels, type ScriptedModels } from './scriptedModels';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';
const { patch: goldenPatch } = JSON.parse(readFileSync(join(sample, 'instance.jsonl'), 'utf8')) as {
  readonly patch: string;
};
const inDiff = (patch: string): string => `A fix.\n\n\`\`\`diff\n${patch}\`\`\`\n`;
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);
const propose = (): Thenable<unknown> =>
  run('proposeFixes', { method: 'rag', model: 'vscode/swt-test/scripted' });
const row = (what: string, is: (row: Row) => boolean): Promise<Row> =>
  waitFor(what, async () => (await visible.treeRows('Fixes')).find(is));
const root = (): string => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  assert.ok(folder);
  return folder;
};

describe('Propose Fixes', () => {
  let models: ScriptedModels;

  before(async () => {
    models = await scriptedModels();
    await scriptedModel();
    await run('applyBundledCandidate', 'covers-some');
    // Makes room, so that all fixes are visible.
    await run('instances.focus');
    await hands.click({ selector: '.pane-header', text: 'Instances' });
  });

  it('offers the methods, and shows the fix that the model proposes, as a diff', async () => {
    models.script(inDiff(goldenPatch));
    await propose();
    await run('fixes.focus');
    await row('the run', ({ label, description }) => label === 'RAG' && /1 fix$/.test(description));
    const [asked] = models.requests;
    assert.ok(asked);
    assert.ok(asked.text.includes('tallybook/money.py'));
    assert.match(goldenPatch, /by_loss/);
    assert.doesNotMatch(asked.text, /by_loss|tallybook-217/, 'nothing of X*');
    await run('previewFix');
    await waitFor('the diff', async () =>
      (await visible.tabs()).some(({ label }) => /Fix 1 of RAG on R/.test(label)),
    );
    await screenshot('fixes-preview');
  });

  it('runs the tests of the author on R with the fix', async () => {
    await run('runTestsOnFix');
    const fix = await row('the result', ({ label, description }) =>
      [label === 'Fix 1', /of your tests pass/.test(description)].every(Boolean),
    );
    const [, passing, all] = /^(\d+) of (\d+) of your tests pass/.exec(fix.description) ?? [];
    assert.ok(Number(all) > 0 && passing === all, fix.description);
    await row('a test', ({ description }) => description === 'with the fix: passes; on R: fails');
    await screenshot('fixes-tests');
  });

  it('forgets results once the tests change', async () => {
    const path = join(root(), 'tests', 'test_more.py');
    await writeFile(path, 'import unittest\n');
    const document = await vscode.workspace.openTextDocument(path);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), '\nX = 1\n'));
    await document.save();
    await row('the fix without a result', ({ label, description }) =>
      [label === 'Fix 1', !description.includes('your tests')].every(Boolean),
    );
  });
});
