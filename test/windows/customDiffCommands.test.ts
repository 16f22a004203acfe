import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { answerDialog, hands, inQuickInput, screenshot, visible, waitFor } from './host/client';
import {
  answer,
  cleanWorkspace,
  engine,
  fileUri,
  folder,
  newFile,
  noDiagnostics,
  onDisk,
  open,
  rewriting,
  run,
  setText,
} from './customDiffWorkspace';

describe('the commands about custom diffs in VS Code', () => {
  cleanWorkspace();

  describe('preview', () => {
    it('is a diff of the file and of what it becomes, and follows typing', async () => {
      const editor = await open('preview.swtdiff', rewriting);
      await run('previewCustomDiff');
      const sides = await waitFor('both sides', async () => {
        const all = (await visible.editors()).filter((each) => each.side !== 'single');
        return all.length === 2 ? all : undefined;
      });
      const linesOf = (side: string, mark: string): string[] =>
        sides
          .filter((each) => each.side === side)
          .flatMap((each) => each.lines.filter((line) => line.marks.includes(mark)))
          .map((line) => line.text.trim());
      assert.ok(
        linesOf('original', 'line-delete').some((each) => each.includes('"10.00"')),
        JSON.stringify(sides),
      );
      assert.ok(linesOf('modified', 'line-insert').some((each) => each.includes('"20.00"')));
      const preview = vscode.workspace.textDocuments.find(
        (each) => each.uri.authority === 'preview',
      );
      assert.ok(preview);
      const { files } = await engine(rewriting);
      assert.equal(preview.getText(), files.get('tests/test_money.py'));
      assert.equal(
        await readFile(onDisk('tests/test_money.py'), 'utf8').then((text) =>
          text.includes('20.00'),
        ),
        false,
        'a preview changes nothing',
      );
      const edit = new vscode.WorkspaceEdit();
      edit.replace(editor.document.uri, editor.document.lineAt(5).range, '        parts = []');
      await vscode.workspace.applyEdit(edit);
      await waitFor('the preview of what was typed', () =>
        preview.getText().includes('parts = []'),
      );
    });

    it('shows several files in one editor, new ones too', async () => {
      await open('several.swtdiff', rewriting + newFile);
      await run('previewCustomDiff');
      await waitFor('one tab of several diffs', () =>
        vscode.window.tabGroups.activeTabGroup.activeTab?.label.includes('several.swtdiff'),
      );
      await waitFor('both files', async () => {
        const text = (await visible.texts('.multiDiffEntry')).join('\n');
        return text.includes('test_money.py') && text.includes('test_rounding.py');
      });
    });

    it('refuses what has an error, with its words', async () => {
      await open('refused.swtdiff', rewriting.replace('rewrite', 'replace'));
      await run('previewCustomDiff');
      const [shown] = await waitFor('a message', async () =>
        (await visible.notifications()).filter((each) => each.message.includes('Unknown keyword')),
      );
      assert.match(shown?.message ?? '', /refused\.swtdiff, line 3: Unknown keyword "replace"/);
    });
  });

  describe('apply', () => {
    it('changes files and makes new ones, and one Undo takes all of it back', async () => {
      const { files } = await engine(rewriting + newFile);
      const before = await readFile(onDisk('tests/test_money.py'), 'utf8');
      await open('apply.swtdiff', rewriting + newFile);
      await run('applyCustomDiff');
      const document = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
      assert.equal(document.getText(), files.get('tests/test_money.py'));
      assert.equal(
        await readFile(onDisk('tests/test_rounding.py'), 'utf8'),
        files.get('tests/test_rounding.py'),
      );
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('undo');
      await waitFor('the old text', () => document.getText() === before);
      await waitFor('the new file gone', () =>
        stat(onDisk('tests/test_rounding.py')).then(
          () => false,
          () => true,
        ),
      );
    });

    it('asks before it makes a file whose path looks like a slip', async () => {
      const path = onDisk('tests/test_mony.py');
      await open('slip.swtdiff', newFile.replace('tests/test_rounding.py', 'tests/test_mony.py'));
      for (const reply of ['Cancel', 'Create']) {
        const applying = run('applyCustomDiff');
        await answerDialog(reply, 'creates tests/test_mony.py', 'create-file-dialog');
        await applying;
        const isMade = await stat(path).then(
          () => true,
          () => false,
        );
        assert.equal(isMade, reply === 'Create');
      }
      await rm(path);
    });

    it('puts a custom diff over edits that are not saved', async () => {
      const python = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
      const editor = await vscode.window.showTextDocument(python, { preview: false });
      await hands.edit(editor, (edit) => edit.insert(new vscode.Position(0, 0), '# typed\n\n'));
      await open('over.swtdiff', rewriting);
      await run('applyCustomDiff');
      await waitFor('both', () => /^# typed[\s\S]*"20\.00"/.test(python.getText()));
    });

    it('changes nothing when any block has an error', async () => {
      await open('nothing.swtdiff', newFile + rewriting.replace('test_money', 'test_mony'));
      await run('applyCustomDiff');
      await waitFor('a message', async () =>
        (await visible.notifications()).find((each) => each.message.includes('test_mony.py')),
      );
      await assert.rejects(stat(onDisk('tests/test_rounding.py')));
    });
  });

  it('converts to a unified diff that git apply accepts', async () => {
    await open('convert.swtdiff', rewriting + newFile);
    await run('convertCustomDiff');
    const document = await waitFor('the unified diff', () => {
      const shown = vscode.window.activeTextEditor?.document;
      return shown?.languageId === 'diff' ? shown : undefined;
    });
    const patch = onDisk('../converted.diff');
    await writeFile(patch, document.getText());
    execFileSync('git', ['apply', '--check', patch], { cwd: folder().uri.fsPath });
    assert.match(document.getText(), /^\+\s+parts = Money\.parse\("20\.00"\)/m);
  });

  it('copies the edits in R, saved or not, as a custom diff that makes the same', async () => {
    const { files } = await engine(rewriting + newFile);
    await open('tests/test_rounding.py', files.get('tests/test_rounding.py') ?? '');
    const python = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
    const editor = await vscode.window.showTextDocument(python, { preview: false });
    await setText(editor, files.get('tests/test_money.py') ?? '');
    await vscode.env.clipboard.writeText('nothing yet');
    await run('copyChangesAsCustomDiff');
    const text = await waitFor('a custom diff', async () => {
      const copied = await vscode.env.clipboard.readText();
      return copied.startsWith('diff\n') ? copied : undefined;
    });
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await rm(onDisk('tests/test_rounding.py'));
    const again = await engine(text);
    assert.deepEqual(
      again.diagnostics.filter((each) => each.severity === 'error'),
      [],
    );
    assert.deepEqual(new Map(again.files), new Map(files));
  });

  describe('in Markdown', () => {
    it('previews and applies the fence that the cursor is in', async () => {
      const editor = await open('chosen.md', answer);
      const line = answer.split('\n').lastIndexOf('rewrite');
      editor.selection = new vscode.Selection(line, 0, line, 0);
      await run('applyCustomDiff');
      const document = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
      await waitFor('the change', () => document.getText().includes('"20.00"'));
    });

    it('offers its commands where there is a fence, and nowhere else', async () => {
      const buttons = async (): Promise<string[]> =>
        visible.texts('.editor-actions .action-label[aria-label*="Custom Diff"]');
      await open('fence.md', answer);
      await waitFor('buttons', buttons);
      await open('none.md', '# Nothing\n');
      await waitFor('no buttons', async () => (await buttons()).length === 0);
    });
  });

  it('has a sample on the bundled instance, which previews', async () => {
    const asked = run('applyBundledCandidate');
    await inQuickInput.choose('Open Sample Custom Diff', 'Apply Bundled Candidate');
    await asked;
    const document = vscode.window.activeTextEditor?.document;
    assert.equal(document?.languageId, 'swt-custom-diff');
    await noDiagnostics(document.uri);
    await run('previewCustomDiff');
    await waitFor('its preview', () =>
      vscode.workspace.textDocuments.some((each) => each.uri.authority === 'preview'),
    );
    await screenshot('custom-diff-sample');
  });
});
