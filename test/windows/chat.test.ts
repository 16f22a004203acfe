import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { leaksIn, secretsOf } from '../unit/method/secretsOf';
import {
  answerDialog,
  closeAllEditors,
  hands,
  inQuickInput,
  screenshot,
  visible,
  waitFor,
} from './host/client';
import { scriptedModel, scriptedModels, type ScriptedModels } from './scriptedModels';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';
const folder = (): vscode.WorkspaceFolder => {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found);
  return found;
};
const fileUri = (path: string): vscode.Uri => vscode.Uri.joinPath(folder().uri, path);
const onDisk = (path: string): Promise<string> => readFile(join(folder().uri.fsPath, path), 'utf8');
const money = 'tests/test_money.py';

const ownTest = [
  '    def test_parts_make_the_whole(self):',
  '        whole = Money.parse("20.00")',
  '        self.assertEqual(sum(whole.allocate([1, 1, 1]), ZERO), whole)',
];
const betterTest = [
  '    def test_twenty_among_three_makes_twenty(self):',
  '        whole = Money.parse("20.00")',
  '        self.assertEqual(sum(whole.allocate([1, 1, 1]), ZERO), whole, "parts of 20.00")',
];
const passingTest = [
  '    def test_thirty_among_three(self):',
  '        self.assertEqual(Money(3000).allocate([1, 1, 1])[0], Money(1000))',
];
const adds = (lines: readonly string[]): string =>
  [
    ...[`--- a/${money}`, `+++ b/${money}`, `@@ -60,3 +60,${4 + lines.length} @@`],
    '             with self.subTest(weights=weights):',
    '                 with self.assertRaises(ValueError):',
    '                     Money(100).allocate(weights)',
    ...['', ...lines].map((line) => `+${line}`),
    '',
  ].join('\n');

/** The visible text of the last answer at this moment. */
const seen = async (): Promise<string> =>
  (await visible.texts('.interactive-item-container.interactive-response'))
    .at(-1)
    ?.replaceAll('\u00a0', ' ') ?? '';

/** The last answer, once VS Code has drawn all of it, which happens bit by bit. */
async function answer(): Promise<string> {
  for (let last = await seen(), same = 0; ;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const now = await seen();
    same = now === last && now !== '' ? same + 1 : 0;
    if (same === 3) return now;
    last = now;
  }
}

/** The last answer, once it has a text. */
const answerWith = (text: string): Promise<string> =>
  waitFor(`an answer with "${text}"`, async () => {
    const shown = await answer();
    return shown.includes(text) ? shown : undefined;
  });

let models: ScriptedModels;
let secrets: string[] = [];

/** Sends a message in a new chat with a model, and waits for the answer. */
async function ask(
  query: string,
  options: {
    readonly model?: string;
    readonly attach?: readonly vscode.Uri[];
    wait?: boolean;
  } = {},
): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.newChat');
  await send(query, options);
}

async function send(
  query: string,
  {
    model = 'scripted',
    attach = [],
    wait = true,
  }: { readonly model?: string; readonly attach?: readonly vscode.Uri[]; wait?: boolean } = {},
): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.open', {
    query,
    mode: 'ask',
    modelSelector: { vendor: 'swt-test', id: model },
    ...(attach.length > 0 && { attachFiles: attach }),
    blockOnResponse: wait,
  });
}

async function writeTest(lines: readonly string[], path = money): Promise<void> {
  const text = await onDisk(path);
  await writeFile(join(folder().uri.fsPath, path), `${text}\n${lines.join('\n')}\n`);
}

/** Moves the cursor to a line that contains a text. */
async function cursorAt(text: string, path = money): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(fileUri(path));
  await waitFor('the text in the editor', () => document.getText().includes(text));
  const editor = await vscode.window.showTextDocument(document);
  const place = document.positionAt(document.getText().indexOf(text));
  editor.selection = new vscode.Selection(place, place);
  return editor;
}

