import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { hands, visible, waitFor } from './host/client';
import {
  answer,
  betterTest,
  block,
  cleanWorkspace,
  diagnosticsOf,
  engine,
  fileUri,
  newFile,
  noDiagnostics,
  open,
  ours,
  rewriting,
} from './customDiffWorkspace';

/** Asserts the scopes of a text's `nth` occurrence, as VS Code's own inspector shows them. */
async function assertScope(
  editor: vscode.TextEditor,
  text: string,
  scope: RegExp,
  nth = 1,
): Promise<void> {
  const whole = editor.document.getText();
  let at = -1;
  for (let i = 0; i < nth; i += 1) at = whole.indexOf(text, at + 1);
  const place = editor.document.positionAt(at);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(editor.selection);
  try {
    await waitFor(`${scope.source} at "${text}"`, async () => {
      const shown = await visible.texts('.token-inspect-widget');
      if (shown.length === 0) await vscode.commands.executeCommand(inspector);
      // Outermost last.
      return (
        scope.test(shown.join(' ').replace(/\s+/g, ' ')) || Promise.reject(new Error(shown[0]))
      );
    });
  } finally {
    await hands.press('Escape');
  }
}
const inspector = 'editor.action.inspectTMScopes';

describe('the language of custom diffs in VS Code', () => {
  cleanWorkspace();

  it('colours blocks, and the code in them as Python, up to their last line', async () => {
    const open1 = block('tests/a.py', 'rewrite', 3, 'def f():', '    """never closed');
    const editor = await open('scopes.swtdiff', `${open1}${rewriting}`);
    assert.equal(editor.document.languageId, 'swt-custom-diff');
    await assertScope(editor, 'diff', /keyword\.control\.begin/);
    await assertScope(editor, 'tests/a.py', /entity\.name\.filename/);
    await assertScope(editor, 'rewrite', /keyword\.other\.action/);
    await assertScope(editor, '3', /constant\.numeric/);
    await assertScope(editor, 'def', /language python .*storage\.type\.function\.python/);
    await assertScope(editor, 'never closed', /string\.quoted\.docstring/);
    await assertScope(editor, 'end diff', /keyword\.control\.end/);
    await assertScope(editor, 'tests/test_money.py', /entity\.name\.filename/);
  });

  it('colours fences of Markdown, and nothing behind them', async () => {
    const text = `# A candidate\n\n\`\`\`custom-diff\n${rewriting}\`\`\`\n\n*over*\n`;
    const editor = await open('answer.md', text);
    await assertScope(editor, 'rewrite', /language swt-custom-diff .*keyword\.other\.action/);
    await assertScope(editor, 'def', /language python .*meta\.embedded\.block\.swt-custom-diff/);
    await assertScope(editor, 'over', /language markdown .*markup\.italic/);
  });

  it("reports what the engine reports, in the engine's words", async () => {
    const text =
      block('tests/test_mony.py', 'insert', 1, 'x = 1') +
      block('tests/test_money.py', 'replace', 54, ...betterTest) +
      block(
        'tests/test_money.py',
        'rewrite',
        54,
        '    def test_misssing_cent(self):',
        '        pass',
      );
    const { document } = await open('wrong.swtdiff', text);
    const { diagnostics } = await engine(text);
    assert.ok(diagnostics.length >= 2, JSON.stringify(diagnostics));
    const shown = await waitFor('diagnostics', () => ours(document.uri));
    for (const { line, message, code } of diagnostics) {
      const same = shown.find((each) => each.message.startsWith(message));
      assert.ok(same, `${message}: not among ${shown.map((each) => each.message).join(' | ')}`);
      assert.equal(same.range.start.line, line - 1);
      if (code !== undefined) assert.equal(same.code, code);
    }
  });

  it('mends with a quick fix what has one', async () => {
    const { document } = await open('unended.swtdiff', rewriting.replace('end diff\n', ''));
    const [missing] = await diagnosticsOf(document.uri, 1);
    assert.match(missing?.message ?? '', /end diff/);
    assert.equal(missing?.code, 'missing-end');
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      missing?.range,
      vscode.CodeActionKind.QuickFix.value,
    );
    const fix = actions.find((each) => each.edit !== undefined);
    assert.ok(fix?.edit, JSON.stringify(actions));
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    await noDiagnostics(document.uri);
    assert.equal(document.getText().trimEnd(), rewriting.trimEnd());
  });

  it('mends an unknown keyword by the hand of a person: light bulb, Enter', async () => {
    const editor = await open('keyword.swtdiff', rewriting.replace('rewrite', 'replace'));
    const shown = await diagnosticsOf(editor.document.uri, 1);
    assert.match(shown[0]?.message ?? '', /Unknown keyword "replace"/);
    editor.selection = new vscode.Selection(2, 2, 2, 2);
    await waitFor('the fix', async () => {
      await vscode.commands.executeCommand('editor.action.quickFix');
      const texts = await visible.texts('.action-widget .monaco-list-row');
      return texts.some((each) => each.includes('rewrite'));
    });
    await hands.press('Enter');
    await noDiagnostics(editor.document.uri);
    assert.equal(editor.document.getText(), rewriting);
  });

  it('completes keywords, paths and the names of the named file', async () => {
    const head = 'diff\ntests/test_m\nr\n54\n    def test_\nend diff\n';
    const { document } = await open('completion.swtdiff', head);
    const at = async (line: number): Promise<string[]> => {
      const end = document.lineAt(line).range.end;
      const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        document.uri,
        end,
      );
      return items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    await waitFor('paths', async () => (await at(1)).includes('tests/test_money.py'));
    assert.ok((await at(2)).includes('rewrite'), (await at(2)).join());
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor);
    await hands.edit(editor, (edit) =>
      edit.replace(document.lineAt(1).range, 'tests/test_money.py'),
    );
    const names = await waitFor('names', async () => {
      const found = await at(4);
      return found.some((each) => each.includes('test_equal_parts')) ? found : undefined;
    });
    assert.ok(!names.some((each) => each.includes('test_settling')), names.join());
  });

  it('shows on hover what will be replaced, and goes there', async () => {
    const { document } = await open('hover.swtdiff', rewriting);
    const name = new vscode.Position(4, 12);
    const text = await waitFor('a hover', async () => {
      const found = await vscode.commands.executeCommand<vscode.Hover[]>(
        'vscode.executeHoverProvider',
        document.uri,
        name,
      );
      const all = found.flatMap((each) =>
        each.contents.map((part) => (part as vscode.MarkdownString).value),
      );
      return all.find((each) => each.includes('def test_missing_cent'));
    });
    assert.match(text, /```python[\s\S]*parse\("10\.00"\)\.allocate\(\[1, 1, 1\]\)[\s\S]*```/);
    const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
      'vscode.executeDefinitionProvider',
      document.uri,
      name,
    );
    const [target] = found.map((each) =>
      'uri' in each
        ? { uri: each.uri, range: each.range }
        : { uri: each.targetUri, range: each.targetSelectionRange ?? each.targetRange },
    );
    assert.equal(target?.uri.toString(), fileUri('tests/test_money.py').toString());
    assert.equal(target?.range.start.line, 53);
  });

  it('outlines, folds and formats blocks', async () => {
    const { document } = await open('outline.swtdiff', `${rewriting}\n\n\n\n${newFile}`);
    const symbols = await waitFor('symbols', async () =>
      vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
        'vscode.executeDocumentSymbolProvider',
        document.uri,
      ),
    );
    const names = JSON.stringify(
      symbols.map(({ name, detail, children }) => [
        name,
        detail,
        children.map((each) => each.name),
      ]),
    );
    assert.match(names, /test_money\.py/);
    assert.match(names, /test_missing_cent_goes_to_the_first/);
    const ranges = await vscode.commands.executeCommand<vscode.FoldingRange[]>(
      'vscode.executeFoldingRangeProvider',
      document.uri,
    );
    assert.ok(
      ranges.some(({ start }) => start === 0),
      JSON.stringify(ranges),
    );
    const edits = await vscode.commands.executeCommand<vscode.TextEdit[] | undefined>(
      'vscode.executeFormatDocumentProvider',
      document.uri,
      { tabSize: 4, insertSpaces: true },
    );
    const edit = new vscode.WorkspaceEdit();
    edit.set(document.uri, edits ?? []);
    await vscode.workspace.applyEdit(edit);
    const { patch } = await engine(document.getText());
    assert.equal(patch, (await engine(rewriting + newFile)).patch, 'formatting changes no meaning');
  });

  it('knows Python that is typed and not saved', async () => {
    const python = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
    const editor = await vscode.window.showTextDocument(python, { preview: false });
    const custom = await open(
      'unsaved.swtdiff',
      block('tests/test_money.py', 'rewrite', 54, '    def test_typed(self):', '        pass'),
    );
    await waitFor('an error', () =>
      ours(custom.document.uri).some((each) => each.message.includes('test_typed')),
    );
    const visibleEditor = await vscode.window.showTextDocument(editor.document);
    await hands.edit(visibleEditor, (edit) =>
      edit.insert(new vscode.Position(53, 0), '    def test_typed(self):\n        return\n\n'),
    );
    await noDiagnostics(custom.document.uri);
  });

  it('is no formatter of Markdown', async () => {
    const { document } = await open('plain.md', `* a\n\n\`\`\`custom-diff\n${rewriting}\`\`\`\n`);
    await waitFor(
      'the language server',
      async () =>
        (
          await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
            'vscode.executeDocumentSymbolProvider',
            document.uri,
          )
        ).length > 0,
    );
    const edits = await vscode.commands.executeCommand<vscode.TextEdit[] | undefined>(
      'vscode.executeFormatDocumentProvider',
      document.uri,
      { tabSize: 4, insertSpaces: true },
    );
    assert.equal(edits?.length ?? 0, 0);
  });

  it('reports in the lines of the document, in fences alone', async () => {
    const { document } = await open('attempts.md', answer);
    const [shown] = await diagnosticsOf(document.uri, 1);
    assert.equal(shown?.range.start.line, 5);
    assert.match(shown?.message ?? '', /Unknown keyword "replace"/);
  });
});
