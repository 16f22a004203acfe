import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import {
  answerDialog,
  closeAllEditors,
  closeOtherWindows,
  hands,
  inQuickInput,
  screenshot,
  unfoldedTests,
  visible,
  waitFor,
} from '../host/client';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';
const scratch = process.env['SWT_BENCH_SCRATCH'] ?? '';
const id = 'tallybook__tallybook-217';
const item = '.part.statusbar .statusbar-item[id$="swt-bench.verdict"] a';
const unsaid = /not a reproduction|Not a reproduction|no success/;

const folder = (): vscode.Uri => {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found);
  return found.uri;
};
const statusText = async (): Promise<string> =>
  (await visible.statusBar()).find((each) => each.id.endsWith('swt-bench.verdict'))?.text ?? '';

async function evaluate(name: string, wanted: RegExp): Promise<void> {
  await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', name);
  await vscode.commands.executeCommand('swt-bench.reproduce');
  await waitFor(`a verdict on ${name}`, async () => {
    const text = await statusText();
    return wanted.test(text) && !text.includes('out of date');
  });
}

/** The editor of the test that the candidate `covers-some` adds, and its 0-based line. */
async function testOfCandidate(): Promise<{
  document: vscode.TextDocument;
  editor: vscode.TextEditor;
  line: number;
}> {
  const uri = vscode.Uri.joinPath(folder(), 'tests/test_money.py');
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const line = document
    .getText()
    .split('\n')
    .findIndex((each) => each.includes('test_parts_add_up'));
  return { document, editor, line };
}

/** A new folder outside the workspace. */
async function freshFolder(name: string): Promise<vscode.Uri> {
  const path = join(scratch, `exports-${name}`);
  await mkdir(path);
  return vscode.Uri.file(path);
}

const exportTo = (uri: vscode.Uri): Thenable<unknown> =>
  vscode.commands.executeCommand('swt-bench.exportReproduction', uri);

/** The grade of an exported prediction from the command line. */
async function graded(prediction: string): Promise<{ success: boolean; reason: string }> {
  const extension = vscode.extensions.getExtension('swt-bench.swt-bench');
  assert.ok(extension);
  const { stdout } = await promisify(execFile)(
    'node',
    [
      join(extension.extensionPath, 'dist', 'cli.js'),
      ...['evaluate', '--dataset', join(sample, 'instance.jsonl')],
      ...['--source', join(sample, 'repository'), '--predictions', prediction],
      ...['--storage', join(scratch, 'storage-exports'), '--out', join(scratch, 'out'), '--json'],
    ],
    { maxBuffer: 1 << 26 },
  ).catch((error: unknown) => {
    // Exit status 1: the answer is negative.
    if (typeof error === 'object' && error !== null && 'stdout' in error) {
      return { stdout: String(error.stdout) };
    }
    throw error;
  });
  const found = /"strict":\s*\{[^{}]*?"success":\s*(true|false),\s*"reason":\s*"([^"]*)"/.exec(
    stdout,
  );
  assert.ok(found, stdout);
  return { success: found[1] === 'true', reason: found[2] ?? '' };
}

