import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  answerDialog,
  answerFileDialog,
  closeAllEditors,
  closeOtherWindows,
  hands,
  inQuickInput,
  type Row,
  screenshot,
  screenshotOfOtherWindow,
  visible,
  waitFor,
} from './host/client';

const scratch = process.env['SWT_BENCH_SCRATCH'] ?? '';
const bundled = 'tallybook__tallybook-217';
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);
const rows = (): Promise<Row[]> => visible.treeRows('Instances');
const row = async (label: string): Promise<Row | undefined> =>
  (await rows()).find((each) => each.label === label);
const text = async (): Promise<string> =>
  (await visible.panes()).find((pane) => pane.title === 'Instances')?.text ?? '';

interface WrittenTriage {
  readonly instances: Readonly<
    Record<string, { readonly tags?: string[]; readonly note?: string }>
  >;
}

const triageFile = async (): Promise<WrittenTriage> =>
  JSON.parse(await readFile(join(scratch, 'triage.json'), 'utf8')) as WrittenTriage;

describe('the Instances view', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
  });

  it('lists the instances by repository with their number, and rows that cannot be used', async () => {
    const shown = await waitFor('repositories', async () => {
      const all = await rows();
      return all.length >= 4 ? all : undefined;
    });
    assert.deepEqual(
      shown.map((each) => [each.label, each.description]),
      [
        ['octo/ledger', '30'],
        ['pond/duck', '1'],
        ['tallybook/tallybook', '1'],
        ['1 row cannot be used', ''],
      ],
    );
    await hands.click({ selector: '.monaco-list-row', text: 'octo/ledger' });
    const first = await waitFor('an instance', () => row('ledger-1'));
    assert.equal(first.description, 'Ledger 1 does not balance');
    await screenshot('instances');
    // Otherwise the last row would be below the visible part of the view.
    await hands.click({ selector: '.monaco-list-row', text: 'octo/ledger' });
    await hands.click({ selector: '.monaco-list-row', text: '1 row cannot be used' });
    await waitFor('the reason', async () => (await text()).includes('is not JSON'));
    await hands.click({ selector: '.monaco-list-row', text: '1 row cannot be used' });
    await hands.click({ selector: '.monaco-list-row', text: 'octo/ledger' });
    await waitFor('the instances again', () => row('ledger-1'));
  });

  it('sorts by date, newest first', async () => {
    const asked = run('sortInstances');
    await inQuickInput.choose('Newest first');
    await asked;
    await waitFor(
      'the newest one at the top',
      async () => (await rows())[1]?.label === 'ledger-30',
    );
    const back = run('sortInstances');
    await inQuickInput.choose('Id');
    await back;
    await waitFor('the old order', async () => (await rows())[1]?.label === 'ledger-1');
  });

  it('filters while it is typed, says what is wrong with a filter, and goes back on Escape', async () => {
    const asked = run('filterInstances');
    await inQuickInput.type('repo:ledger created:2016');
    await waitFor('five of them', async () =>
      /5 of 32: repo:ledger created:2016/.test(await text()),
    );
    await screenshot('instances-filter');
    await hands.type(' colour:red');
    const box = await waitFor('a word on the mistake', async () => {
      const input = await visible.quickInput();
      return input?.message.includes('no filter key colour') === true ? input : undefined;
    });
    assert.match(box.message, /repo:/, 'it names what is allowed');
    await inQuickInput.cancel();
    await asked;
    await waitFor('the whole list', async () => !(await text()).includes('5 of 32'));

    await run('filterInstances', '"duck sink" -repo:octo');
    await waitFor('nothing', async () => (await text()).includes('0 of 32'));
    const labels = await waitFor('what to do', async () => {
      const all = (await rows()).map((each) => each.label);
      return all.includes('Clear Filter') ? all : undefined;
    });
    assert.deepEqual(labels, ['Change Filter…', 'Clear Filter']);
    await run('filterInstances', 'ducks sink -repo:octo');
    await waitFor('one', async () => (await text()).includes('1 of 32'));
    await run('clearInstanceFilter');
  });

  it('finds an instance among all by the first line of its issue', async () => {
    const asked = run('findInstance');
    await inQuickInput.type('Ledger 17');
    await inQuickInput.choose('octo__ledger-17');
    await asked;
    const found = await waitFor('its row', () => row('ledger-17'));
    assert.equal(found.selected, true);
  });

  it('keeps tags in a file that can be read and merged, and filters by them', async () => {
    const asked = run('judgeInstances', { kind: 'instance', id: 'octo__ledger-3' });
    await inQuickInput.choose('Edit Tags…', 'Judge Instances');
    await inQuickInput.type('to discuss');
    await waitFor('the new tag on offer', async () =>
      (await visible.quickInput())?.items.find((item) => item.label.includes('to discuss')),
    );
    await screenshot('tags');
    await inQuickInput.accept();
    await asked;
    await run('filterInstances', 'tag:"to discuss"');
    await waitFor('the tag in the list', async () =>
      (await row('ledger-3'))?.description.includes('#to discuss'),
    );
    assert.match(await text(), /1 of 32/);
    await screenshot('instances-tag');
    await run('clearInstanceFilter');
    await run('judgeInstances', 'octo__ledger-3', { note: 'Says nothing of the currency' });
    const { instances } = await triageFile();
    assert.deepEqual(instances['octo__ledger-3'], {
      tags: ['to discuss'],
      note: 'Says nothing of the currency',
    });
  });

  it('takes several tags with commas between them', async () => {
    const asked = run('judgeInstances', { kind: 'instance', id: 'octo__ledger-2' });
    await inQuickInput.choose('Edit Tags…', 'Judge Instances');
    await inQuickInput.type('later, to discuss');
    await waitFor('the new tag on offer', async () =>
      (await visible.quickInput())?.items.some(({ label }) => label === 'later'),
    );
    await inQuickInput.accept();
    await asked;
    const { instances } = await triageFile();
    assert.deepEqual(instances['octo__ledger-2']?.tags, ['later', 'to discuss']);
  });

  it('shows tags first in the rows of the whole list', async () => {
    await hands.click({ selector: '.monaco-list-row', text: 'octo/ledger' });
    const tagged = await waitFor('both rows', async () => {
      const found = await Promise.all([row('ledger-2'), row('ledger-3')]);
      return found.every((each) => each !== undefined) ? found : undefined;
    });
    assert.deepEqual(
      tagged.map((each) => each?.description),
      [
        '#later · #to discuss · Ledger 2 does not balance',
        '#to discuss · Ledger 3 does not balance',
      ],
    );
    await screenshot('instances-tags');
    await hands.click({ selector: '.monaco-list-row', text: 'octo/ledger' });
  });

  it('says which instance is not validated since R cannot be had, and offers a folder', async () => {
    const settings = vscode.workspace.getConfiguration('swt-bench');
    const sources = settings.get('repositorySources');
    const { Global } = vscode.ConfigurationTarget;
    await settings.update('repositorySources', { '*': join(scratch, 'nowhere') }, Global);
    const asked = run('validateInstances', 'octo__ledger-12');
    const said = await waitFor('the offer', async () =>
      (await visible.notifications()).find(({ buttons }) =>
        buttons.includes('Choose Repository Folder…'),
      ),
    );
    assert.equal(
      said.message,
      `The source ${join(scratch, 'nowhere')} of octo/ledger does not exist. ` +
        'Select a local clone or source release.',
    );
    await run('filterInstances', 'repo:octo created:2017');
    const listed = await waitFor('the row', async () => {
      const found = await row('ledger-12');
      return found?.description.includes('not validated') === true ? found : undefined;
    });
    assert.equal(
      listed.description,
      'not validated: source not available · Ledger 12 does not balance',
    );
    await vscode.commands.executeCommand('notifications.showList');
    await screenshot('instances-not-validated');
    await vscode.commands.executeCommand('notifications.hideList');
    await hands.hover({ selector: '.monaco-list-row', text: 'ledger-12' });
    await waitFor('the hover', () => visible.hovers());
    await screenshot('instances-not-validated-hover');
    await vscode.commands.executeCommand('notifications.clearAll');
    await asked;
    await settings.update('repositorySources', sources, Global);
    await run('clearInstanceFilter');
  });

  it('asks which instances to validate in the menu of the view', async () => {
    await vscode.commands.executeCommand('swt-bench.instances.focus');
    const more = '.pane-header a.action-label[aria-label^="More Actions"]';
    // VS Code closes the menu when it draws the buttons again, and the menu is out of reach of queries.
    await waitFor('the menu', async () => {
      await hands.click({ selector: more });
      await screenshot('instances-menu');
      const selector = '.monaco-menu .action-label';
      await hands.click({ selector, text: 'Validate Instances…', timeout: 5000 });
      return true;
    });
    const input = await waitFor('the question', () => visible.quickInput());
    assert.deepEqual(input.items.at(-1), {
      label: '32 instances',
      description: 'all in the Instances view',
    });
    await screenshot('instances-validate-listed');
    await inQuickInput.cancel();
  });

  it('judges one instance after the other, by a line for each', async () => {
    const judged = run('judgeInstances', 'octo__ledger-6');
    const about = (id: string): Promise<unknown> =>
      waitFor(`the turn of ${id}`, async () => {
        const input = await visible.quickInput();
        return input?.title.includes(`${id} `) === true && input.value === '' ? input : undefined;
      });
    const first = async (): Promise<string> => (await visible.quickInput())?.items[0]?.label ?? '';
    await about('octo__ledger-6');
    await waitFor('the issue', async () =>
      (await visible.webviews()).some((each) => each.includes('Ledger 6 does not balance')),
    );
    await hands.type('2 no currency, no date');
    await waitFor('what Enter does', async () => (await first()).includes('#unsound'));
    await screenshot('judge');
    await hands.press('Enter');
    await about('octo__ledger-7');
    await hands.type('so');
    await waitFor('what Enter does', async () => (await first()).includes('#sound'));
    await hands.press('Enter');
    await about('octo__ledger-8');
    await hands.press('Enter');
    await about('octo__ledger-9');
    await waitFor('its issue alone', async () => {
      const labels = (await visible.tabs()).map(({ label }) => label);
      return labels.join() === 'Issue of octo__ledger-9';
    });
    // A line that is gone back to is replaced by what is typed.
    await vscode.commands.executeCommand('workbench.action.quickInputBack');
    await about('octo__ledger-8');
    await vscode.commands.executeCommand('workbench.action.quickInputBack');
    await waitFor('the earlier line', async () => {
      const input = await visible.quickInput();
      return input?.title.includes('octo__ledger-7 ') === true && input.value === 'sound';
    });
    await screenshot('judge-back');
    await inQuickInput.type('2 none either');
    await waitFor('what Enter does', async () =>
      (await first()).includes('#unsound · none either'),
    );
    await inQuickInput.accept();
    await about('octo__ledger-8');
    await hands.press('Escape');
    await judged;
    const { instances } = await triageFile();
    assert.deepEqual(
      ['6', '7', '8'].map((number) => instances[`octo__ledger-${number}`]),
      [
        { tags: ['unsound'], note: 'no currency, no date' },
        { tags: ['unsound'], note: 'none either' },
        undefined,
      ],
    );
    await closeAllEditors();
  });

  it('narrows the list to the ids of a filter list, and exports one', async () => {
    const path = join(scratch, 'mine.txt');
    await writeFile(path, '# mine\nocto__ledger-7\npond__duck-9\n');
    await run('useFilterList', path);
    await waitFor('two of them', async () => (await text()).includes('2 of 32'));
    await run('filterInstances', 'ducks');
    await waitFor('both at once', async () => (await text()).includes('1 of 32'));
    const to = join(scratch, 'exported.txt');
    const asked = run('exportList');
    await inQuickInput.choose('Filter List', 'Export List of Instances');
    await answerFileDialog(to);
    await asked;
    const exported = await readFile(to, 'utf8');
    assert.match(exported, /^# 1 instance of .*instances\.jsonl.*\npond__duck-9\n$/);
    await vscode.commands.executeCommand('notifications.clearAll');
    await run('clearInstanceFilter');
    await waitFor('the whole list', async () => !(await text()).includes(' of 32'));
  });

  it('classifies an issue as the Agentless paper does, by quick picks', async () => {
    const asked = run('judgeInstances', { kind: 'instance', id: 'octo__ledger-4' });
    await inQuickInput.choose('Classify Issue…', 'Judge Instances');
    await inQuickInput.choose('reproducible failure example');
    await inQuickInput.choose('misleading solution or steps');
    await inQuickInput.choose('not provided');
    await inQuickInput.choose('related keywords to search for');
    await inQuickInput.choose('exact location in natural language');
    await asked;
    await run('filterInstances', 'solution:misleading description:reproducible');
    await waitFor('it alone', async () => (await text()).includes('1 of 32'));
    await run('clearInstanceFilter');
    const to = join(scratch, 'triage.csv');
    await run('exportList', { what: 'triage', to: vscode.Uri.file(to) });
    const csv = await readFile(to, 'utf8');
    assert.match(csv, /octo__ledger-4,.*,reproducible,misleading,none,keywords,natural-language/);
    assert.match(csv, /octo__ledger-3,.*to discuss.*Says nothing of the currency/);
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('shows the issue of an instance that is not open, without what it must not run or give away', async () => {
    await run('showIssue', 'pond__duck-9');
    const shown = await waitFor('the issue', async () =>
      (await visible.webviews()).find((each) => each.includes('Ducks sink')),
    );
    assert.match(shown, /Bold .* and code/);
    assert.match(shown, /are hidden/);
    assert.match(shown, /<script>window\.broken/, 'what is no markdown is text');
    assert.doesNotMatch(shown, /def test_duck/);
    await screenshot('issue-of-list');
  });

  it('reveals golden patch, tests and hints when asked to, and hides them again', async () => {
    const asked = run('reveal', 'pond__duck-9');
    await answerDialog('Show Fix');
    await asked;
    await waitFor('the heading', async () =>
      (await visible.webviews()).find((each) => each.includes('Golden tests (T*)')),
    );
    await waitFor('the section to unfold', async () => {
      await hands.clickInWebview('Golden tests (T*)');
      return true;
    });
    await waitFor('the golden tests', async () =>
      (await visible.webviews()).find((each) => each.includes('def test_duck')),
    );
    await screenshot('issue-revealed');
    await run('hideGoldenPatch', 'pond__duck-9');
    await waitFor('nothing of them', async () =>
      (await visible.webviews()).every((each) => !each.includes('Golden tests (T*)')),
    );
  });

  it('validates: a sound instance is valid, an unsound one says why', async () => {
    await run('validateInstances', 'pond__duck-9');
    await run('filterInstances', 'status:invalid');
    const unsound = await waitFor('the row', () => row('duck-9'));
    assert.match(unsound.description, /invalid: golden fails after the fix/);
    await run('validateInstances', bundled);
    await run('filterInstances', 'status:valid');
    const sound = await waitFor('the row', () => row('tallybook-217'));
    assert.match(sound.description, /^valid/);
    await screenshot('instances-validated');
    await run('filterInstances', '-created:2016..2020');
    await run('showIssue', bundled);
    await waitFor('the issue', async () =>
      (await visible.webviews()).find((each) => each.includes('out of balance')),
    );
    await waitFor('the rows', () => row('tallybook-217'));
    await screenshot('instances-and-issue', { width: 1400, height: 820 });
    await hands.resize(1500, 1000);
    await run('clearInstanceFilter');
  });

  it('shows the statistics of the listed instances with their denominators', async () => {
    await run('showStatistics');
    const table = await waitFor('the table', async () =>
      (await visible.webviews()).find((each) => each.includes('# Words')),
    );
    assert.match(table, /# Words\s[^#]*32 of 32/);
    await screenshot('statistics');
    // Nothing asks to be saved. No page of an issue is left to take the focus as it appears again,
    // which closes a list that is open by then.
    await closeAllEditors();
    assert.equal(vscode.window.activeTextEditor, undefined);
  });

  it('opens an instance as a workspace whose title names it, with the issue beside', async () => {
    await run('filterInstances', 'repo:octo');
    const sorted = run('sortInstances');
    await inQuickInput.choose('Newest first');
    await sorted;
    await run('showIssue', 'octo__ledger-5');
    await waitFor('a button that opens it', async () =>
      (await visible.webviews()).some((each) => each.includes('Open Instance')),
    );
    await run('openInstanceInNewWindow', 'octo__ledger-5');
    const opened = await waitFor(
      'the new window with the issue',
      async () =>
        (await visible.otherWindows()).find(
          (each) =>
            each.title.includes('octo__ledger-5') &&
            each.text.includes('Ledger 5 does not balance'),
        ),
      240_000,
    );
    assert.match(opened.text, /no candidate yet/);
    // The list there is as narrow as here, and in the same order.
    await hands.commandInOtherWindow('SWT-Bench: Focus on Instances View');
    await waitFor('filter and order', async () =>
      (await visible.otherWindows()).find((each) =>
        /of 32: repo:octo.*octo\/ledger.*ledger-30.*ledger-29/s.test(each.text),
      ),
    );
    await screenshotOfOtherWindow('opened-instance');
    await closeOtherWindows();
    const back = run('sortInstances');
    await inQuickInput.choose('Id');
    await back;
    await run('refresh');
    await run('filterInstances', 'status:opened');
    await waitFor('its status', async () => (await text()).includes('1 of 32'));
    await run('clearInstanceFilter');
  });

  it('shows what is on disk by instance, and frees it', async () => {
    const asked = run('freeDiskSpace');
    const pick = await waitFor('the sizes', async () => {
      const input = await visible.quickInput();
      return input?.items.some((item) => item.label.includes('octo__ledger-5')) === true
        ? input
        : undefined;
    });
    assert.match(
      pick.items.find((item) => item.label.includes('octo__ledger-5'))?.description ?? '',
      /\d (kB|MB)/,
    );
    await screenshot('disk');
    await inQuickInput.choose('octo__ledger-5');
    await inQuickInput.accept();
    await asked;
    await run('filterInstances', 'status:opened');
    await waitFor('nothing ready', async () => (await text()).includes('0 of 32'));
    await run('clearInstanceFilter');
  });

  it('says why a dataset cannot be read, and what to do', async () => {
    const missing = join(scratch, 'gone.jsonl');
    const settings = vscode.workspace.getConfiguration('swt-bench');
    await settings.update('dataset', missing, vscode.ConfigurationTarget.Global);
    await waitFor('the reason', async () => (await text()).includes('gone.jsonl'));
    const labels = await waitFor('what to do', async () => {
      const all = (await rows()).map((each) => each.label);
      return all.includes('Try Again') ? all : undefined;
    });
    assert.deepEqual(labels, ['Try Again', 'Choose Another Dataset…']);
    await screenshot('instances-failed');
  });
});
