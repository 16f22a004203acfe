import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import {
  answerDialog,
  closeAllEditors,
  type Editor,
  hands,
  inQuickInput,
  screenshot,
  visible,
  waitFor,
} from '../host/client';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';
const scratch = process.env['SWT_BENCH_SCRATCH'] ?? '';
const folder = (): vscode.WorkspaceFolder => {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found);
  return found;
};
const fileUri = (path: string): vscode.Uri => vscode.Uri.joinPath(folder().uri, path);
const sideUri = (side: string, path: string): vscode.Uri =>
  vscode.Uri.from({ scheme: 'swt-bench', authority: side, path: `/${path}` });
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);

/** A changed line in the form of `evaluate --json`. */
interface Line {
  readonly path: string;
  readonly line: number;
  readonly change: 'removed' | 'added';
  readonly state: string;
  readonly counts: { readonly base: number; readonly candidate: number; readonly golden: number };
  readonly covered_by: readonly string[];
}

/** Changed lines of each bundled candidate, from the command line. */
async function evaluateAll(): Promise<ReadonlyMap<string, readonly Line[]>> {
  const extension = vscode.extensions.getExtension('swt-bench.swt-bench');
  assert.ok(extension);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      join(extension.extensionPath, 'dist', 'cli.js'),
      ...['evaluate', '--dataset', join(sample, 'instance.jsonl')],
      ...['--source', join(sample, 'repository'), '--storage', join(scratch, 'storage-cli')],
      ...['--predictions', join(sample, 'predictions.jsonl'), '--json'],
    ],
    { env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' }, maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: unknown) => {
    // Status 1: some candidates do not succeed.
    if (error instanceof Error && 'stdout' in error) return { stdout: String(error.stdout) };
    throw error;
  });
  const { results } = JSON.parse(stdout) as {
    results: {
      model_name_or_path: string;
      strict: { change_coverage: { lines: Line[] } | null } | null;
    }[];
  };
  return new Map(
    results.map((each) => [each.model_name_or_path, each.strict?.change_coverage?.lines ?? []]),
  );
}

const statusText = async (): Promise<string> =>
  (await visible.statusBar()).find((item) => item.id.endsWith('swt-bench.verdict'))?.text ?? '';

/** Applies a bundled candidate and runs it; resolves when the window shows its verdict. */
async function evaluate(name: string): Promise<void> {
  await run('applyBundledCandidate', name);
  await run('reproduce');
  await waitFor(`a verdict on ${name}`, async () => {
    const text = await statusText();
    return /ΔC/.test(text) && !/out of date|running/.test(text);
  });
}

/** Answers the question before the golden patch is shown. */
async function reveal(): Promise<void> {
  const asked = run('reveal');
  await answerDialog('Show Fix');
  await asked;
}

/** Maps `…/newly-covered-dark.svg` to `newly covered`; undefined for another icon. */
function stateOfIcon(icon: string): string | undefined {
  const name = /([a-z-]+)-(light|dark)\.svg/.exec(icon)?.[1]?.replace('-', ' ');
  return name !== undefined && /covered|missed|executable/.test(name) ? name : undefined;
}

/** States in the gutter of an editor by line. */
const statesIn = ({ gutter }: Editor): Record<string, string> =>
  Object.fromEntries(
    gutter.flatMap(({ line, icon }) => {
      const state = stateOfIcon(icon);
      return state === undefined ? [] : [[String(line), state]];
    }),
  );

const statesOf = (lines: readonly Line[], change: string, path: string): Record<string, string> =>
  Object.fromEntries(
    lines
      .filter((each) => each.change === change && each.path === path)
      .map((each) => [String(each.line), each.state]),
  );

/** Compares by path, since files have remote addresses where VS Code runs in a browser. */
const isOf = (shown: { readonly uri: string }, uri: vscode.Uri): boolean =>
  uri.scheme === 'file'
    ? vscode.Uri.parse(shown.uri).path === uri.path &&
      vscode.Uri.parse(shown.uri).scheme !== 'swt-bench'
    : shown.uri === uri.toString();

const editorOf = async (uri: vscode.Uri): Promise<Editor> => {
  const found = (await visible.editors()).find((each) => isOf(each, uri));
  assert.ok(found, `no editor shows ${uri.toString()}`);
  return found;
};

const textOf = (hovers: readonly vscode.Hover[]): string =>
  hovers
    .flatMap(({ contents }) => contents)
    .map((each) => (typeof each === 'string' ? each : each.value))
    .join('\n')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('\\', '');

