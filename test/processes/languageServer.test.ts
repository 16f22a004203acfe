import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  CodeAction,
  CompletionList,
  DocumentSymbol,
  FoldingRange,
  Hover,
  Location,
  LocationLink,
  TextEdit,
} from 'vscode-languageserver/node';
import { LanguageClient } from './languageClient';

const python = 'def test_one():\n    assert 1\n\n\ndef test_two():\n    assert 2\n';
const rewrite = (path: string, place: number, ...code: string[]): string =>
  ['diff', path, 'rewrite', String(place), ...code, 'end diff', ''].join('\n');
const right = rewrite('tests/test_a.py', 5, 'def test_two():', '    assert 3');

describe('the language server, as a process', function () {
  let folder: string;
  let first: string;
  let second: string;
  const started: LanguageClient[] = [];
  const uriOf = (...parts: string[]): string => pathToFileURL(join(...parts)).href;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'swt-bench-language-')));
    [first, second] = [join(folder, 'first'), join(folder, 'second ü')];
    for (const root of [first, second]) await mkdir(join(root, 'tests'), { recursive: true });
    await writeFile(join(first, 'tests', 'test_a.py'), python);
    await writeFile(join(second, 'tests', 'test_only_here.py'), python);
    await writeFile(join(folder, 'outside.py'), python);
    await symlink(join(folder, 'outside.py'), join(first, 'link.py'));
    await symlink(folder, join(first, 'up'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  afterEach(async () => {
    for (const client of started.splice(0)) await client.stop();
  });

  async function client(
    folders = [first, second],
    options?: Parameters<typeof LanguageClient.start>[1],
  ): Promise<LanguageClient> {
    const { client } = await LanguageClient.start(folders, options);
    started.push(client);
    return client;
  }

  it('says what it can do', async () => {
    const { client, answer } = await LanguageClient.start([first]);
    started.push(client);
    const { capabilities } = answer;
    for (const each of ['hover', 'definition', 'documentSymbol', 'foldingRange'] as const) {
      assert.equal(capabilities[`${each}Provider`], true);
    }
    assert.ok(capabilities.completionProvider && capabilities.codeActionProvider);
    assert.equal(capabilities.documentFormattingProvider, true);
  });

  it('answers everything about a diff, and follows its changes', async () => {
    const server = await client();
    const uri = uriOf(first, 'a.swtdiff');
    await server.open(uri, right);
    assert.deepEqual(await server.diagnostics(uri), []);

    const hover = await server.at<Hover>('hover', uri, 4, 6);
    assert.deepEqual(hover.contents, {
      kind: 'markdown',
      value: 'Replaces lines 5 to 6:\n\n```python\ndef test_two():\n    assert 2\n```',
    });
    const [link] = await server.at<LocationLink[]>('definition', uri, 4, 6);
    assert.equal(link?.targetUri, uriOf(first, 'tests', 'test_a.py'));
    assert.deepEqual(link.targetSelectionRange.start, { line: 4, character: 4 });
    const names = await server.at<CompletionList>('completion', uri, 4, 6);
    assert.deepEqual(
      names.items.map((item) => item.label),
      ['test_two', 'test_one'],
    );
    const [symbol] = await server.ask<DocumentSymbol[]>('documentSymbol', uri);
    assert.equal(symbol?.name, 'tests/test_a.py');
    const folds = await server.ask<FoldingRange[]>('foldingRange', uri);
    assert.ok(folds.some(({ startLine, endLine }) => startLine === 0 && endLine === 6));
    const range = { start: { line: 4, character: 0 }, end: { line: 4, character: 0 } };
    const act = (): Promise<CodeAction[]> =>
      server.ask('codeAction', uri, { range, context: { diagnostics: [] } });
    assert.deepEqual(
      (await act()).map((action) => action.command?.arguments),
      [[{ uri }], [{ uri }], [{ uri }]],
    );

    // One word of the text becomes another.
    await server.change(uri, 'test_twoo', {
      start: { line: 4, character: 4 },
      end: { line: 4, character: 12 },
    });
    const [told] = await server.diagnostics(uri);
    assert.equal(told?.source, 'swt-bench');
    assert.match(JSON.stringify(told.message), /test_two/);
    assert.equal(told.range.start.line, 4);
    const [fix] = (await act()).filter((action) => action.kind === 'quickfix');
    const written = (fix?.edit?.changes?.[uri] ?? []).map((edit) => edit.newText);
    assert.match(written.join(''), /def test_two\(\):/);

    await server.change(uri, right.replace('rewrite', 'REWRITE'));
    const edits = await server.ask<TextEdit[]>('formatting', uri, { options: {} });
    assert.deepEqual(
      edits.map((each) => each.newText),
      ['rewrite\n'],
    );
    await server.close(uri);
    await server.diagnostics(uri, (all, version) => all.length === 0 && version === undefined);
  });

  it('gives locations to an editor that knows no links, and plain text to one without Markdown', async () => {
    const server = await client([first], { capabilities: {} });
    const uri = uriOf(first, 'a.swtdiff');
    await server.open(uri, right);
    const [location] = await server.at<Location[]>('definition', uri, 4, 6);
    assert.equal(location?.uri, uriOf(first, 'tests', 'test_a.py'));
    const hover = await server.at<Hover>('hover', uri, 4, 6);
    assert.equal((hover.contents as { kind: string }).kind, 'plaintext');
  });

  it('takes unsaved Python before the disk, until it is told otherwise', async () => {
    const server = await client();
    const uri = uriOf(first, 'a.swtdiff');
    const file = uriOf(first, 'tests', 'test_a.py');
    await server.open(uri, rewrite('tests/test_a.py', 1, 'def unsaved_name():', '    pass'));
    await server.diagnostics(uri, (told) => told.some((each) => each.severity === 1));
    const text = 'def unsaved_name():\n    return 0\n';
    await server.connection.sendNotification('swt-bench/openText', { uri: file, text });
    await server.diagnostics(uri, (told) => told.length === 0);
    const hover = await server.at<Hover>('hover', uri, 4, 6);
    assert.match((hover.contents as { value: string }).value, /return 0/);
    await server.connection.sendNotification('swt-bench/openText', { uri: file, text: null });
    await server.diagnostics(uri, (told) => told.some((each) => each.severity === 1));
    // Messages of other shapes are ignored.
    await server.connection.sendNotification('swt-bench/openText', { uri: 3 });
    await server.connection.sendNotification('swt-bench/openText', {
      uri: 'untitled:x',
      text: 'a',
    });
    assert.ok(await server.at('hover', uri, 1, 1));
  });

  it('reads files again that it is told have changed', async () => {
    const server = await client();
    const uri = uriOf(first, 'a.swtdiff');
    const path = join(first, 'tests', 'test_new.py');
    await server.open(uri, rewrite('tests/test_new.py', 1, 'def test_one():', '    pass'));
    await server.diagnostics(uri, (told) => told.some((each) => each.code === 'unknown-file'));
    await writeFile(path, python);
    await server.connection.sendNotification('workspace/didChangeWatchedFiles', {
      changes: [{ uri: pathToFileURL(path).href, type: 1 }],
    });
    await server.diagnostics(uri, (told) => told.length === 0);
    const paths = await server.at<CompletionList>('completion', uri, 1, 0);
    assert.ok(paths.items.some((item) => item.label === 'tests/test_new.py'));
    await rm(path);
  });

  it('reads nothing outside the folder, neither by a path nor over a link', async () => {
    const server = await client();
    const uri = uriOf(first, 'a.swtdiff');
    for (const path of ['../outside.py', join(folder, 'outside.py'), 'link.py', 'up/outside.py']) {
      await server.open(uri, rewrite(path, 1, 'def test_one():', '    pass'));
      const told = await server.diagnostics(
        uri,
        (all, version) => version !== undefined && all.length > 0,
      );
      assert.ok(
        told.some((each) => each.severity === 1),
        path,
      );
      const isLink = path === 'link.py' || path === 'up/outside.py';
      if (isLink) assert.match(JSON.stringify(told), /symbolic link/, path);
      // An editor may have such a file open, which does not make it a file of the folder.
      await server.connection.sendNotification('swt-bench/openText', {
        uri: uriOf(first, path),
        text: 'def test_one():\n    secret\n',
      });
      for (const line of [1, 3, 4]) {
        const hover = await server.at<Hover | null>('hover', uri, line, 1);
        assert.doesNotMatch(JSON.stringify(hover), /assert 1|secret/, path);
        assert.deepEqual(await server.at('definition', uri, line, 5).then(insideOf), [], path);
      }
      await server.close(uri);
      await server.diagnostics(uri, (all, version) => all.length === 0 && version === undefined);
    }
  });

  /** The targets of a definition that are not the link itself. */
  const insideOf = (links: unknown): unknown[] =>
    (links as LocationLink[]).filter((link) => !link.targetUri.endsWith('/link.py'));

  it('takes the folder that holds a document, the first for one that is in none', async () => {
    const server = await client();
    const there = rewrite('tests/test_only_here.py', 1, 'def test_one():', '    pass');
    await server.open(uriOf(second, 'notes', 'a.swtdiff'), there);
    assert.deepEqual(await server.diagnostics(uriOf(second, 'notes', 'a.swtdiff')), []);
    await server.open('untitled:Untitled-1', right);
    assert.deepEqual(await server.diagnostics('untitled:Untitled-1'), []);
    await server.open(uriOf(folder, 'a.swtdiff'), there);
    const told = await server.diagnostics(uriOf(folder, 'a.swtdiff'));
    assert.equal(told[0]?.code, 'unknown-file');

    // The first folder is closed, so that the second one is the first.
    await server.connection.sendNotification('workspace/didChangeWorkspaceFolders', {
      event: { added: [], removed: [{ uri: uriOf(first), name: 'first' }] },
    });
    await server.diagnostics(uriOf(folder, 'a.swtdiff'), (all) => all.length === 0);
  });

  it('has answers without any folder', async () => {
    const server = await client([]);
    await server.open('untitled:Untitled-1', right);
    assert.deepEqual(await server.diagnostics('untitled:Untitled-1'), []);
    assert.equal(await server.at('hover', 'untitled:Untitled-1', 4, 6), null);
    assert.equal((await server.ask<unknown[]>('documentSymbol', 'untitled:Untitled-1')).length, 1);
    assert.equal(await server.at('hover', 'untitled:not-open', 4, 6), null);
  });

  it('serves the fences of Markdown, each by itself and where it stands', async () => {
    const server = await client();
    const uri = uriOf(first, 'notes.md');
    const indented = right.replaceAll(/^(?=.)/gm, '   ');
    const wrong = right.replace('test_two', 'nowhere_at_all');
    const text = `# Notes\n\n1. x\n   \`\`\`custom-diff\n${indented}   \`\`\`\n\n\`\`\`custom-diff\n${wrong}\`\`\`\n`;
    const lines = text.split('\n');
    await server.open(uri, text, 'markdown');
    const [told, ...more] = await server.diagnostics(uri);
    assert.deepEqual(more, []);
    assert.equal(
      told?.range.start.line,
      lines.findIndex((line) => line.includes('nowhere')),
    );
    const at = lines.findIndex((line) => line.includes('def test_two'));
    assert.ok(await server.at('hover', uri, at, 9));
    const [link] = await server.at<LocationLink[]>('definition', uri, at, 9);
    assert.deepEqual(link?.originSelectionRange, {
      start: { line: at, character: 7 },
      end: { line: at, character: 15 },
    });
    assert.equal(await server.at('hover', uri, 0, 3), null);
    assert.equal(await server.at('completion', uri, 1, 0), null);
    const symbols = await server.ask<DocumentSymbol[]>('documentSymbol', uri);
    assert.deepEqual(
      symbols.map((symbol) => symbol.range.start.line),
      [4, 14],
    );
  });

  it('serves a diff and a file of 5,000 lines', async () => {
    const server = await client();
    const functions = Array.from(
      { length: 1250 },
      (_, i) => `def test_${i}():\n    assert ${i}\n\n\n`,
    );
    await writeFile(join(first, 'tests', 'test_long.py'), functions.join(''));
    const uri = uriOf(first, 'long.swtdiff');
    const blocks = Array.from({ length: 715 }, (_, i) =>
      rewrite('tests/test_long.py', i * 4 + 1, `def test_${i}():`, `    assert ${i} + 1`),
    );
    await server.open(uri, blocks.join(''));
    assert.deepEqual(await server.diagnostics(uri), []);
    const hover = await server.at<Hover>('hover', uri, 700 * 7 + 4, 6);
    assert.match((hover.contents as { value: string }).value, /^Replaces lines 2801 to 2802:/);
    // Requests while a person types: the answer is about the latest text.
    for (let i = 0; i < 10; i += 1) {
      await server.change(uri, String(i), {
        start: { line: 700 * 7 + 3, character: 0 },
        end: { line: 700 * 7 + 3, character: 4 },
      });
      assert.ok(await server.at('hover', uri, 700 * 7 + 4, 6));
    }
    await server.change(uri, blocks.join('').replace('tests/test_long.py', 'tests/none.py'));
    const told = await server.diagnostics(uri);
    assert.ok(told.some((each) => each.code === 'unknown-file' && each.range.start.line === 1));
    const list = await server.at<CompletionList>('completion', uri, 10, 0);
    assert.ok(list.items.length > 100);
    await rm(join(first, 'tests', 'test_long.py'));
  });

  it('ends when it is shut down', async () => {
    const server = await client();
    assert.equal(await server.stop(), 0);
  });

  it('ends when nobody speaks to it any more', async () => {
    const { client } = await LanguageClient.start([first]);
    client.process.stdin?.end();
    assert.equal(await client.ended, 1);
    client.connection.dispose();
  });

  it('ends when the editor dies, although its pipes are open', async () => {
    const editor = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: 'ignore',
    });
    const { client } = await LanguageClient.start([first], { processId: editor.pid ?? null });
    editor.kill('SIGKILL');
    await once(editor, 'exit');
    assert.equal(await client.ended, 1);
    client.connection.dispose();
  });
});
