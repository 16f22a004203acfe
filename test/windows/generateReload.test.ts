// VS Code restarts the suite in the window that it reloads. The first time, a model writes a test,
// its grade is requested, and the window is reloaded. The second time, the window must show all of
// it again.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { screenshot, visible, waitFor, type Row } from './host/client';
import { scriptedModel, scriptedModels } from './scriptedModels';

const scratch = process.env['SWT_BENCH_SCRATCH'] ?? '';
const notes = join(scratch, 'before-the-reload-of-models.json');
const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';

/** The patch of a bundled candidate. */
function bundled(name: string): string {
  const rows = readFileSync(join(sample, 'predictions.jsonl'), 'utf8').trim().split('\n');
  const row = rows
    .map((line) => JSON.parse(line) as { model_name_or_path: string; model_patch: string })
    .find((each) => each.model_name_or_path === name);
  assert.ok(row);
  return row.model_patch;
}

const rows = (): Promise<Row[]> => visible.treeRows('Generated');
const told = (all: readonly Row[]): string[] =>
  all
    .filter(({ level }) => level <= 2)
    .map(({ label, description, icons }) => `${label} | ${description} | ${icons.join()}`);
const row = (what: string, is: (row: Row) => boolean): Promise<Row> =>
  waitFor(what, async () => (await rows()).find(is));
const show = async (): Promise<void> => {
  await vscode.commands.executeCommand('swt-bench.generated.focus');
};
const previewed = (): Promise<vscode.TextDocument> =>
  waitFor('the preview', () =>
    vscode.workspace.textDocuments.find(
      ({ uri }) => uri.authority === 'candidate' && uri.query.startsWith('after'),
    ),
  );

describe('a reload of the window', () => {
  it('keeps what a model has written, from its trace', async () => {
    const models = await scriptedModels();
    if (!existsSync(notes)) {
      await scriptedModel();
      models.script(`A test:\n\n\`\`\`diff\n${bundled('covers-some')}\`\`\`\n`);
      await vscode.commands.executeCommand('swt-bench.generate', {
        method: 'zero-shot',
        model: 'vscode/swt-test/scripted',
      });
      await show();
      await row('the candidate', ({ description }) => /^selected · W · fails/.test(description));
      await vscode.commands.executeCommand('swt-bench.evaluateCandidate');
      await row('the verdict', ({ label }) => label === 'Verdict');
      await vscode.commands.executeCommand('swt-bench.previewGenerated');
      const document = await previewed();
      const before = { rows: told(await rows()), preview: document.getText() };
      writeFileSync(notes, JSON.stringify(before));
      // This extension host ends before it gets the answer. Errors of other extensions in it about
      // closed channels do not matter here.
      process.removeAllListeners('uncaughtException');
      process.on('uncaughtException', () => undefined);
      vscode.commands
        .executeCommand('workbench.action.reloadWindow')
        .then(undefined, () => undefined);
      await new Promise(() => undefined);
    }
    const before = JSON.parse(readFileSync(notes, 'utf8')) as { rows: string[]; preview: string };
    await show();
    await waitFor('the same rows', async () => {
      assert.deepEqual(told(await rows()), before.rows);
      return true;
    });
    await screenshot('generate-after-reload');
    assert.ok(
      (await rows()).every(({ label }) => label !== 'Verdict'),
      'what is for the developer is asked for in each window',
    );
    // The grade is known nevertheless: nothing runs for it.
    await vscode.commands.executeCommand('swt-bench.evaluateCandidate');
    await row('the verdict', ({ label }) => label === 'Verdict');
    models.always({ error: { message: 'nothing is to be asked' } });
    await vscode.commands.executeCommand('swt-bench.previewGenerated');
    assert.equal((await previewed()).getText(), before.preview);
    await vscode.commands.executeCommand('swt-bench.showPromptAndAnswer');
    await waitFor('what the model was asked and said', () =>
      /<issue>[^]*A test:/.test(vscode.window.activeTextEditor?.document.getText() ?? ''),
    );
    assert.equal(models.requests.length, 0);
  });
});