async function hoverAt(uri: vscode.Uri, line: number): Promise<string> {
  const document = await vscode.workspace.openTextDocument(uri);
  const at = document.lineAt(line - 1).firstNonWhitespaceCharacterIndex;
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    uri,
    new vscode.Position(line - 1, at),
  );
  return textOf(hovers);
}

const paths = ['tallybook/money.py', 'tallybook/expense.py'];

const setSetting = (section: string, key: string, value: unknown): Thenable<void> =>
  vscode.workspace.getConfiguration(section).update(key, value, vscode.ConfigurationTarget.Global);
const setTheme = (name: string): Thenable<void> => setSetting('workbench', 'colorTheme', name);
/** Whether a diff in a narrow window shows one side only, which is VS Code's default. */
const mayBeInline = (may: boolean): Thenable<void> =>
  setSetting('diffEditor', 'useInlineViewWhenSpaceIsLimited', may);

describe('change coverage in VS Code', () => {
  let lines: ReadonlyMap<string, readonly Line[]>;

  before(async function () {
    this.timeout(180_000);
    await run('hideGoldenPatch');
    await closeAllEditors();
    lines = await evaluateAll();
    await mayBeInline(true);
  });

  after(async () => {
    await mayBeInline(false);
    await setTheme('Default Dark Modern');
    await hands.resize(1500, 1000);
    await run('hideGoldenPatch');
    await closeAllEditors();
  });

  it('hides the lines until the golden patch is revealed', async () => {
    await evaluate('covers-some');
    await vscode.commands.executeCommand('swt-bench.changeCoverage.focus');
    await waitFor('what the view says', async () =>
      (await visible.panes()).find(
        (each) => each.title === 'Change Coverage' && each.welcome.includes('hidden'),
      ),
    );
    assert.deepEqual(await visible.treeRows('Change Coverage'), []);
    assert.equal(
      await hoverAt(fileUri('tallybook/money.py'), 50).then((t) => /missed|covered/.test(t)),
      false,
    );
  });

  it('shows the golden patch as one diff of all its files', async () => {
    await reveal();
    await hands.resize(1500, 1500);
    await run('showChangeCoverage');
    const tab = await waitFor('one tab', async () =>
      (await visible.tabs()).find((each) => each.active && each.label.includes('R ↔ R∘X*')),
    );
    assert.match(tab.label, /tallybook__tallybook-217/);
    await waitFor('both files, both sides', async () => {
      const shown = (await visible.editors()).map((each) => each.uri);
      return paths.every((path) =>
        ['base', 'fixed'].every((side) => shown.includes(sideUri(side, path).toString())),
      );
    });
    await run('showChangeCoverage');
    assert.equal((await visible.tabs()).filter((each) => each.label === tab.label).length, 1);
  });

  it('tells of every line what the command line tells, for every candidate', async function () {
    this.timeout(240_000);
    // A candidate that cannot be applied, or run without pytest, has no lines of its own.
    const candidates = [...lines].filter(
      ([name, wanted]) => name !== 'does-not-apply' && wanted.length > 0,
    );
    const missing = [...lines.keys()].filter((name) => !candidates.some(([of]) => of === name));
    assert.deepEqual(
      missing.filter((name) => name !== 'pytest-style'),
      ['does-not-apply'],
    );
    for (const [name, wanted] of candidates) {
      await evaluate(name);
      await run('showChangeCoverage');
      for (const path of paths) {
        for (const [side, change] of [
          ['base', 'removed'],
          ['fixed', 'added'],
        ] as const) {
          await waitFor(`gutter of ${path} on ${side} for ${name}`, async () => {
            const shown = statesIn(await editorOf(sideUri(side, path)));
            assert.deepEqual(shown, statesOf(wanted, change, path));
            return true;
          });
        }
      }
      for (const { path, line, change, state, counts, covered_by } of wanted) {
        const uri = sideUri(change === 'removed' ? 'base' : 'fixed', path);
        const hover = await hoverAt(uri, line);
        if (
          hover === '' &&
          (await vscode.workspace.openTextDocument(uri)).lineAt(line - 1).isEmptyOrWhitespace
        )
          continue;
        const { base, candidate, golden } = counts;
        const told = `${base} by existing tests, ${candidate} in your test files, ${golden} in the golden test files`;
        assert.ok(hover.includes(state), `${name}, ${path}:${line}: ${hover}`);
        assert.ok(hover.includes(told), `${name}, ${path}:${line}: ${hover}`);
        for (const test of covered_by) assert.ok(hover.includes(test), `${name}: ${hover}`);
      }
    }
  });

  it('shows all four states', async () => {
    await evaluate('covers-some');
    await run('showChangeCoverage');
    await waitFor('the gutters', async () => {
      const shown = await Promise.all(
        paths.flatMap((path) =>
          ['base', 'fixed'].map(async (side) => statesIn(await editorOf(sideUri(side, path)))),
        ),
      );
      return new Set(shown.flatMap((each) => Object.values(each))).size === 4;
    });
  });

  for (const [theme, name] of [
    ['dark', 'Default Dark Modern'],
    ['light', 'Default Light Modern'],
    ['high-contrast', 'Default High Contrast'],
    ['high-contrast-light', 'Default High Contrast Light'],
  ] as const) {
    it(`has icons for ${name}`, async () => {
      await setTheme(name);
      await hands.resize(1500, 1050);
      await waitFor(`icons for ${name}`, async () => {
        const { gutter } = await editorOf(sideUri('fixed', 'tallybook/money.py'));
        const icons = gutter.filter(({ icon }) => stateOfIcon(icon) !== undefined);
        const wanted = theme.endsWith('light') ? '-light.svg' : '-dark.svg';
        return icons.length > 0 && icons.every(({ icon }) => icon.endsWith(wanted));
      });
      await screenshot(`coverage-wide-${theme}`);
      await screenshot(`coverage-narrow-${theme}`, { width: 900, height: 1050 });
    });
  }

  it('tells the removed lines where a diff has no room for two sides', async () => {
    await setTheme('Default Dark Modern');
    const path = 'tallybook/money.py';
    await vscode.commands.executeCommand(
      'vscode.diff',
      sideUri('base', path),
      sideUri('fixed', path),
      path,
      { viewColumn: vscode.ViewColumn.Two },
    );
    await hands.resize(1200, 1500);
    await waitFor(
      'one side only',
      async () =>
        (await visible.texts('.monaco-diff-editor')).length > 0 &&
        (await visible.texts('.monaco-diff-editor.side-by-side')).length === 0,
    );
    const notes = await waitFor('the removed lines', async () =>
      (await editorOf(sideUri('fixed', path))).lines
        .flatMap(({ after }) => after)
        .filter((text) => text.startsWith('− R:')),
    );
    const told = notes.map((text) => text.replace('− R: ', '')).join(' · ');
    const removed = (lines.get('covers-some') ?? []).filter(
      (each) => each.change === 'removed' && each.path === path && each.state !== 'not executable',
    );
    assert.ok(removed.length > 0);
    for (const { line, state } of removed) {
      const part = told
        .split(' · ')
        .find((each) =>
          [...each.matchAll(/(\d+)(?:–(\d+))?/g)].some(
            ([, from, to]) => Number(from) <= line && line <= Number(to ?? from),
          ),
        );
      const symbol = state === 'missed' ? '✗' : state === 'newly covered' ? '✓' : '=';
      assert.ok(part?.includes(symbol), `line ${line} in ${told}`);
    }
    await screenshot('coverage-inline-one-file');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await hands.resize(1500, 1500);
  });

  it('shows the states in the files of R, where they follow edits and leave breakpoints alone', async () => {
    const wanted = statesOf(lines.get('covers-some') ?? [], 'removed', 'tallybook/money.py');
    const uri = fileUri('tallybook/money.py');
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, { preview: false });
    const shows = (what: string, states: Record<string, string>): Promise<unknown> =>
      waitFor(what, async () => {
        assert.deepEqual(statesIn(await editorOf(uri)), states);
        return true;
      });
    await shows('the states', wanted);
    const added = (await visible.decorationsAfter()).filter((each) => isOf(each, uri));
    assert.ok(
      added.some((each) => each.text.includes('R∘X*')),
      JSON.stringify(added),
    );

    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(0, 0), '# above\n# and above\n'),
    );
    const moved = Object.fromEntries(
      Object.entries(wanted).map(([line, state]) => [String(Number(line) + 2), state]),
    );
    await shows('the states two lines further down', moved);

    // A rewritten line of R no longer belongs to R.
    const [first, ...rest] = Object.keys(moved).map(Number);
    assert.ok(first !== undefined && rest.length > 0);
    await hands.edit(editor, (edit) => edit.insert(new vscode.Position(first - 1, 0), 'x'));
    await shows(
      'the states without the line that was rewritten',
      Object.fromEntries(Object.entries(moved).filter(([line]) => Number(line) !== first)),
    );
    // Undo by hand: a text that VS Code has saved by itself meanwhile cannot be reverted.
    await hands.edit(editor, (edit) => {
      edit.delete(new vscode.Range(first - 1, 0, first - 1, 1));
      edit.delete(new vscode.Range(0, 0, 2, 0));
    });
    await document.save();
    await shows('the states as before', wanted);

    const marked = Number(
      Object.entries(wanted).find(([, state]) => state !== 'not executable')?.[0],
    );
    const breakpoint = new vscode.SourceBreakpoint(
      new vscode.Location(uri, new vscode.Position(marked - 1, 0)),
    );
    vscode.debug.addBreakpoints([breakpoint]);
    try {
      await waitFor('the breakpoint beside the state', async () => {
        const glyphs = (await editorOf(uri)).gutter.filter((each) => each.line === marked);
        return (
          glyphs.some(({ classes }) => classes.some((name) => name.includes('debug'))) &&
          glyphs.some(({ icon }) => stateOfIcon(icon) !== undefined)
        );
      });
      editor.revealRange(
        new vscode.Range(marked - 1, 0, marked - 1, 0),
        vscode.TextEditorRevealType.InCenter,
      );
      await screenshot('coverage-breakpoint', { width: 1500, height: 1000 });
    } finally {
      vscode.debug.removeBreakpoints([breakpoint]);
      await hands.resize(1500, 1500);
    }

    await vscode.window.showTextDocument(fileUri('tallybook/ledger.py'), { preview: false });
    await vscode.window.showTextDocument(document, { preview: false });
    await shows('the states after another tab', wanted);
    await vscode.commands.executeCommand('workbench.action.splitEditor');
    await waitFor('the states in both halves', async () => {
      const halves = (await visible.editors()).filter((each) => isOf(each, uri));
      return halves.length === 2 && halves.every((each) => Object.keys(statesIn(each)).length > 0);
    });
    await vscode.commands.executeCommand('workbench.action.closeEditorsInGroup');
  });

  it('lists every changed line by file and state, and opens it', async () => {
    await vscode.commands.executeCommand('swt-bench.changeCoverage.focus');
    const all = lines.get('covers-some') ?? [];
    const rows = await waitFor('rows', () => visible.treeRows('Change Coverage'));
    const files = rows.filter((row) => row.level === 1).map((row) => row.label);
    assert.deepEqual(files.sort(), [...paths].sort());
    const missed = all.filter((each) => each.state === 'missed');
    const numbers = (of: readonly Line[]): string[] =>
      of.map(({ change, line }) => `${change === 'removed' ? 'R' : 'R∘X*'} ${line}`).sort();
    await run('showMissedLinesOnly');
    const few = await waitFor('missed lines only', async () => {
      const found = (await visible.treeRows('Change Coverage')).filter((row) => row.level === 3);
      return found.length === missed.length ? found : undefined;
    });
    assert.deepEqual(few.map((row) => row.label).sort(), numbers(missed));
    assert.ok(
      few.every((row) => /missed/.test(row.aria)),
      few.map((row) => row.aria).join('\n'),
    );
    await screenshot('coverage-panel-missed', { width: 1500, height: 1000 });
    await run('showMissedLinesOnly');
    await screenshot('coverage-panel', { width: 1500, height: 1000 });
    await closeAllEditors();
    const [row] = few;
    assert.ok(row);
    await hands.click({ selector: '.monaco-list-row .label-name', text: row.label });
    const [side, number] = row.label.split(' ');
    await waitFor(`line ${row.label}`, () =>
      vscode.window.visibleTextEditors.some(
        (each) =>
          each.document.uri.authority === (side === 'R' ? 'base' : 'fixed') &&
          each.selection.active.line === Number(number) - 1,
      ),
    );
  });

  it('goes from one missed line to the next, and back', async () => {
    await closeAllEditors();
    const missed = (lines.get('covers-some') ?? []).filter((each) => each.state === 'missed');
    assert.ok(missed.length > 1);
    const selections = new Set<string>();
    const listener = vscode.window.onDidChangeTextEditorSelection(
      ({ textEditor, selections: now }) => {
        const { uri } = textEditor.document;
        if (uri.scheme === 'swt-bench')
          selections.add(
            `${uri.authority} ${uri.path.slice(1)} ${(now[0]?.active.line ?? -1) + 1}`,
          );
      },
    );
    for (let i = 0; i < missed.length; i++) {
      await run('nextMissedLine');
      // VS Code itself moves the cursor of a file that it reveals, once the change is computed.
      await waitFor('the cursor on a missed line', () => {
        const active = vscode.window.activeTextEditor;
        if (active?.document.uri.scheme !== 'swt-bench') return undefined;
        const change = active.document.uri.authority === 'base' ? 'removed' : 'added';
        const { line } = active.selection.active;
        return missed.some((each) => each.change === change && each.line === line + 1);
      });
    }
    const wanted = missed
      .map(({ change, path, line }) => `${change === 'removed' ? 'base' : 'fixed'} ${path} ${line}`)
      .sort();
    await waitFor('each of them', () => wanted.every((each) => selections.has(each)));
    assert.deepEqual([...selections].filter((each) => wanted.includes(each)).sort(), wanted);
    listener.dispose();
    await run('previousMissedLine');
  });

  it('shows which golden tests reach a missed line', async () => {
    const { gold } = JSON.parse(await readFile(join(sample, 'expected.json'), 'utf8')) as {
      gold: { fail_to_pass: string[]; pass_to_pass: string[] };
    };
    const golden = [...gold.fail_to_pass, ...gold.pass_to_pass];
    const [line] = (lines.get('covers-some') ?? []).filter((each) => each.state === 'missed');
    assert.ok(line);
    const asked = run('showGoldenReach', { kind: 'line', line: { ...line, text: '' } });
    const pick = await waitFor('the tests', () => visible.quickInput());
    assert.ok(pick.items.length > 0);
    for (const { label, description } of pick.items) {
      const name = label.split(' › ').join('::');
      assert.ok(
        golden.some((each) => each.endsWith(name)),
        label,
      );
      assert.match(description, /executes it (once|\d+ times)/);
    }
    await screenshot('coverage-golden-reach', { width: 1500, height: 1000 });
    const name = pick.items[0]?.label.split(' › ').at(-1) ?? '';
    await inQuickInput.accept();
    await asked;
    await waitFor('the test', () => {
      const editor = vscode.window.activeTextEditor;
      return editor?.document.lineAt(editor.selection.active.line).text.includes(`def ${name}`);
    });
  });

  it('is in the coverage view of VS Code, by side, with the tests of the candidate', async () => {
    await vscode.commands.executeCommand('testing.coverageAll');
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await vscode.commands.executeCommand('workbench.view.testCoverage.focus');
    const rows = await waitFor('files of both sides', async () => {
      const all = (await visible.treeRows('Test Coverage')).filter((row) =>
        row.text.includes('.py'),
      );
      return all.length === 4 ? all : undefined;
    });
    const all = lines.get('covers-some') ?? [];
    const shares = (['removed', 'added'] as const).flatMap((change) =>
      paths.map((path) => {
        const executable = all.filter(
          (each) => each.change === change && each.path === path && each.state !== 'not executable',
        );
        const covered = executable.filter((each) => each.state === 'newly covered');
        return Math.floor((100 * covered.length) / executable.length);
      }),
    );
    const shown = rows.map((row) => Math.floor(Number(/(\d+(\.\d+)?)\s*%/.exec(row.text)?.[1])));
    assert.deepEqual(
      shown.sort((a, b) => a - b),
      shares.sort((a, b) => a - b),
      rows.map((row) => row.text).join('\n'),
    );
    await screenshot('coverage-view', { width: 1500, height: 1000 });
    await hands.resize(1500, 1500);
  });

  it('closes what shows the golden patch when it is hidden, and takes the marks away', async () => {
    const uri = fileUri('tallybook/money.py');
    await run('showChangeCoverage');
    await vscode.window.showTextDocument(uri, {
      viewColumn: vscode.ViewColumn.Beside,
      preview: false,
    });
    await waitFor('states', async () => Object.keys(statesIn(await editorOf(uri))).length > 0);
    await run('hideGoldenPatch');
    await waitFor('the diff gone', async () =>
      (await visible.tabs()).every((each) => !each.label.includes('R ↔ R∘X*')),
    );
    await waitFor('no state', async () => Object.keys(statesIn(await editorOf(uri))).length === 0);
    assert.equal(await hoverAt(uri, 50).then((text) => /missed|covered/.test(text)), false);
    await vscode.commands.executeCommand('swt-bench.changeCoverage.focus');
    await waitFor('what the view says', async () =>
      (await visible.panes()).some(
        (each) => each.title === 'Change Coverage' && each.welcome.includes('hidden'),
      ),
    );
  });
});