describe('the verdict and what becomes of it', () => {
  before(async () => {
    await closeAllEditors();
    await vscode.commands.executeCommand('swt-bench.hideGoldenPatch');
    await hands.resize(1500, 1000);
  });

  it('explains a success in the hover of the status bar', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);
    await hands.hover({ selector: item });
    const text = await waitFor('the hover', async () =>
      (await visible.hovers()).find((each) => each.includes('reproduces the issue;')),
    );
    for (const part of [
      /✓ 1 test reproduces the issue; none fail with the fix/,
      /Harness grading agrees: resolved/,
      /Patch applies cleanly \(W\)/,
      /Your tests: 1 F→P\./,
      /ΔC 71 % \(12\/17\); golden tests \d+ % \(\d+\/17\)/,
      /Ran for \d+\.\d s at /,
    ]) {
      assert.match(text, part);
    }
    await screenshot('verdict-hover');
    const said = (await visible.statusBar()).find((each) => each.id.endsWith('swt-bench.verdict'));
    assert.match(said?.aria ?? '', /ΔC 71 % \(12\/17\); golden tests/, 'it is read out too');
  });

  it('has no candidate after git stash, and the verdict again once that is undone', async () => {
    const git = (...command: string[]) =>
      promisify(execFile)('git', ['-C', folder().fsPath, ...command]);
    await git('stash', '--include-untracked', '--quiet');
    await waitFor('no candidate', async () => (await statusText()).includes('no candidate yet'));
    await vscode.commands.executeCommand('swt-bench.instance.focus');
    await waitFor('the row', async () =>
      (await visible.treeRows('Current Instance')).some(({ description }) =>
        description.includes('none yet: add a test'),
      ),
    );
    await git('stash', 'pop', '--quiet');
    await waitFor('the verdict', async () => (await statusText()).includes('1 F→P · ΔC 71 %'));
  });

  it('says what is missing where there is no success', async () => {
    await evaluate('passes-on-both', /passes on R/);
    await hands.press('Escape');
    await hands.hover({ selector: '.part.statusbar' });
    await hands.hover({ selector: item });
    const text = await waitFor('the hover', async () =>
      (await visible.hovers()).find((each) => each.includes('Not a reproduction')),
    );
    assert.match(text, /Still needed: a test that fails on R/);
  });

  it('says what looks wrong about a success, with its evidence, in status bar, hover and document', async () => {
    const file = join(folder().fsPath, 'tests/test_reads.py');
    try {
      await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'passes-on-both');
      await writeFile(
        file,
        [
          'import unittest',
          'class ReadsTest(unittest.TestCase):',
          '    def test_reads(self):',
          '        self.assertIn("by_loss", open("tallybook/money.py").read())  # $(pass)',
          '',
        ].join('\n'),
      );
      await vscode.commands.executeCommand('swt-bench.reproduce');
      await waitFor('a verdict with findings', async () => {
        const text = await statusText();
        return /1 F→P · ΔC .* · ⚠ 2 findings/.test(text) && !text.includes('out of date');
      });
      await hands.press('Escape');
      await hands.hover({ selector: '.part.statusbar' });
      await hands.hover({ selector: item });
      const evidence =
        'tests/test_reads.py:4 opens tallybook/money.py (tests/test_reads.py::ReadsTest::test_reads): self.assertIn("by_loss", open("tallybook/money.py").read()) # $(pass)';
      const hover = await waitFor('the hover', async () =>
        (await visible.hovers()).find((each) => each.includes('Finding')),
      );
      assert.match(hover, /⚠ Finding: No F→P test executed a changed line\./);
      assert.match(hover, /The only F→P test executed none of the \d+ executable changed lines/);
      assert.match(hover, /⚠ Finding: The tests inspect source files, the repository/);
      assert.ok(hover.replaceAll(/\s+/g, ' ').includes(evidence), hover);
      await screenshot('findings-hover');
      const said = (await visible.statusBar()).find((each) =>
        each.id.endsWith('swt-bench.verdict'),
      );
      assert.ok(said?.aria.replaceAll(/\s+/g, ' ').includes(evidence), said?.aria);
      await vscode.commands.executeCommand('swt-bench.instance.focus');
      await waitFor('the row', async () =>
        (await visible.treeRows('Current Instance')).some(({ description }) =>
          description.includes('⚠ 2 findings · reproduces the issue (F→P)'),
        ),
      );
      await hands.click({ selector: item });
      const list = await waitFor('the list', async () => {
        const shown = await visible.quickInput();
        return shown?.title.startsWith('Verdict') === true ? shown : undefined;
      });
      assert.ok(list.items.some(({ label }) => label.includes('Finding: No F→P test')));
      await inQuickInput.choose('Finding: No F→P test');
      const document = await waitFor('the document', async () =>
        vscode.workspace.textDocuments.find(({ uri }) => uri.path.includes('Verdict on')),
      );
      assert.match(
        document.getText(),
        /## Findings\n[^#]*- ⚠ No F→P test executed a changed line\./,
      );
      await screenshot('findings-document');
      await closeAllEditors();
    } finally {
      await rm(file);
    }
  });

  it('names tests of R that the candidate removes, and files that it changes outside tests', async () => {
    const path = join(folder().fsPath, 'tests/test_money.py');
    const stray = join(folder().fsPath, 'NOTES.txt');
    try {
      await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
      const text = await readFile(path, 'utf8');
      const [from, to] = ['    def test_equal_parts', '    def test_missing_cent'].map((each) =>
        text.indexOf(each),
      );
      await writeFile(path, text.slice(0, from) + text.slice(to));
      await writeFile(stray, 'a note\n');
      const { editor } = await testOfCandidate();
      editor.revealRange(new vscode.Range(0, 0, 0, 0));
      await vscode.commands.executeCommand('swt-bench.reproduce');
      await waitFor('a verdict with findings', async () => {
        const shown = await statusText();
        return /1 F→P · ΔC 6 % 1\/17 · ⚠ 2 findings/.test(shown) && !shown.includes('out of date');
      });
      await waitFor('the lens above the file', async () =>
        (await visible.codeLenses()).some(({ text: lens }) =>
          lens.includes('Last run: tests of R removed or disabled'),
        ),
      );
      await hands.press('Escape');
      await hands.hover({ selector: '.part.statusbar' });
      await hands.hover({ selector: item });
      const hover = await waitFor('the hover', async () =>
        (await visible.hovers()).find((each) => each.includes('Finding')),
      );
      assert.match(hover, /The candidate removes or disables existing tests\./);
      assert.match(
        hover,
        /removed from tests\/test_money\.py: AllocateTest::test_equal_parts, AllocateTest::test_in_proportion/,
      );
      assert.match(hover, /ΔC no longer counts 11 lines that these tests executed/);
      assert.match(hover, /The candidate changes files that are not tests\.\s+NOTES\.txt/);
      await screenshot('findings-removed-tests');
      await writeFile(path, text);
      await vscode.commands.executeCommand('swt-bench.reproduce');
      await waitFor('the one finding by its name', async () => {
        const shown = await statusText();
        return (
          /ΔC 71 % 12\/17 · ⚠ edits outside tests/.test(shown) && !shown.includes('out of date')
        );
      });
      await waitFor('no lens above the file', async () =>
        (await visible.codeLenses()).every(({ text: lens }) => !lens.includes('removed')),
      );
      await screenshot('finding-in-status-bar');
    } finally {
      await rm(stray, { force: true });
    }
  });

  it('shows a syntax error once, at its line', async () => {
    const path = join(folder().fsPath, 'tests/test_money.py');
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
    const text = await readFile(path, 'utf8');
    const broken = text.replace('amount = Money.parse("20.00")', 'amount = Money.parse("20.00"');
    await writeFile(path, broken);
    const { editor, line } = await testOfCandidate();
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
    await vscode.commands.executeCommand('swt-bench.reproduce');
    await waitFor('the reason', async () => {
      const shown = await statusText();
      return shown.includes('syntax error') && !shown.includes('out of date');
    });
    await waitFor('the text at the new test', async () =>
      (await visible.decorationsAfter()).some((each) =>
        each.text.includes('did not run: syntax error at line 65'),
      ),
    );
    await screenshot('syntax-error');
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
  });

  it('knows the tests of a file that is renamed', async () => {
    const [from, to] = ['tests/test_money.py', 'tests/test_cash.py'].map((path) =>
      join(folder().fsPath, path),
    );
    assert.ok(from !== undefined && to !== undefined);
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
    await closeAllEditors();
    await rename(from, to);
    try {
      await vscode.commands.executeCommand('swt-bench.reproduce');
      await waitFor('a verdict without findings', async () =>
        /1 F→P · ΔC 71 % 12\/17$/.test(await statusText()),
      );
      await vscode.commands.executeCommand('workbench.view.extension.test');
      const rows = await waitFor('the rows', async () => {
        const all = await unfoldedTests();
        return all.some(({ label }) => label === 'tests/test_cash.py') ? all : undefined;
      });
      assert.deepEqual(
        rows.filter(({ label }) => label.includes('new · ')).map(({ label }) => label),
        ['F→P  new · test_parts_add_up_to_the_amount'],
      );
      assert.match(rows[0]?.aria ?? '', /^tests\/test_cash\.py \(Passed\)/);
      await screenshot('renamed-file');
    } finally {
      await rename(to, from);
    }
  });

  it('opens on a click what may be done next, exporting first after a success', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);
    await hands.click({ selector: item });
    const list = await waitFor('the list', async () => {
      const shown = await visible.quickInput();
      return shown?.title.startsWith('Verdict') === true ? shown : undefined;
    });
    assert.match(list.items[0]?.label ?? '', /Export Reproduction/);
    await screenshot('verdict-next-steps');
    await inQuickInput.cancel();
  });

  it('exports what the command line grades as the same success', async () => {
    const parent = await freshFolder('success');
    await exportTo(parent);
    const [written] = await readdir(parent.fsPath);
    assert.equal(written, `${id}-reference-reproduction`);
    const place = join(parent.fsPath, written);
    assert.deepEqual((await readdir(place)).sort(), [
      'reference-reproduction.jsonl',
      'reference-reproduction.md',
      'reference-reproduction.patch',
    ]);
    const note = await readFile(join(place, 'reference-reproduction.md'), 'utf8');
    assert.match(note, /\| ΔC \| 71 % \(12\/17\) \|/);
    assert.doesNotMatch(
      note,
      /left_over|by_loss|test_any_amount_balances/,
      'nothing is given away',
    );
    assert.deepEqual(await graded(join(place, 'reference-reproduction.jsonl')), {
      success: true,
      reason: 'success',
    });
    const told = await waitFor('what was written', async () =>
      (await visible.notifications()).find((each) => each.message.includes('Exported')),
    );
    assert.deepEqual(told.buttons.slice(0, 1), ['Open Summary']);
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('is out of date when files change outside of an editor, in the view too', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);
    await closeAllEditors();
    await vscode.commands.executeCommand('swt-bench.instance.focus');
    const descriptions = async (): Promise<string> =>
      (await visible.treeRows('Current Instance')).map((row) => row.description).join('\n');
    const fresh = /reproduces the issue \(F→P\)[^]*ΔC 71 %/;
    await waitFor('rows of the verdict', async () => fresh.test(await descriptions()));
    const file = join(folder().fsPath, 'tests/test_money.py');
    const text = await readFile(file);
    await rm(file);
    try {
      await waitFor('a stale verdict', async () => (await statusText()).includes('out of date'));
      const stale = await waitFor('stale rows', async () => {
        const shown = await descriptions();
        return shown.match(/out of date: run again/g)?.length === 2 ? shown : undefined;
      });
      assert.doesNotMatch(stale, /F→P|ΔC/);
    } finally {
      await writeFile(file, text);
    }
    await waitFor('the verdict again', async () => !(await statusText()).includes('out of date'));
    await waitFor('its rows again', async () => fresh.test(await descriptions()));
  });

  it('runs what was out of date, unsaved too, and calls it no success then', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);
    const { document, editor, line } = await testOfCandidate();
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        return\n'),
    );
    await waitFor('a stale verdict', async () => (await statusText()).includes('out of date'));
    const parent = await freshFolder('edited');
    const asked = exportTo(parent);
    const { message } = await answerDialog('Cancel', 'not a reproduction', 'export-dialog');
    assert.match(message, /passes on R/);
    await asked;
    assert.deepEqual(await readdir(parent.fsPath), [], 'nothing is written');

    const again = exportTo(parent);
    await answerDialog('Export Anyway');
    await again;
    assert.deepEqual(await readdir(parent.fsPath), [`${id}-not-a-reproduction`]);
    const place = join(parent.fsPath, `${id}-not-a-reproduction`);
    for (const name of await readdir(place)) assert.match(name, /^not-a-reproduction\./);
    assert.match(await readFile(join(place, 'not-a-reproduction.md'), 'utf8'), unsaid);
    const verdict = await graded(join(place, 'not-a-reproduction.jsonl'));
    assert.deepEqual(verdict, { success: false, reason: 'passes on R' });
    await vscode.commands.executeCommand('undo');
    await document.save();
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('exports what is there in the end when the test is edited while it runs', async () => {
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
    const parent = await freshFolder('running');
    const asked = exportTo(parent);
    await waitFor('the run', async () => (await statusText()).includes('running'));
    const { document, editor, line } = await testOfCandidate();
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        return\n'),
    );
    // After a second run.
    const { message } = await answerDialog('Cancel', 'not a reproduction');
    assert.match(message, /passes on R/);
    await asked;
    assert.deepEqual(await readdir(parent.fsPath), []);
    await vscode.commands.executeCommand('undo');
    await document.save();
  });

  it('tells how many tests ran after an edit, and exports only after a run of all', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);
    const { document, editor, line } = await testOfCandidate();
    await vscode.commands.executeCommand('testing.startContinuousRun');
    try {
      await waitFor('the end of the first run', async () => (await statusText()).includes('ΔC'));
      await hands.edit(editor, (edit) =>
        edit.insert(new vscode.Position(line + 1, 0), '        self.assertTrue(self)\n'),
      );
      await document.save();
      await waitFor('the verdict on the edit', async () => {
        const { aria = '' } =
          (await visible.statusBar()).find((each) => each.id.endsWith('swt-bench.verdict')) ?? {};
        return /Tests run now: 1. Reused from the run at .*: \d+\./.test(aria);
      });
      assert.match(await statusText(), /1 F→P/);
    } finally {
      await vscode.commands.executeCommand('testing.stopContinuousRun');
    }
    const parent = await freshFolder('continuous');
    await exportTo(parent);
    const place = join(parent.fsPath, `${id}-reference-reproduction`);
    const note = await readFile(join(place, 'reference-reproduction.md'), 'utf8');
    assert.match(note, /\| Harness grading \| resolved \|/);
    assert.doesNotMatch(note, /kept from/);
    assert.match(
      await readFile(join(place, 'reference-reproduction.patch'), 'utf8'),
      /assertTrue\(self\)/,
    );
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    await document.save();
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('tells both gradings where they differ, and why', async () => {
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
    const { document, editor, line } = await testOfCandidate();
    await hands.edit(editor, (edit) =>
      edit.insert(
        new vscode.Position(line, 0),
        [
          '    def test_that_is_skipped_on_r(self):',
          '        parts = Money.parse("20.00").allocate([1, 1, 1])',
          '        if sum(part.cents for part in parts) != 2000:',
          '            self.skipTest("the issue")',
          '',
          '',
        ].join('\n'),
      ),
    );
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 6, 0), '        return\n'),
    );
    await document.save();
    await vscode.commands.executeCommand('swt-bench.reproduce');
    await waitFor('the verdict', async () => (await statusText()).includes('gradings differ'));
    const { aria = '' } =
      (await visible.statusBar()).find((each) => each.id.endsWith('swt-bench.verdict')) ?? {};
    assert.match(aria, /The gradings differ\. Strict: .*skipped/);
    await screenshot('verdict-gradings-differ');
    await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('undo');
    await document.save();
  });

  it('does not make its files a part of the candidate', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);
    await exportTo(vscode.Uri.joinPath(folder(), 'tests'));
    await waitFor('an explanation', async () =>
      (await visible.notifications()).find((each) =>
        each.message.includes('part of the candidate'),
      ),
    );
    const found = await vscode.workspace.findFiles('**/*reproduction*', null);
    assert.deepEqual(found, []);
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('asks before it exports edits of files that are no tests', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);
    const uri = vscode.Uri.joinPath(folder(), 'README.md');
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document);
    await hands.edit(editor, (edit) => edit.insert(new vscode.Position(0, 0), 'Later.\n'));
    const parent = await freshFolder('outside');
    const asked = exportTo(parent);
    await answerDialog('Cancel', 'outside the tests: README.md', 'export-edits-dialog');
    await asked;
    assert.deepEqual(await readdir(parent.fsPath), []);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    await document.save();
  });

  it('compares with the golden tests once they are revealed', async () => {
    await closeAllEditors();
    const asked = vscode.commands.executeCommand('swt-bench.compareWithGolden');
    await answerDialog('Show Fix');
    await asked;
    await waitFor('the diff', async () =>
      (await visible.tabs()).find((tab) => tab.label.includes('Golden tests ↔ candidate')),
    );
    const golden = await waitFor('the golden tests', async () =>
      (await visible.editors()).find((each) => each.uri.includes('golden-tests')),
    );
    assert.equal(golden.side, 'original');
    const text = await waitFor('the table', async () =>
      (await visible.webviews()).find((each) => each.includes('What each test covers')),
    );
    assert.match(text, /12\/17/);
    assert.match(text, /Golden tests in tests\/test_expense\.py/);
    assert.equal(vscode.window.tabGroups.all.length, 2, 'two columns, whatever was open');
    await screenshot('compare-with-golden');
  });

  it('adds ΔC by line and what the golden tests cover besides to the export, once revealed', async () => {
    const parent = await freshFolder('revealed');
    await exportTo(parent);
    const place = join(parent.fsPath, `${id}-reference-reproduction`);
    const note = await readFile(join(place, 'reference-reproduction.md'), 'utf8');
    const file = JSON.parse(await readFile(join(sample, 'expected.json'), 'utf8')) as {
      candidates: Record<string, { change_coverage: Record<string, unknown> }>;
    };
    const wanted = file.candidates['covers-some']?.change_coverage as {
      removed: Record<string, Record<string, string>>;
      added: Record<string, Record<string, string>>;
    };
    for (const [change, word] of [
      ['removed', 'removed from R'],
      ['added', 'added in R∘X\\*'],
    ] as const) {
      for (const [path, lines] of Object.entries(wanted[change])) {
        const rows = (note.split(`### \`${path}\`\n`)[1] ?? '').split(/\n##/)[0]?.split('\n') ?? [];
        for (const [line, state] of Object.entries(lines)) {
          const row = rows.find((each) => each.startsWith(`| ${line}, ${word} |`));
          assert.ok(row?.includes(`| ${state} |`) === true, `${line} ${word}: ${row}`);
        }
      }
    }
    assert.match(note, /Covered only by the golden tests/);
    assert.match(note, /The author had revealed the golden patch/);
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('shows the verdict as a document that tells of the golden patch what is revealed', async () => {
    const asked = vscode.commands.executeCommand('swt-bench.showVerdict');
    const [entry] = await waitFor('its entry', async () =>
      (await visible.treeRows()).filter(({ text }) => text.includes('Show Verdict as Document')),
    );
    assert.match(entry?.aria ?? '', /^Show Verdict as Document, /, 'no id of an icon is said');
    await inQuickInput.choose('Show Verdict as Document');
    await asked;
    const page = async (): Promise<string | undefined> =>
      (await visible.webviews()).find((each) => each.includes('F→P'));
    // Lines of the golden patch stand below the path of their file.
    const revealed = await waitFor('the rendered page', page);
    assert.match(revealed, /^tallybook\/money\.py$/m);
    await vscode.commands.executeCommand('swt-bench.hideGoldenPatch');
    await waitFor('no line of the golden patch', async () => {
      const now = await page();
      return now !== undefined && !/^tallybook\/money\.py$/m.test(now);
    });
  });

  it('hides the comparison with the rest', async () => {
    await vscode.commands.executeCommand('swt-bench.hideGoldenPatch');
    await waitFor('the tabs without it', async () =>
      (await visible.tabs()).every((tab) => !/[Gg]olden tests/.test(tab.label)),
    );
  });

  it('shows in another window on the same folder what was found here, once it is there', async () => {
    await evaluate('covers-some', /1 F→P/);
    await vscode.commands.executeCommand('vscode.openFolder', folder(), { forceNewWindow: true });
    const says = (text: string) => async (): Promise<boolean> =>
      (await visible.otherWindows()).some((each) => each.text.includes(text));
    try {
      await waitFor('the verdict of before', says('1 F→P · ΔC 71 %'), 240_000);
      await evaluate('passes-on-both', /passes on R/);
      await waitFor('the verdict of now', says('passes on R · ΔC'), 60_000);
    } finally {
      await closeOtherWindows();
    }
  });
});
