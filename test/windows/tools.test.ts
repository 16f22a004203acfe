import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { silent } from '../../src/domain/work';
import type { InstanceForModels } from '../../src/editor/tools/instanceForModels';
import type { ModelToolName } from '../../src/editor/shell/names';
import { WorkspaceTools } from '../../src/editor/tools/workspaceTools';
import { tools } from '../../src/method/tools/tools';
import { lookingForAnswers } from '../unit/method/looking';
import { answers, call } from './calledTools';
import { cleanWorkspace, fileUri, folder, onDisk } from './customDiffWorkspace';
import { hands, screenshot, visible, waitFor } from './host/client';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';

/** A patch that adds a file. */
const added = (path: string, ...lines: string[]): string => `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;

const testOf = (name: string, ...body: string[]): string[] => [
  'import unittest',
  '',
  'from tallybook import Money',
  '',
  '',
  `class ${name}Test(unittest.TestCase):`,
  `    def test_${name.toLowerCase()}(self):`,
  ...body.map((line) => `        ${line}`),
];
const reproducing = testOf(
  'Parts',
  'parts = Money(2000).allocate([1, 1, 1])',
  'self.assertEqual(sum(part.cents for part in parts), 2000)',
);

const isThere = (path: string): Promise<boolean> =>
  stat(onDisk(path)).then(
    () => true,
    () => false,
  );

describe('the tools for agents in VS Code', () => {
  cleanWorkspace();
  afterEach(() => {
    execFileSync('git', ['clean', '--quiet', '-fd', 'tests'], { cwd: folder().uri.fsPath });
  });

  it('are offered while an instance is open, as the MCP server offers them', async () => {
    const ours = await waitFor('the tools', () => {
      const found = vscode.lm.tools.filter(({ name }) => name.startsWith('swt-bench_'));
      return found.length === tools.length ? found : undefined;
    });
    for (const { name, description } of tools) {
      const offered = ours.find((each) => each.name === `swt-bench_${name}`);
      assert.ok(offered, name);
      assert.ok(offered.description.includes(description), name);
      assert.deepEqual((offered.inputSchema as { type: string }).type, 'object');
    }
  });

  it('give the issue, and R by search, outline and lines', async () => {
    assert.match(await call('read_issue'), /out of balance by -0\.01/);
    assert.match(await call('list_files'), /tallybook\/ \(\d+ files\)/);
    const found = await call('search_code', { query: 'allocate', kind: 'function' });
    assert.match(found, /tallybook\/money\.py/);
    assert.match(await call('outline_file', { path: 'tallybook/money.py' }), /def allocate\(/);
    const lines = await call('read_file', { path: 'tests/test_money.py', end_line: 3 });
    assert.match(lines, /^tests\/test_money\.py, lines 1 to 3 of \d+:/);
  });

  it('show R, whatever is edited in the workspace', async () => {
    const document = await vscode.workspace.openTextDocument(fileUri('tallybook/money.py'));
    const editor = await vscode.window.showTextDocument(document);
    await hands.edit(editor, (edit) => edit.insert(new vscode.Position(0, 0), '# of the author\n'));
    await document.save();
    const lines = await call('read_file', { path: 'tallybook/money.py', end_line: 2 });
    assert.doesNotMatch(lines, /of the author/);
    assert.match(
      await call('search_code', { query: 'of the author', kind: 'text' }),
      /nothing|no /i,
    );
  });

  it('ask before they change the workspace or run code, and say what they do', async () => {
    const opened: InstanceForModels = {
      folder: folder(),
      marker: { id: 'owner__name_with_*stars*' },
      modelView: () => Promise.reject(new Error('nothing is read for a question')),
      candidatePatch: () => Promise.resolve(''),
      textOfR: () => Promise.resolve(undefined),
    };
    const asked = new WorkspaceTools({ opened: () => Promise.resolve(opened), reporter: silent });
    for (const { name, effect } of tools) {
      const prepared = await asked.prepare(name as ModelToolName);
      assert.ok(prepared.invocationMessage, name);
      const question = prepared.confirmationMessages;
      assert.equal(question !== undefined, effect !== 'reads', name);
      if (question === undefined) continue;
      assert.ok(question.message instanceof vscode.MarkdownString);
      assert.ok(!question.message.isTrusted);
      // Text in a marker is text, not markup.
      assert.match(question.message.value, /\\\*stars\\\*/);
      assert.match(
        `${question.title} ${question.message.value}`,
        effect === 'runs code'
          ? /^Run tests on R\?.*code that the model has written.*on this machine/
          : /^Replace the candidate\?.*Replaces your edits.*Undo restores yours/,
      );
    }
    const closed = new WorkspaceTools({
      opened: () => Promise.resolve(undefined),
      reporter: silent,
    });
    assert.equal((await closed.prepare('run_tests')).confirmationMessages, undefined);
  });

  it('refuse what is not of R, in words for a model', async () => {
    const beyond = [
      '../fixed/tallybook/money.py',
      '../../instances',
      '.git/HEAD',
      join(sample, 'instance.jsonl'),
      '~/.ssh/id_rsa',
      'tests/test_allocate_loss.py',
    ];
    for (const path of beyond) {
      for (const name of ['read_file', 'outline_file']) {
        assert.match(await call(name, { path }), /^Error: .* cannot be read: /, path);
      }
      const ran = await call('run_tests', { tests: [path] });
      assert.match(ran, /^Error: .* cannot be run: /, path);
    }
    assert.match(await call('list_files', { folder: '..' }), /^Error: /);
    assert.match(
      await call('search_code', { query: 'FAIL_TO_PASS', kind: 'text' }),
      /nothing|no /i,
    );
    const wrong = await call('read_file', { file: 'README.md' });
    assert.match(wrong, /^Error: The input of read_file[^]*`path`[^]*JSON schema/);
  });

  describe('and the candidate in the workspace', () => {
    it('lead from the issue to a candidate in the workspace that fails on R', async () => {
      assert.match(await call('run_tests'), /^Error: There is no candidate yet/);
      const patch = added('tests/test_parts.py', ...reproducing);
      assert.match(await call('apply_candidate', { patch }), /^The candidate applies\./);
      const text = await readFile(onDisk('tests/test_parts.py'), 'utf8');
      assert.equal(text, `${reproducing.join('\n')}\n`);
      const listed = await call('list_candidate_tests');
      assert.match(listed, /- tests\/test_parts\.py::PartsTest::test_parts\n/);
      const ran = await call('run_tests');
      assert.match(ran, /^On the current repository, with the candidate: 1 failed\./);
      assert.match(ran, /AssertionError: 2001 != 2000/);
      const without = { tests: ['tests/test_money.py'], without_candidate: true };
      assert.match(await call('run_tests', without), /without a candidate: \d+ passed/);
    });

    it('put a candidate in the place of the one before, and one Undo takes that back', async () => {
      const money = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
      const ofR = money.getText();
      const editor = await vscode.window.showTextDocument(money, { preview: false });
      await hands.edit(editor, (edit) =>
        edit.insert(new vscode.Position(0, 0), '# of the author\n'),
      );
      const edited = money.getText();
      await call('apply_candidate', {
        patch: added('tests/test_first.py', ...testOf('First', 'pass')),
      });
      assert.equal(await isThere('tests/test_first.py'), true);
      assert.equal(money.getText(), ofR, 'the candidate is the whole of what is edited');
      await vscode.window.showTextDocument(money);
      await vscode.commands.executeCommand('undo');
      await waitFor('the edits of before', () => money.getText() === edited);
      await waitFor('the new file gone', async () => !(await isThere('tests/test_first.py')));
    });

    it('know what is edited and not saved, and save nothing', async () => {
      const patch = added('tests/test_unsaved.py', ...testOf('Unsaved', 'pass'));
      await call('apply_candidate', { patch });
      const document = await vscode.workspace.openTextDocument(fileUri('tests/test_unsaved.py'));
      const editor = await vscode.window.showTextDocument(document, { preview: false });
      const end = document.lineAt(document.lineCount - 1).range.end;
      await hands.edit(editor, (edit) =>
        edit.insert(end, '    def test_typed(self):\n        self.fail("typed")\n'),
      );
      assert.equal(document.isDirty, true);
      assert.match(await call('list_candidate_tests'), /UnsavedTest::test_typed/);
      assert.match(await call('run_tests'), /1 passed, 1 failed|1 failed, 1 passed/);
      assert.equal(document.isDirty, true);
      await vscode.commands.executeCommand('workbench.action.files.revert');
    });

    it('refuse a patch that does not apply, and change nothing', async () => {
      const patch = [
        '--- a/tests/test_money.py',
        '+++ b/tests/test_money.py',
        '@@ -1,2 +1,3 @@',
        ' no such line',
        '+# new',
        ' nor this',
        '',
      ].join('\n');
      assert.match(await call('apply_candidate', { patch }), /^Error: The patch does not apply/);
      assert.match(await call('list_candidate_tests'), /no candidate yet/);
    });

    it('write neither through links nor what VS Code itself acts on', async () => {
      const link = 'tests/linked';
      await symlink('/tmp', onDisk(link));
      try {
        const through = added(`${link}/test_out.py`, ...testOf('Out', 'pass'));
        assert.match(await call('apply_candidate', { patch: through }), /^Error: .*link/);
      } finally {
        await rm(onDisk(link));
      }
      for (const path of ['.vscode/tasks.json', '.devcontainer/devcontainer.json', '../out.py']) {
        const answer = await call('apply_candidate', { patch: added(path, '{}') });
        assert.match(answer, /^Error: /, path);
        assert.ok(answer.includes(path), answer);
      }
      assert.equal(await isThere('.vscode/tasks.json'), false);
    });

    it('tell nothing of the answer, wherever a test looks for it', async () => {
      const bodies = lookingForAnswers;
      for (const [at, body] of bodies.entries()) {
        const patch = added(`tests/test_look_${at}.py`, ...testOf(`Look${at}`, ...body));
        assert.match(await call('apply_candidate', { patch }), /^The candidate applies/);
        const ran = await call('run_tests');
        assert.match(ran, /FAILED tests\/test_look_\d\.py/);
        await call('run_tests', { whole_files: true });
        await call('list_candidate_tests');
      }
    });

    it('run code only when the person says so in the chat, who is told what it does', async () => {
      const patch = added('tests/test_asked.py', ...testOf('Asked', 'self.fail("as asked")'));
      await call('apply_candidate', { patch });
      await vscode.commands.executeCommand('workbench.action.chat.newChat');
      await vscode.commands.executeCommand('workbench.action.chat.open', {
        query: '@agent swt-bench_run_tests',
        mode: 'ask',
        modelSelector: { vendor: 'swt-test', id: 'scripted' },
      });
      const chat = '.interactive-session';
      const seen = (text: string): Promise<true> =>
        waitFor(text, async () => {
          const all = (await visible.texts(chat)).join('\n').replaceAll('\u00a0', ' ');
          return all.includes(text) ? (true as const) : undefined;
        });
      await seen('Run tests on R?');
      await seen('including code that the model has written. They run on this machine');
      await screenshot('tool-asks', { width: 1500, height: 1000 });
      await hands.click({ selector: `${chat} .monaco-button:visible`, text: 'Allow' });
      await seen('AssertionError: as asked');
      answers.push(...(await visible.texts(chat)));
      await screenshot('tool-answers');
    });

    it('stop when a call is cancelled', async () => {
      const mark = join(tmpdir(), `swt-bench-endless-${process.pid}`);
      const patch = added(
        'tests/test_endless.py',
        ...testOf(
          'Endless',
          `import time; open(${JSON.stringify(mark)}, 'w').close()`,
          'time.sleep(3600)',
        ),
      );
      await call('apply_candidate', { patch });
      const source = new vscode.CancellationTokenSource();
      const running = call('run_tests', {}, source.token);
      const rejected = assert.rejects(running, /cancel/i);
      await waitFor('the endless test', () => existsSync(mark));
      source.cancel();
      await rejected;
      await rm(mark);
      // Runs follow one another: this one would wait for ever.
      const without = { tests: ['tests/test_money.py'], without_candidate: true };
      assert.match(await call('run_tests', without), /\d+ passed/);
    });
  });
});
