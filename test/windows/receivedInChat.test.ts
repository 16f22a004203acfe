import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { call } from './calledTools';
import { lostCent, lostCentPath } from '../commandLine/lostCent';
import { hands } from './host/client';
import { scriptedModel, scriptedModels, type ScriptedModels } from './scriptedModels';

/** A test that prints what it finds around it, and guesses lines of both answers. */
const prying = [
  'import os, sys, unittest',
  '',
  'class PryTest(unittest.TestCase):',
  '    def test_pry(self):',
  "        guesses = ['ssol_yb', 'gnihton syap trap on sekat reveohw']",
  "        print([each[::-1] for each in guesses], sorted(os.listdir('..')), sys.path)",
  "        self.fail(sorted(name for name in os.environ if 'RUN' not in name))",
];
const patchOf = (path: string, lines: readonly string[]): string =>
  [
    ...[`--- /dev/null`, `+++ b/${path}`, `@@ -0,0 +1,${lines.length} @@`],
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n');

/** Runs in two windows, whose instances differ in their answers alone; `run.mjs` compares the files. */
describe('what a model receives in the chat and by the tools', () => {
  let models: ScriptedModels;
  const ask = async (query: string): Promise<void> => {
    await vscode.commands.executeCommand('workbench.action.chat.newChat');
    await vscode.commands.executeCommand('workbench.action.chat.open', {
      ...{ query, mode: 'ask', blockOnResponse: true },
      modelSelector: { vendor: 'swt-test', id: 'scripted' },
    });
  };
  before(async () => {
    await vscode.extensions.getExtension('swt-bench.swt-bench')?.activate();
    models = await scriptedModels();
    await scriptedModel();
    await hands.resize(1500, 1000);
  });

  it('is written down for a comparison', async () => {
    const search = (query: string) => ({ name: 'search_code', input: { query, kind: 'text' } });
    models.script(
      { calls: [{ name: 'read_issue' }, search('by_loss'), search('takes no part')] },
      {
        calls: [
          { name: 'apply_candidate', input: { patch: patchOf('tests/test_pry.py', prying) } },
        ],
      },
      { calls: [{ name: 'run_tests' }, { name: 'check_candidate' }] },
      {
        calls: [
          { name: 'read_file', input: { path: '../fixed/tallybook/money.py' } },
          { name: 'run_tests', input: { tests: ['tests'], without_candidate: true } },
        ],
      },
      'Done.',
    );
    await ask('@swt /reproduce the second example');
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const file = vscode.Uri.joinPath(folder.uri, lostCentPath);
    await vscode.workspace.fs.writeFile(file, Buffer.from(lostCent));
    const editor = await vscode.window.showTextDocument(file);
    const place = editor.document.positionAt(editor.document.getText().indexOf('def test_'));
    editor.selection = new vscode.Selection(place, place);
    models.script('It fails for the reason in the issue.');
    await ask('@swt /explain');
    models.script({ calls: [{ name: 'list_candidate_tests' }] }, 'Nothing needs to change.');
    await ask('@swt /improve');
    models.script('It is about the sharing out.');
    await ask('@swt What is the issue about?');
    assert.equal(models.left(), 0);
    const called: string[] = [];
    for (const name of ['read_issue', 'list_candidate_tests', 'run_tests', 'check_candidate']) {
      called.push(await call(name).catch(String));
    }
    const requests = models.requests.map(({ messages, tools }) => ({ messages, tools }));
    assert.ok(requests.length >= 9, `${requests.length} requests`);
    const received = JSON.stringify([requests, called], undefined, 1);
    assert.match(received, /by_loss.*whoever takes no part pays nothing/);
    assert.ok(!received.includes(folder.uri.fsPath), 'places of this machine');
    await writeFile(process.env['SWT_BENCH_RECEIVED'] ?? '', received);
  });
});
