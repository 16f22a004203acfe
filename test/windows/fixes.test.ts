import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { agentlessAnswer, agentlessVectors, stageOf } from '../commandLine/agentlessScript';
import { fakeModels, type FakeModels } from '../commandLine/fakeModels';
import {
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
const { patch: goldenPatch } = JSON.parse(readFileSync(join(sample, 'instance.jsonl'), 'utf8')) as {
  readonly patch: string;
};
const inDiff = (patch: string): string => `A fix.\n\n\`\`\`diff\n${patch}\`\`\`\n`;
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);
const propose = (): Thenable<unknown> =>
  run('proposeFixes', { method: 'rag', model: 'vscode/swt-test/scripted' });
const row = (what: string, is: (row: Row) => boolean): Promise<Row> =>
  waitFor(what, async () => (await visible.treeRows('Generated')).find(is));
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
  });

  it('offers the methods, and shows the fix that the model proposes, as a diff', async () => {
    models.script(inDiff(goldenPatch));
    await propose();
    await run('generated.focus');
    await row('the run', ({ label, description }) => label === 'RAG' && /1 fix$/.test(description));
    const [asked] = models.requests;
    assert.ok(asked);
    assert.ok(asked.text.includes('tallybook/money.py'));
    assert.match(goldenPatch, /by_loss/);
    assert.doesNotMatch(asked.text, /by_loss|tallybook-217/, 'nothing of X*');
    await run('previewGenerated');
    await waitFor('the diff', async () =>
      (await visible.tabs()).some(({ label }) => /Fix 1 of RAG on R/.test(label)),
    );
    await screenshot('fixes-preview');
  });

  it('runs the tests of the author on R with the fix', async () => {
    await run('runTestsOnFixes');
    const fix = await row('the result', ({ label, description }) =>
      [label === 'Fix 1', /of your tests pass/.test(description)].every(Boolean),
    );
    const [, passing, all] = /^(\d+) of (\d+) of your tests pass/.exec(fix.description) ?? [];
    assert.ok(Number(all) > 0 && passing === all, fix.description);
    await row('a test', ({ description }) =>
      description.endsWith(' · with the fix: passes; on R: fails'),
    );
    await screenshot('fixes-tests');
  });

  describe('with Agentless', () => {
    let server: FakeModels;
    const model = 'openai-compatible/m';
    const configuration = join(tmpdir(), `swt-fixes-${process.pid}.yaml`);
    const set = (key: string, value: unknown): Thenable<void> =>
      vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
    const settings: Readonly<Record<string, unknown>> = {
      'swt-bench.runModelTestsLocally': true,
      'swt-bench.configurationFile': configuration,
    };
    /** Of the last run, once it has ended. */
    const fixesOf = (description: RegExp): Promise<Row> =>
      row('the fixes of Agentless', (each) =>
        [
          each.label === 'Agentless' && each.icons.some((icon) => icon.includes('wrench')),
          description.test(each.description),
        ].every(Boolean),
      );

    before(async () => {
      server = await fakeModels((asked) => ({ text: agentlessAnswer(asked, 0) }), agentlessVectors);
      // YAML has JSON in it.
      const file = {
        models: { [model]: { baseUrl: server.url } },
        prices: { [model]: { input: 2.5, output: 10 } },
        agentless: { locationSamples: 1, repairSamples: 2, reproductionSamples: 1 },
      };
      await writeFile(configuration, JSON.stringify(file));
      for (const [key, value] of Object.entries(settings)) await set(key, value);
      // Makes room for the stages.
      await hands.click({ selector: '.pane-header', text: 'Change Coverage' });
      await run('generated.focus');
    });
    after(async () => {
      const keys = Object.keys(settings);
      for (const key of [...keys, 'swt-bench.repair.embedding']) await set(key, undefined);
      await server.close();
    });

    it('takes model, price and numbers from the configuration file, and says that retrieval is skipped', async () => {
      await run('proposeFixes', { method: 'agentless', model });
      await fixesOf(/^m · 2 fixes$/);
      const asked = server.asked.map(stageOf);
      const count = (stage: string): number => asked.filter((each) => each === stage).length;
      assert.deepEqual([count('locations'), count('repair'), count('reproduction')], [1, 2, 1]);
      assert.equal(server.embedded.length, 0);
      // They are open while the run goes on, and fold at its end.
      await waitFor('open stages', async () => {
        const stages = await row('the stages', ({ label }) => /^\d+ stages?$/.test(label));
        if (stages.expanded === true) return true;
        await hands.click({ selector: '.monaco-list-row', text: stages.label });
        return false;
      });
      const skipped = 'skipped: no embedding model is set';
      await row('the stage', ({ label, description }) =>
        [label === 'retrieval', description === skipped].every(Boolean),
      );
      await screenshot('fixes-without-retrieval');
      await hands.click({ selector: '.monaco-list-row', text: skipped });
      // In a window of a server, the setting itself stands on another page than the first.
      await waitFor('a search for the setting', async () =>
        (await visible.texts('.settings-header')).some((text) =>
          text.includes('swt-bench.repair.embedding'),
        ),
      );
      await screenshot('fixes-setting');
      await closeAllEditors();
    });

    it('names the line of a fault in the file, and runs nothing until it is corrected', async () => {
      const before = server.asked.length;
      const sound = await readFile(configuration, 'utf8');
      await writeFile(configuration, 'agentless:\n  repairSample: 2\n');
      // The file is read again when a setting names it anew.
      for (const each of [undefined, configuration]) await set('swt-bench.configurationFile', each);
      await run('proposeFixes', { method: 'agentless', model });
      await waitFor('the fault', async () =>
        (await visible.notifications()).some(({ message }) =>
          message.includes('.yaml:2: agentless.repairSample is not a key'),
        ),
      );
      assert.equal(server.asked.length, before);
      await writeFile(configuration, sound);
      for (const each of [undefined, configuration]) await set('swt-bench.configurationFile', each);
    });

    it('retrieves with the embedding model that is set, and tells what that costs', async () => {
      await set('swt-bench.repair.embedding', { model: 'openai-compatible/e' });
      const asking = run('proposeFixes');
      await waitFor('the methods', async () =>
        (await visible.texts('.quick-input-list .monaco-list-row')).some((text) =>
          /embeddings of up to \d+k tokens with openai-compatible\/e/.test(text),
        ),
      );
      await screenshot('fixes-costs');
      await inQuickInput.choose('Agentless', 'Select a Method');
      await inQuickInput.choose(model, 'Select a Model');
      await asking;
      await waitFor('both runs', async () => {
        const rows = await visible.treeRows('Generated');
        return rows.filter(({ label }) => label === 'Agentless').length === 2;
      });
      await fixesOf(/2 fixes$/);
      assert.ok(server.embedded.length > 0);
      const texts = [...server.embedded.flat(), ...server.asked.map(({ text }) => text)];
      assert.ok(texts.some((text) => text.includes('def allocate')));
      for (const text of texts) assert.doesNotMatch(text, /by_loss|tallybook-217/, 'nothing of X*');
    });

    it('runs the tests of the author on every fix', async () => {
      await run('runTestsOnFixes');
      await fixesOf(/2 fixes · all your tests pass with \d of 2$/);
      const found = (await visible.treeRows('Generated')).filter(({ label }) =>
        /^Fix \d/.test(label),
      );
      assert.ok(found.length > 0);
      for (const { description } of found) {
        assert.match(description, /^\d+ of \d+ of your tests pass/);
      }
      await row('a test that fails with a fix', ({ description }) =>
        description.includes('with the fix: fails'),
      );
      await screenshot('fixes-tests-on-all');
    });
  });

  it('says that results are about earlier tests once the tests change', async () => {
    const path = join(root(), 'tests', 'test_more.py');
    await writeFile(path, 'import unittest\n');
    const document = await vscode.workspace.openTextDocument(path);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), '\nX = 1\n'));
    await document.save();
    await row('the fix with an earlier result', ({ label, description }) =>
      [label === 'Fix 1', /^out of date, run again · was \d+ of \d+/.test(description)].every(
        Boolean,
      ),
    );
    await screenshot('fixes-tests-edited');
  });
});