describe('@swt in the chat', () => {
  before(async () => {
    await vscode.extensions.getExtension('swt-bench.swt-bench')?.activate();
    models = await scriptedModels();
    await scriptedModel();
    await hands.resize(1500, 1000);
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Parameters<
      typeof secretsOf
    >[0] & { readonly problem_statement: string };
    const files = execFileSync('git', ['ls-files'], { cwd: folder().uri.fsPath, encoding: 'utf8' });
    const texts = await Promise.all(files.split('\n').filter(Boolean).map(onDisk));
    secrets = secretsOf(row, [...texts, row.problem_statement]);
    assert.ok(secrets.length > 20);
  });

  beforeEach(() => models.clear());

  afterEach(async () => {
    for (const document of vscode.workspace.textDocuments) {
      if (!document.isDirty || document.isUntitled) continue;
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('workbench.action.files.revert');
    }
    await closeAllEditors();
    await vscode.commands.executeCommand('notifications.clearAll');
    execFileSync('git', ['checkout', '--quiet', '.'], { cwd: folder().uri.fsPath });
    assert.deepEqual(leaksIn(JSON.stringify(models.requests), secrets), []);
  });

  it('/reproduce works with the tools, tells what it does, and ends with the tests', async () => {
    models.script(
      { text: 'I read the issue first.', calls: [{ name: 'read_issue' }] },
      { calls: [{ name: 'read_file', input: { path: money, start_line: 44, end_line: 62 } }] },
      {
        text: 'A first try.',
        calls: [{ name: 'apply_candidate', input: { patch: adds(passingTest) } }],
      },
      { calls: [{ name: 'run_tests' }] },
      { calls: [{ name: 'apply_candidate', input: { patch: adds(ownTest) } }] },
      { calls: [{ name: 'run_tests' }] },
      'The parts add up to 20.01, and the test says so.',
    );
    await ask('@swt /reproduce the second example of the issue');
    assert.equal(models.left(), 0);
    const [first] = models.requests;
    assert.deepEqual(
      first?.tools.map(({ name }) => name),
      [
        ...['read_issue', 'list_files', 'search_code', 'outline_file', 'read_file'],
        ...['apply_candidate', 'list_candidate_tests', 'run_tests', 'check_candidate'],
      ],
    );
    assert.match(first.text, /the second example of the issue/);
    const results = models.requests
      .at(-1)
      ?.messages.flatMap(({ parts }) => parts)
      .flatMap((part) => (part.type === 'result' ? [part.text] : []));
    assert.match(results?.[0] ?? '', /out of balance by -0\.01/);
    assert.match(results?.[3] ?? '', /1 passed/);
    assert.match(
      results?.[5] ?? '',
      /FAILED tests\/test_money\.py::AllocateTest::test_parts_make_the_whole/,
    );
    const text = await answerWith('Apply');
    assert.match(text, /The parts add up to 20\.01, and the test says so\./);
    assert.match(text, /The test fails on R/);
    assert.match(text, /test_parts_make_the_whole fails on R: AssertionError/);
    assert.match(text, /def test_parts_make_the_whole/);
    assert.doesNotMatch(text, /test_thirty_among_three/);
    assert.doesNotMatch(text, /F→P|R∘X|ΔC/);
    await screenshot('chat-reproduce');
    await hands.click({ selector: '.interactive-response .monaco-button', text: 'Completed' });
    const steps = await answerWith('A first try.');
    for (const step of [
      'I read the issue first.',
      'The model wrote tests.',
      'Tests were run on R.',
    ]) {
      assert.ok(steps.includes(step), steps);
    }
    await screenshot('chat-reproduce-steps');
    assert.equal((await onDisk(money)).includes('make_the_whole'), false);
  });

  it('has a button that previews the tests, and one that applies them as one edit', async () => {
    models.script(
      { calls: [{ name: 'apply_candidate', input: { patch: adds(ownTest) } }] },
      'These are the tests.',
    );
    const before = await onDisk(money);
    await ask('@swt /reproduce');
    await answerWith('Apply');
    await hands.click({ selector: '.interactive-response .monaco-button', text: 'Preview' });
    await waitFor('a diff', async () =>
      (await visible.editors()).some(
        ({ side, lines }) =>
          side === 'modified' &&
          lines.some(({ text }) => text.includes('test_parts_make_the_whole')),
      ),
    );
    await screenshot('chat-preview');
    assert.equal(await onDisk(money), before, 'a preview changes nothing');
    await closeAllEditors();
    const document = await vscode.workspace.openTextDocument(fileUri(money));
    await hands.click({ selector: '.interactive-response .monaco-button', text: 'Apply' });
    await waitFor('the tests in the workspace', () =>
      document.getText().includes('test_parts_make_the_whole'),
    );
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    await waitFor('the file as it was', () => document.getText() === before);
  });

  it('/reproduce asks a model without tools as ZeroShotPlus does, and again when nothing fails', async () => {
    const inserts = (lines: readonly string[]): string =>
      [
        'Here they are.',
        ...['', '```custom-diff', 'diff', 'tests/test_whole.py', 'insert', 'EOF'],
        ...['import unittest', 'from tallybook.money import ZERO, Money', ''],
        ...['class WholeTest(unittest.TestCase):', ...lines, 'end diff', '```'],
      ].join('\n');
    models.script('I cannot say.', inserts(passingTest), inserts(ownTest));
    await ask('@swt /reproduce', { model: 'scripted-without-tools' });
    assert.equal(models.left(), 0);
    const [first, second, third] = models.requests;
    assert.deepEqual([first?.tools, first?.model], [[], 'scripted-without-tools']);
    assert.match(first?.text ?? '', /\[start of tallybook\/money\.py\]/);
    assert.match(second?.text ?? '', /does not apply/);
    assert.match(third?.text ?? '', /1 passed[^]*No test fails/);
    const text = await answerWith('Apply');
    assert.match(text, /The test fails on R/);
    assert.match(text, /tests\/test_whole\.py::WholeTest::test_parts_make_the_whole fails on R/);
    assert.match(text, /Preview[^]*Apply/);
  });

  it('/explain gives the model the test at the cursor and what R shows, and links to the code', async () => {
    await writeTest([
      '    def test_whole_entry(self):',
      '        from datetime import date',
      '        from tallybook.expense import Expense',
      '        Expense.evenly(date(2024, 3, 3), "Cleo", Money(2000), "Wine", ["A", "B", "C"]).to_entry()',
    ]);
    await cursorAt('Cleo');
    models.script(
      { calls: [{ name: 'read_file', input: { path: 'tallybook/entry.py' } }] },
      'It fails for the reason in the issue: see `tallybook/entry.py`.',
    );
    await ask('@swt /explain');
    assert.equal(models.left(), 0);
    const [first] = models.requests;
    assert.match(
      first?.text ?? '',
      /The test tests\/test_money\.py::AllocateTest::test_whole_entry/,
    );
    assert.match(first?.text ?? '', /UnbalancedEntryError/);
    assert.match(first?.text ?? '', /tallybook\/entry\.py, lines \d+ to \d+:/);
    assert.ok(first?.tools.every(({ name }) => !/apply|run/.test(name)));
    const text = await answer();
    assert.match(text, /It fails for the reason in the issue/);
    assert.match(text, /The test: test_money\.py:64/);
    assert.match(text, /Where it goes wrong on R: entry\.py:45/);
    await screenshot('chat-explain');
    await hands.click({
      selector: '.interactive-response .chat-inline-anchor-widget',
      text: 'entry.py',
    });
    await waitFor('the code', () =>
      vscode.window.activeTextEditor?.document.uri.path.endsWith('tallybook/entry.py'),
    );
  });

  it('/check tells from R whether the tests are ready, without a model, and so does the command', async () => {
    await writeTest(ownTest);
    await ask('@swt /check');
    const text = await answerWith('Other tests are unaffected');
    assert.match(text, /Ready to Submit/);
    assert.match(text, /Fails on R: yes/);
    assert.equal(models.requests.length, 0);
    await screenshot('chat-check');
    const checking = vscode.commands.executeCommand('swt-bench.checkBeforeSubmitting');
    const shown = await waitFor('the answers', () => visible.quickInput());
    assert.equal(shown.title, 'Ready to Submit');
    assert.equal(shown.items.length, 7);
    assert.match(shown.items[4]?.label ?? '', /Fails on R: yes/);
    await screenshot('check-before-submitting');
    await inQuickInput.cancel();
    await checking;
  });

  it('/explain takes the test that is named, of R too, and asks when it is not plain', async () => {
    models.always('It passes.');
    await ask('@swt /explain why does test_in_proportion pass?');
    assert.match(models.requests[0]?.text ?? '', /AllocateTest::test_in_proportion[^]*1 passed/);
    models.clear();
    await ask('@swt /explain test_that_nobody_wrote');
    assert.match(await answer(), /No test test_that_nobody_wrote/);
    await closeAllEditors();
    await ask('@swt /explain');
    assert.match(await answer(), /Several tests match/);
    assert.equal(models.requests.length, 0);
  });

  it('/improve goes on from the tests in the workspace, unsaved ones too', async () => {
    await ask('@swt /improve');
    assert.match(await answer(), /No test is added or changed/);
    const editor = await cursorAt('class AllocateTest');
    const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
    await hands.edit(editor, (edit) => edit.insert(end, `\n${ownTest.join('\n')}\n`));
    models.script(
      { calls: [{ name: 'list_candidate_tests' }] },
      { calls: [{ name: 'apply_candidate', input: { patch: adds(betterTest) } }] },
      'A better name.',
    );
    await ask('@swt /improve give it a better name');
    const [first, second] = models.requests;
    assert.match(first?.text ?? '', /<candidate>[^]*\+ {4}def test_parts_make_the_whole/);
    assert.match(first?.text ?? '', /<run>[^]*FAILED tests\/test_money\.py/);
    assert.match(second?.text ?? '', /Tests that the candidate adds or changes/);
    const text = await answerWith('Apply');
    assert.match(text, /test_twenty_among_three_makes_twenty fails on R/);
    await hands.click({ selector: '.interactive-response .monaco-button', text: 'Apply' });
    await waitFor('the better test', () =>
      editor.document.getText().includes(betterTest[0] ?? '-'),
    );
    assert.equal(editor.document.getText().includes('test_parts_make_the_whole'), false);
  });

  it('/improve leaves tests alone when the model does', async () => {
    await writeTest(ownTest);
    models.script('Nothing needs to change.');
    await ask('@swt /improve');
    assert.match(await answer(), /Nothing needs to change\.[^]*The tests stay as they are\./);
  });

  it('/improve takes a diff of a model without tools, too', async () => {
    await writeTest(ownTest);
    models.script(`A better name.\n\n\`\`\`diff\n${adds(betterTest)}\`\`\`\n`);
    await ask('@swt /improve', { model: 'scripted-without-tools' });
    const [first] = models.requests;
    assert.deepEqual(first?.tools, []);
    assert.match(first?.text ?? '', /<run>[^]*1 failed[^]*as a unified diff/);
    const text = await answerWith('Apply');
    assert.match(text, /test_twenty_among_three_makes_twenty fails on R/);
    assert.match(text, /Preview[^]*Apply/);
    models.script('Nothing needs to change.');
    await ask('@swt /improve', { model: 'scripted-without-tools' });
    assert.match(await answer(), /The tests stay as they are\./);
  });

  it('answers a question, and knows what was said before', async () => {
    models.script('It is about odd cents.', 'In `tallybook/money.py`.');
    await ask('@swt what is the issue about?');
    await send('@swt and where is the code?');
    const { text = '' } = models.requests[1] ?? {};
    assert.match(text, /what is the issue about\?[^]*It is about odd cents\.[^]*where is the code/);
    assert.match(text, /out of balance by -0\.01/);
    await waitFor('what may be asked next', async () =>
      (await visible.texts('.interactive-input-followups')).some((each) =>
        each.includes('Write tests that reproduce the issue'),
      ),
    );
  });

  it('gives a model files of R and tests that are attached, and leaves out what may be the answer', async () => {
    await vscode.commands.executeCommand('swt-bench.hideGoldenPatch');
    const stray = fileUri('notes.md');
    await vscode.workspace.fs.writeFile(stray, Buffer.from('what the fix does: sorted by loss'));
    // The workspace's file contains the fix: the model must get R's version of it.
    const source = await onDisk('tallybook/money.py');
    await writeFile(
      join(folder().uri.fsPath, 'tallybook/money.py'),
      source.replace('missing = ', 'by_loss = missing = '),
    );
    await writeTest(ownTest);
    try {
      models.always('I see.');
      await ask('@swt what is in these files?', {
        attach: [
          ...[fileUri(money), fileUri('tallybook/money.py'), stray],
          vscode.Uri.file(join(sample, 'instance.jsonl')),
        ],
      });
      const { text = '' } = models.requests[0] ?? {};
      assert.match(text, /<file path="tests\/test_money\.py">[^]*test_parts_make_the_whole/);
      assert.match(text, /<file path="tallybook\/money\.py">[^]*missing = self\.cents/);
      assert.doesNotMatch(text, /by_loss|sorted by loss|test_patch/);
      const shown = await answer();
      assert.match(shown, /notes\.md is left out: it is neither a file of R nor a test\./);
      assert.match(shown, /A document is left out: it is not in the workspace\./);
      await send('@swt and now?');
      const next = models.requests.at(-1)?.text ?? '';
      assert.match(next, /A document is left out/, 'what was said before');
      assert.doesNotMatch(next, /instance\.jsonl/);
    } finally {
      await rm(stray.fsPath, { force: true });
    }
  });

  it('does not tell what of the golden patch is open beside the chat', async () => {
    const fixed = vscode.Uri.from({
      scheme: 'swt-bench',
      authority: 'fixed',
      path: '/tallybook/money.py',
    });
    void vscode.commands.executeCommand('swt-bench.reveal');
    await answerDialog('Show Fix');
    try {
      const document = await waitFor('the golden side', async () => {
        const opened = await vscode.workspace.openTextDocument(fixed);
        return opened.getText().includes('by_loss') ? opened : undefined;
      });
      const editor = await vscode.window.showTextDocument(document, { preview: false });
      editor.selection = new vscode.Selection(30, 0, 60, 0);
      models.always('I see.');
      await ask('@swt what is in this file?');
      await screenshot('chat-golden-beside');
      assert.match(
        await answer(),
        /A document is left out: it may contain the answer, which models must not see\./,
      );
      assert.equal(models.requests.length, 1);
      assert.doesNotMatch(models.requests[0]?.text ?? '', /by_loss/);
      await send('@swt and now?');
      const next = models.requests.at(-1)?.text ?? '';
      assert.match(next, /A document is left out/, 'what was said before');
      assert.doesNotMatch(next, /money\.py/, 'which file X* changes');
    } finally {
      await vscode.commands.executeCommand('swt-bench.hideGoldenPatch');
    }
  });

  it('says in words what goes wrong with a model', async () => {
    models.script({ error: { code: 'Blocked', message: 'quota of the month' } });
    await ask('@swt what now?');
    assert.match(await answer(), /stopped answering \(quota of the month\)/);
    models.script({ text: 'I begin', error: { message: 'the line went dead' } });
    await ask('@swt what now?');
    assert.match(await answer(), /Scripted did not answer \(the line went dead\)/);
    await screenshot('chat-error');
    models.script(
      { calls: [{ name: 'read_file', input: { path: '../../outside.py' } }] },
      { calls: [{ name: 'no_such_tool' }] },
      'I give up.',
    );
    await ask('@swt what now?');
    const { text = '' } = models.requests.at(-1) ?? {};
    assert.match(text, /the path has a component "\.\."/);
    assert.match(text, /There is no tool "no_such_tool"/);
    assert.match(await answer(), /I give up\./);
  });

  it('leaves out old results of tools before a model has no room, and says when it has none', async () => {
    const reads = ['money', 'ledger', 'entry', 'journal', 'expense', 'money'].map((name) => ({
      calls: [{ name: 'read_file', input: { path: `tallybook/${name}.py` } }],
    }));
    models.script(...reads, 'I have read everything.');
    await ask('@swt /reproduce', { model: 'scripted-small' });
    const last = models.requests.at(-1)?.messages.flatMap(({ parts }) => parts) ?? [];
    const results = last.flatMap((part) => (part.type === 'result' ? [part.text] : []));
    assert.equal(results.length, reads.length);
    assert.match(results[0] ?? '', /removed to save space/);
    assert.match(results.at(-1) ?? '', /class Money/);
    assert.match(await answer(), /I have read everything\.[^]*No tests were written\./);
    await ask(`@swt ${'what is this about? '.repeat(1500)}`, { model: 'scripted-small' });
    assert.match(await answer(), /This conversation has \d+ tokens, but Small accepts \d+/);
    assert.equal(models.requests.length, reads.length + 1);
  });

  it('closes a block of code that a model has left open', async () => {
    models.script(
      { calls: [{ name: 'apply_candidate', input: { patch: adds(ownTest) } }] },
      'Like this:\n\n```python\nassert parts',
    );
    await ask('@swt /reproduce');
    assert.match(await answer(), /The test fails on R/);
    assert.ok(
      (await visible.texts('.interactive-response .rendered-markdown p')).some((each) =>
        each.includes('The test fails on R'),
      ),
      'it is no code',
    );
  });

  it('stops when it is cancelled, and the model with it', async () => {
    models.script({ calls: [{ name: 'read_issue' }] }, { hangs: true });
    await ask('@swt what now?', { wait: false });
    await waitFor('what it does', async () => (await seen()).includes('Reading the issue'));
    await screenshot('chat-progress');
    await vscode.commands.executeCommand('workbench.action.chat.cancel');
    await waitFor('the model to be told', () => models.requests[1]?.cancelled === true);
    assert.doesNotMatch(await answer(), /error|gives no answer/i);
  });
});
