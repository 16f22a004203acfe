import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { Cancelled, silent } from '../../src/domain/work';
import { editorModel } from '../../src/editor/generate/editorModel';
import { CallsNoTools, ModelFailure, ModelUnusable } from '../../src/method/models/chatModel';
import { offer, tools } from '../../src/method/tools/tools';
import { fakeModels, type FakeModels } from '../commandLine/fakeModels';
import {
  answerDialog,
  closeAllEditors,
  hands,
  inQuickInput,
  type Row,
  screenshot,
  visible,
  waitFor,
} from './host/client';
import { scriptedModel, scriptedModels, type ScriptedModels } from './scriptedModels';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';
const predictions = new Map(
  readFileSync(join(sample, 'predictions.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { model_name_or_path: string; model_patch: string })
    .map((row) => [row.model_name_or_path, row.model_patch]),
);
const patch = (name: string): string => {
  const found = predictions.get(name);
  assert.ok(found, name);
  return found;
};
const inDiff = (text: string): string => `I add a test.\n\n\`\`\`diff\n${text}\`\`\`\n`;
/** A test in the custom format, appended to the tests of money. */
const custom = (name: string, assertion: string): string =>
  [
    ...['A test:', '', '```custom-diff', 'diff', 'tests/test_money.py', 'insert', 'EOF'],
    ...[`class ${name}(unittest.TestCase):`, '    def test_parts(self):', `        ${assertion}`],
    ...['end diff', '```', ''],
  ].join('\n');
const failing = custom(
  'PartsTest',
  'self.assertEqual(sum(Money(2000).allocate([1, 1, 1]), ZERO), Money(2000))',
);
const longer = custom(
  'LongerNamedPartsTest',
  'self.assertEqual(sum(Money.parse("20.00").allocate([1, 1, 1]), ZERO), Money(2000), "whole")',
);
const passing = custom('WholeTest', 'self.assertEqual(Money(2000), Money(2000))');

const root = (): string => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  assert.ok(folder);
  return folder;
};
const onDisk = (path: string): Promise<string> => readFile(join(root(), path), 'utf8');
const changedFiles = (): string =>
  execFileSync('git', ['status', '--porcelain'], { cwd: root(), encoding: 'utf8' });
const clean = async (): Promise<void> => {
  await closeAllEditors();
  execFileSync('git', ['checkout', '-q', '.'], { cwd: root() });
  execFileSync('git', ['clean', '-fdq'], { cwd: root() });
};

const rows = (): Promise<Row[]> => visible.treeRows('Generated');
const row = (what: string, is: (row: Row) => boolean, limit?: number): Promise<Row> =>
  waitFor(what, async () => (await rows()).find(is), limit);
const said = (text: RegExp): Promise<string> =>
  waitFor(`a message with ${text}`, async () =>
    (await visible.notifications()).map(({ message }) => message).find((each) => text.test(each)),
  );
const noMessages = (): Thenable<unknown> =>
  vscode.commands.executeCommand('notifications.clearAll');
/** The page of *Show Trajectory* once it has a text. */
async function trajectory(text: string): Promise<string> {
  await vscode.commands.executeCommand('swt-bench.showTrajectory');
  const shown = await waitFor(`a trajectory with "${text}"`, async () =>
    (await visible.webviews()).find((each) => each.includes(text) && each.includes('I add a test')),
  );
  await closeAllEditors();
  return shown;
}
const generate = (method: string): Thenable<unknown> =>
  vscode.commands.executeCommand('swt-bench.generate', {
    method,
    model: 'vscode/swt-test/scripted',
  });

/** Presses Cancel in the notification of a run until the run has ended. */
async function cancel(running: Thenable<unknown>): Promise<void> {
  let isDone = false;
  const end = (): boolean => (isDone = true);
  void running.then(end, end);
  // A click on a row is lost if progress redraws the row at that moment.
  await waitFor('the end of the run', async () => {
    await vscode.commands.executeCommand('notifications.showList');
    const selector = '.notifications-list-container .monaco-button';
    const isOffered = (await visible.texts(selector)).includes('Cancel');
    if (isOffered && !isDone) await hands.click({ selector, text: 'Cancel' });
    return isDone;
  });
  await vscode.commands.executeCommand('notifications.hideList');
}

describe('Generate Reproducing Tests', () => {
  let models: ScriptedModels;

  before(async () => {
    models = await scriptedModels();
    await scriptedModel();
    await clean();
  });
  beforeEach(async () => {
    models.clear();
    await noMessages();
  });
  after(clean);

  it('asks for method and model, and lists what the model has written', async () => {
    models.script(inDiff(patch('covers-some')));
    const done = vscode.commands.executeCommand('swt-bench.generate');
    await waitFor('the methods', async () => {
      const input = await visible.quickInput();
      assert.deepEqual(
        input?.items.map(({ label }) => label),
        [
          ...['ZeroShot', 'ZeroShotPlus', 'Pass@5', 'LIBRO'],
          ...['Surrogate', 'AssertFlip'],
          // The list draws ten rows; the others come with scrolling.
          ...['SWE-Agent', 'SWE-Agent+', 'mini-SWE-agent', 'AutoCodeRover'],
        ],
      );
      return true;
    });
    const [zeroShot] = await visible.texts('.quick-input-list .monaco-list-row');
    assert.match(zeroShot ?? '', /1 request, about 43k tokens/);
    await screenshot('generate-method');
    await inQuickInput.choose('ZeroShot', 'Select a Method');
    await inQuickInput.choose('Scripted', 'Select a Model');
    await done;
    await vscode.commands.executeCommand('swt-bench.generated.focus');
    await row('the run', ({ label, description }) =>
      [label === 'ZeroShot', description === 'scripted · 1 candidate'].every(Boolean),
    );
    const candidate = await row('the candidate', ({ description }) =>
      /^selected · W · fails on R: expected/.test(description),
    );
    assert.equal(candidate.label, 'Candidate 1');
    assert.match(candidate.aria, /Chosen: the only answer/);
    assert.match(candidate.aria, /about \d+ tokens in/, 'VS Code does not tell what was charged');
    await row('its test', ({ label, description }) =>
      [label.endsWith('test_parts_add_up_to_the_amount'), / · failed on R/.test(description)].every(
        Boolean,
      ),
    );
    assert.equal(models.requests.length, 1);
    assert.match(models.requests[0]?.text ?? '', /<issue>/);
    assert.equal(changedFiles(), '', 'nothing is in the workspace before somebody applies it');
    await said(/ZeroShot: candidate 1, the only answer \(about \d+ tokens\)/);
    await screenshot('generate-candidates');
  });

  it('offers an agent with our tools in the chat of versions that have custom agents', async () => {
    const commands = await vscode.commands.getCommands(false);
    const listed = '_listExtensionPromptFiles';
    assert.ok(commands.includes(listed));
    const files = await waitFor('the agent', async () => {
      const found =
        await vscode.commands.executeCommand<
          { readonly uri: { readonly path: string }; readonly type: string }[]
        >(listed);
      return found.some(({ uri }) => uri.path.endsWith('reproduce.agent.md')) ? found : undefined;
    });
    const agent = files.find(({ uri }) => uri.path.endsWith('reproduce.agent.md'));
    assert.equal(agent?.type, 'agent');
  });

  it('keeps what only the developer may know apart, until they ask', async () => {
    const hidden = await row('the row for the developer', ({ label }) =>
      label.startsWith('With the fix'),
    );
    assert.equal(hidden.description, 'transition and ΔC: not shown');
    const before = await rows();
    assert.ok(
      before.every(({ text }) => !/F→P|\/17/.test(text)),
      JSON.stringify(before),
    );
    assert.doesNotMatch(await trajectory('With the fix (hidden from models)'), /F→P|ΔC/);
    await vscode.commands.executeCommand('swt-bench.evaluateCandidate');
    await row('the transition', ({ label }) => label === 'F→P');
    const verdict = await row('the verdict', ({ label }) => label === 'Verdict');
    assert.equal(verdict.description, 'reproduces the issue (F→P)');
    const coverage = await row('ΔC', ({ label }) => label === 'ΔC');
    assert.equal(coverage.description, '71 %  12/17');
    assert.match(await trajectory('success; 1 F→P'), /ΔC 70\.6 %/);
    assert.equal(models.requests.length, 0);
    assert.equal(changedFiles(), '');
    await screenshot('generate-knowledge');
  });

  it('previews a candidate on R, whatever is in the workspace', async () => {
    await vscode.commands.executeCommand('swt-bench.previewGenerated');
    const after = await waitFor('the right side', () =>
      vscode.workspace.textDocuments.find(
        ({ uri }) => uri.authority === 'candidate' && uri.query.startsWith('after'),
      ),
    );
    const left = vscode.workspace.textDocuments.find(
      ({ uri }) => uri.authority === 'candidate' && uri.query.startsWith('before'),
    );
    assert.equal(left?.getText(), await onDisk('tests/test_money.py'));
    assert.match(after.getText(), /def test_parts_add_up_to_the_amount/);
    assert.equal(changedFiles(), '');
    await screenshot('generate-preview');
    await closeAllEditors();
  });

  it('applies one in the place of what was edited, and one Undo brings that back', async () => {
    const uri = vscode.Uri.file(join(root(), 'tests/test_money.py'));
    const saved = (await onDisk('tests/test_money.py')).replace('10.00', '30.00');
    await writeFile(uri.fsPath, saved);
    await writeFile(join(root(), 'tests/test_mine.py'), 'def test_mine():\n    assert False\n');
    const document = await vscode.workspace.openTextDocument(uri);
    await waitFor('the edit on the disk', () => document.getText() === saved);
    const editor = await vscode.window.showTextDocument(document);
    await hands.edit(editor, (edit) => edit.insert(new vscode.Position(0, 0), '# typed\n'));
    const before = document.getText();
    await vscode.commands.executeCommand('swt-bench.applyCandidate');
    await said(/Applied .* and replaced your edits in/);
    assert.match(document.getText(), /def test_parts_add_up_to_the_amount/);
    assert.doesNotMatch(document.getText(), /# typed|30\.00/);
    await assert.rejects(access(join(root(), 'tests/test_mine.py')), 'R does not have it');
    assert.equal(
      execFileSync('git', ['diff', '--stat'], { cwd: root(), encoding: 'utf8' }).match(
        /\d+ file/,
      )?.[0],
      '1 file',
    );
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    await waitFor('what was typed', () => document.getText() === before);
    await waitFor('the file that was new', () =>
      access(join(root(), 'tests/test_mine.py')).then(() => true),
    );
    await document.save();
    await clean();
  });

  it('shows what the model was asked and said as plain text', async () => {
    await vscode.commands.executeCommand('swt-bench.showPromptAndAnswer');
    const document = await waitFor('the document', () => vscode.window.activeTextEditor?.document);
    assert.equal(document.languageId, 'plaintext');
    const text = document.getText();
    assert.match(text, /System[^]*You are an experienced Python developer/);
    assert.match(text, /<issue>[^]*Answer \(vscode\/swt-test\/scripted[^]*I add a test\./);
    // VS Code takes a change of this setting as one of every editor.
    const configuration = vscode.workspace.getConfiguration('files');
    const { Global } = vscode.ConfigurationTarget;
    await configuration.update('readonlyInclude', { '**/nothing': true }, Global);
    await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
    await hands.type('x');
    await waitFor('the refusal of an edit', async () =>
      (await visible.texts('.monaco-editor-overlaymessage')).some((each) =>
        each.includes('read-only'),
      ),
    );
    assert.equal(document.getText(), text);
    await screenshot('prompt-and-answer');
    await configuration.update('readonlyInclude', undefined, Global);
    await closeAllEditors();
  });

  it('asks nothing again that was answered', async () => {
    await generate('zero-shot');
    await said(/no requests, all answers were stored/);
    assert.equal(models.requests.length, 0);
    assert.equal((await rows()).filter(({ level }) => level === 2).length, 1);
  });

  it('goes on where a run was broken off, and the judge sees R alone', async () => {
    let asked = 0;
    models.always(() => {
      asked += 1;
      if (asked === 1) return failing;
      if (asked === 2) return passing;
      if (asked === 3) return 'I cannot.';
      return { text: 'A test', hangs: true };
    });
    const running = generate('libro');
    await row('three answers', ({ label, description }) =>
      [label === 'LIBRO', description.endsWith('3 of 5 answered')].every(Boolean),
    );
    await row('one that is being written', ({ description }) =>
      /being written, \d+ characters/.test(description),
    );
    await screenshot('generate-running');
    await cancel(running);
    await row('the run broken off', ({ description }) =>
      description.endsWith('interrupted, 3 of 5 answered'),
    );
    models.clear();
    models.always(({ text }) =>
      text.includes('<failure>') || (/judge|YES|NO\b/.test(text) && !text.includes('<code>'))
        ? 'YES'
        : longer,
    );
    await vscode.commands.executeCommand('swt-bench.resumeGenerating');
    await row('the run done', ({ label, description }) =>
      [label === 'LIBRO', description.endsWith('5 candidates')].every(Boolean),
    );
    const chosen = await row('the chosen one', ({ description }) =>
      description.startsWith('selected · W'),
    );
    assert.match(chosen.description, /fails on R/);
    const candidates = models.requests.filter(({ text }) => text.includes('custom-diff'));
    assert.equal(candidates.length, 2, 'the two that had no answer');
    const seen = await rows();
    assert.ok(
      seen.some(({ description }) => description.includes('passes on R: does not reproduce')),
      JSON.stringify(seen.map(({ text }) => text)),
    );
    assert.ok(seen.some(({ description }) => description.startsWith('not well-formed')));
    await screenshot('generate-libro');
  });

  it('says what hinders when a model does not answer any more', async () => {
    models.always({ error: { code: 'Blocked', message: 'no quota [left](command:x)' } });
    await generate('zero-shot-plus');
    const message = await said(/stopped answering/);
    assert.match(message, /vscode\/swt-test\/scripted stopped answering \(no quota/);
    await waitFor('nothing of it', async () =>
      (await rows()).every(({ label }) => label !== 'ZeroShotPlus'),
    );
  });

  it('ends a run at its budget, with nothing asked beyond', async () => {
    const settings = vscode.workspace.getConfiguration();
    await settings.update(
      'swt-bench.generate.budget',
      { tokens: 500 },
      vscode.ConfigurationTarget.Global,
    );
    models.always(failing);
    await generate('zero-shot-plus');
    await said(/the budget of 500 tokens is too small/);
    assert.equal(models.requests.length, 0);
    await settings.update(
      'swt-bench.generate.budget',
      undefined,
      vscode.ConfigurationTarget.Global,
    );
  });

  it('forgets a run when it is told to, with its answers', async () => {
    const libro = (): Promise<Row | undefined> =>
      rows().then((all) => all.find(({ label }) => label === 'LIBRO'));
    // A finished run leaves the list, and the rows below move up.
    const first = async (): Promise<string | undefined> =>
      (await rows()).find(({ level }) => level === 2)?.label;
    await waitFor('LIBRO at the top of its section', async () => (await first()) === 'LIBRO');
    await hands.click({ selector: '.monaco-list-row', text: 'LIBRO' });
    await waitFor('it to be selected', async () => (await libro())?.selected);
    const removing = vscode.commands.executeCommand('swt-bench.deleteGenerated');
    await answerDialog('Delete', 'deletes LIBRO', 'delete-dialog');
    await removing;
    await waitFor('the row gone', async () => (await libro()) === undefined);
    models.always(failing);
    await generate('libro');
    await row('five candidates again', ({ label, description }) =>
      [label === 'LIBRO', description.endsWith('5 candidates')].every(Boolean),
    );
    assert.ok(models.requests.length >= 5, 'all of them are asked for again');
  });

  it('does not tell what an oracle says either, and shares answers between methods', async () => {
    await generate('Pass@5');
    await said(/Pass@5: candidate \d, selected by the oracle \(no requests/);
    assert.equal(models.requests.length, 0, 'LIBRO has asked the same');
    const chosen = await row('the chosen one', ({ aria }) =>
      aria.includes('Chosen: selected by the oracle'),
    );
    assert.match(chosen.description, /^selected · W/);
    const seen = JSON.stringify(await rows());
    assert.doesNotMatch(seen, /F→P|calls it a success|calls none a success/);
  });

  it('lets a model call the tools, and shows what it applied', async () => {
    const lines = [
      'import unittest',
      'class OwnTest(unittest.TestCase):',
      '    def test_own(self):',
    ];
    const body = [...lines, "        self.fail('no')"];
    const patch = `--- /dev/null\n+++ b/tests/test_own.py\n@@ -0,0 +1,4 @@\n${body.map((each) => `+${each}\n`).join('')}`;
    models.script(
      { text: 'I look.', calls: [{ name: 'list_files' }, { name: 'no_such_tool' }] },
      { calls: [{ name: 'apply_candidate', input: { patch } }, { name: 'run_tests' }] },
    );
    models.always({ hangs: true });
    const running = generate('tools');
    await row('the first step', ({ label }) => label === 'list_files');
    await row(
      'the steps',
      ({ label, description }) => `${label} ${description}` === 'Steps 4 steps',
    );
    await screenshot('generate-steps');
    await cancel(running);
    await row('what was stopped', ({ label, description }) =>
      [label === 'Tools', description.endsWith('interrupted, 4 steps')].every(Boolean),
    );
    await row('the candidate so far', ({ label, description }) =>
      [label === 'Candidate 1', description.startsWith('W · not run')].every(Boolean),
    );
    models.always('It fails now.');
    await vscode.commands.executeCommand('swt-bench.resumeGenerating');
    await row('the candidate', ({ description }) => /^selected · W · fails on R/.test(description));
    await said(/Tools: candidate 1, the model finished after 3 calls \(about \d+ tokens\)/);
    assert.equal(models.requests.length, 4, 'only the request that was cancelled is sent again');
    const [first, , , last] = models.requests;
    assert.deepEqual(
      first?.tools.map(({ name }) => name),
      tools.map(({ name }) => name).filter((name) => name !== 'read_issue'),
      'the issue is in the prompt',
    );
    assert.match(last?.text ?? '', /There is no tool "no_such_tool"/);
    assert.match(last?.text ?? '', /1 failed[^]*test_own/);
    assert.equal(changedFiles(), '');
    await generate('tools');
    await said(/no requests, all answers were stored/);
    await assert.rejects(
      editorModel(await scriptedModel('scripted-without-tools'), { timeoutSeconds: 20 }).complete(
        { system: '', messages: [], temperature: 0, maxOutputTokens: 9, tools: offer(tools) },
        { reporter: silent },
      ),
      CallsNoTools,
    );
  });

  describe('with a model of the settings', () => {
    const key = 'swt-test-key-0123456789';
    let server: FakeModels;

    before(async () => {
      server = await fakeModels(() => ({ text: inDiff(patch('passes-on-both')) }));
      await vscode.workspace.getConfiguration().update(
        'swt-bench.models',
        [
          {
            model: 'anthropic/claude-test',
            baseUrl: server.url,
            price: { input: 3, output: 15 },
          },
          { model: 'openai-compatible/no-address' },
        ],
        vscode.ConfigurationTarget.Global,
      );
    });
    after(async () => {
      await vscode.workspace
        .getConfiguration()
        .update('swt-bench.models', undefined, vscode.ConfigurationTarget.Global);
      await server.close();
    });

    it('asks for its key, keeps it where it is safe, and tells what it costs', async () => {
      const running = vscode.commands.executeCommand('swt-bench.generate', {
        method: 'ZeroShot',
        model: 'anthropic/claude-test',
      });
      await waitFor('the question', async () =>
        (await visible.quickInput())?.title.startsWith('API Key of anthropic'),
      );
      await inQuickInput.type(key);
      await screenshot('generate-key');
      await inQuickInput.accept();
      await running;
      await said(/ZeroShot: candidate 1, the only answer \(\d+ tokens, \$0\.\d+\)/);
      assert.equal(server.asked[0]?.headers['x-api-key'], key);
      assert.ok(!JSON.stringify(server.asked[0]?.body).includes(key));
      const settings = JSON.stringify(vscode.workspace.getConfiguration('swt-bench'));
      assert.ok(!settings.includes(key), 'the key is in no setting');
      await vscode.commands.executeCommand('swt-bench.showPromptAndAnswer');
      const shown = await waitFor('the answer', () => vscode.window.activeTextEditor?.document);
      assert.ok(!shown.getText().includes(key));
      await row('what came of it', ({ description }) =>
        description.includes('passes on R: does not reproduce'),
      );
    });

    it('forgets the key, and asks again', async () => {
      const forgetting = vscode.commands.executeCommand('swt-bench.manageKeys');
      await waitFor('the keys', async () =>
        (await visible.quickInput())?.items.some(({ label }) => label.startsWith('anthropic')),
      );
      await inQuickInput.choose('anthropic', 'Manage API Keys');
      await inQuickInput.choose('Delete API Key', 'anthropic');
      await answerDialog('Delete', 'API key of anthropic', 'delete-key-dialog');
      await forgetting;
      await said(/Deleted the API key of anthropic/);
      const running = vscode.commands.executeCommand('swt-bench.generate', {
        method: 'ZeroShotPlus',
        model: 'anthropic/claude-test',
      });
      await waitFor('the question', async () =>
        (await visible.quickInput())?.title.startsWith('API Key of anthropic'),
      );
      await inQuickInput.cancel();
      await running;
      await said(/anthropic\/claude-test has no API key/);
    });

    it('adds a model by questions, and tests whether it answers', async () => {
      const running = vscode.commands.executeCommand('swt-bench.generate', { method: 'ZeroShot' });
      await inQuickInput.choose('Add a Model…', 'Select a Model');
      await inQuickInput.choose('openai-compatible', 'Add Model');
      for (const typed of [`${server.url}/v1`, 'm']) {
        await inQuickInput.type(typed);
        await screenshot('add-model');
        await inQuickInput.accept();
      }
      await running;
      await said(/ZeroShot: candidate 1/);
      const added: unknown = vscode.workspace.getConfiguration().get('swt-bench.models');
      assert.ok(Array.isArray(added));
      assert.deepEqual(added.at(-1), {
        model: 'openai-compatible/m',
        baseUrl: `${server.url}/v1`,
      });
      const [tested] = server.asked.filter(({ body }) => JSON.stringify(body).includes('word yes'));
      assert.ok(tested, 'a small request was sent first');
    });

    it('says what is wrong with an entry', async () => {
      await vscode.commands.executeCommand('swt-bench.generate', {
        method: 'ZeroShot',
        model: 'openai-compatible/no-address',
      });
      await said(/entry 2: openai-compatible\/no-address needs a baseUrl/);
    });
  });
});

describe('a model of VS Code', () => {
  let models: ScriptedModels;
  const request = {
    system: 'You write tests.',
    messages: [
      { role: 'user', content: 'A first question' },
      { role: 'assistant', content: 'A first answer' },
      { role: 'user', content: 'A second question' },
    ],
    temperature: 0.7,
    maxOutputTokens: 1000,
  } as const;
  const answer = async (
    options: { timeoutSeconds?: number; maxOutputTokens?: number; signal?: AbortSignal } = {},
    onText?: (piece: string) => void,
  ): Promise<ReturnType<ReturnType<typeof editorModel>['complete']>> =>
    editorModel(await scriptedModel(), { timeoutSeconds: options.timeoutSeconds ?? 30 }).complete(
      { ...request, maxOutputTokens: options.maxOutputTokens ?? 1000 },
      { signal: options.signal, reporter: silent, onText },
    );

  before(async () => {
    models = await scriptedModels();
  });
  beforeEach(() => models.clear());
  after(() => models.clear());

  it('gets the system prompt first, and is heard piece by piece', async () => {
    const text = 'a sentence that is longer than one piece of the stream is';
    models.script(text);
    const pieces: string[] = [];
    const said = await answer({}, (piece) => pieces.push(piece));
    assert.equal(said.text, text);
    assert.ok(pieces.length > 1 && pieces.join('') === text, JSON.stringify(pieces));
    assert.deepEqual(
      models.requests[0]?.messages.map(({ role, parts }) => [
        role,
        parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      ]),
      [
        ['user', 'You write tests.'],
        ['user', 'A first question'],
        ['assistant', 'A first answer'],
        ['user', 'A second question'],
      ],
    );
    assert.equal(said.finish, 'stop');
    assert.equal(said.isEstimate, true);
    assert.equal(said.outputTokens, Math.ceil(text.length / 4), "by the model's own tokenizer");
  });

  it('is cut off where its answer may not be longer', async () => {
    models.script('one two three four five six seven eight nine ten '.repeat(20));
    const said = await answer({ maxOutputTokens: 30 });
    assert.equal(said.finish, 'length');
    assert.ok(said.text.length > 0 && said.text.length < 400);
  });

  it('that does not answer in time has none for this request', async () => {
    models.script({ hangs: true });
    await assert.rejects(answer({ timeoutSeconds: 0.5 }), (error: Error) => {
      assert.ok(error instanceof ModelFailure);
      assert.match(error.message, /vscode\/swt-test\/scripted: no whole answer within 0\.5 s/);
      return true;
    });
    await waitFor('the model told of it', () => models.requests[0]?.cancelled);
  });

  it('is told when it is cancelled', async () => {
    models.script({ text: 'I begin', hangs: true });
    const abort = new AbortController();
    await assert.rejects(
      answer({ signal: abort.signal }, () => abort.abort()),
      Cancelled,
    );
    await waitFor('the model told of it', () => models.requests[0]?.cancelled);
  });

  it('tells errors of one request from those of all', async () => {
    models.script({ error: { code: 'NotFound', message: 'gone' } });
    await assert.rejects(answer(), ModelUnusable);
    models.script({ error: { code: 'NoPermissions', message: 'no' } });
    await assert.rejects(answer(), ModelUnusable);
    models.script({ text: 'half of', error: { message: 'the server is down' } });
    await assert.rejects(answer(), (error: Error) => {
      assert.ok(error instanceof ModelFailure);
      assert.match(error.message, /the server is down/);
      return true;
    });
  });
});
