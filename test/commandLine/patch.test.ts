import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cli, root, scratch, withInput, type Answer } from './cli';

/** As {@link withInput}, in a process of its own. */
function piped(
  args: readonly string[],
  input: string | Buffer,
): Promise<Answer & { bytes: Buffer }> {
  const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), ...args], { cwd: root });
  const out: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(input);
  return new Promise((done) =>
    child.on('close', (status) => {
      const bytes = Buffer.concat(out);
      done({ status, stdout: bytes.toString(), stderr, bytes });
    }),
  );
}

describe('swt-bench patch', () => {
  const folder = scratch();
  let trees = 0;

  /** A tree in a folder of its own. */
  const tree = async (files: Readonly<Record<string, string | Buffer>>): Promise<string> => {
    const path = join(folder.path, `tree-${(trees += 1)}`);
    await mkdir(path);
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), content);
    }
    return path;
  };
  /**
   * The error of `git apply` for a patch on a tree; empty when git accepts it. Changes the tree.
   */
  const apply = (at: string, patch: Buffer): string => {
    const options = { cwd: at, input: patch, env: { ...process.env, GIT_CEILING_DIRECTORIES: at } };
    const checked = spawnSync('git', ['apply', '--check', '-'], options);
    if (checked.status !== 0) return checked.stderr.toString();
    return spawnSync('git', ['apply', '--whitespace=nowarn', '-'], options).stderr.toString();
  };

  const source = 'import os\n\n\ndef test_one():\n    assert os\n';
  const custom = (path: string, code: string): string =>
    `diff\n${path}\nrewrite\n4\n${code}\nend diff\n`;
  const replaced = 'def test_one():\n    assert os.sep';

  it('prints a diff that git applies, from an answer in a file or on standard input', async () => {
    const at = await tree({ 'tests/test_a.py': source });
    const answer = `Here you are:\n\n\`\`\`custom-diff\n${custom('tests/test_a.py', replaced)}\`\`\`\n`;
    const file = await folder.file('answer.md', answer);
    const fromFile = await cli(['patch', file, '--tree', at]);
    assert.deepEqual([fromFile.status, fromFile.stderr], [0, '']);
    const fromPipe = await piped(['patch', '-', '--tree', at], answer);
    assert.deepEqual([fromPipe.status, fromPipe.stderr], [0, '']);
    assert.equal(fromPipe.stdout, fromFile.stdout);
    assert.equal(apply(at, fromPipe.bytes), '');
    const after = await readFile(join(at, 'tests/test_a.py'), 'utf8');
    assert.equal(after, source.replace('assert os', 'assert os.sep'));
  });

  it('takes every format by its name', async () => {
    const unified = '--- a/t.py\n+++ b/t.py\n@@ -5 +5 @@\n-    assert os\n+    assert os.sep\n';
    const texts = {
      unified,
      fuzzy: unified.replace('@@ -5 +5 @@', '@@ ... @@'),
      custom: custom('t.py', replaced),
      'search-replace':
        't.py\n<<<<<<< SEARCH\n    assert os\n=======\n    assert os.sep\n>>>>>>> REPLACE\n',
    };
    for (const [format, text] of Object.entries(texts)) {
      const at = await tree({ 't.py': source });
      const result = await withInput(['patch', '-', '--tree', at, '--format', format], text);
      assert.equal(result.status, 0, `${format}: ${result.stderr}`);
      assert.equal(apply(at, result.bytes), '', format);
      const after = await readFile(join(at, 't.py'), 'utf8');
      assert.equal(after, source.replace('assert os', 'assert os.sep'), format);
    }
  });

  it('says what is wrong as compilers do, on stderr, and prints no part of a patch', async () => {
    const at = await tree({ 't.py': source });
    const text = custom('t.py', replaced) + custom('t.py', 'def test_unlike_any():\n    pass');
    const result = await withInput(['patch', '-', '--tree', at], text);
    assert.deepEqual([result.status, result.stdout], [1, '']);
    assert.match(result.stderr, /^-:\d+: error: .*test_unlike_any.* \(.*\)$/m);
    for (const line of result.stderr.trim().split('\n')) {
      assert.match(line, /^-:\d+: (error|warning|info): ./);
    }
  });

  it('prints only diagnostics with --check, on stdout', async () => {
    const at = await tree({ 't.py': source });
    const good = await withInput(['patch', '-', '--tree', at, '--check'], custom('t.py', replaced));
    assert.deepEqual([good.status, good.stdout, good.stderr], [0, '', '']);
    const file = await folder.file('bad.swtdiff', custom('gone.py', replaced));
    const bad = await cli(['patch', file, '--tree', at, '--check']);
    assert.deepEqual([bad.status, bad.stderr], [1, '']);
    assert.ok(bad.stdout.startsWith(`${file}:2: error: `), bad.stdout);
    const json = await cli(['patch', file, '--tree', at, '--check', '--json']);
    assert.deepEqual(Object.keys(JSON.parse(json.stdout) as object), [
      'format',
      'diagnostics',
      'left',
    ]);
  });

  it('prints one document with --json', async () => {
    const at = await tree({ 'tests/test_a.py': source, 'setup.py': source });
    const text = custom('tests/test_a.py', replaced) + custom('setup.py', replaced);
    const result = await withInput(['patch', '-', '--tree', at, '--json', '--tests-only'], text);
    const found = JSON.parse(result.stdout) as {
      format: string;
      patch: string;
      files: Record<string, string>;
      diagnostics: { severity: string; code?: string }[];
      left: string[];
    };
    assert.equal(result.status, 0);
    assert.equal(found.format, 'custom');
    assert.equal(apply(at, Buffer.from(found.patch)), '');
    assert.deepEqual(Object.keys(found.files), ['tests/test_a.py']);
    assert.equal(
      found.files['tests/test_a.py'],
      await readFile(join(at, 'tests/test_a.py'), 'utf8'),
    );
    assert.deepEqual(found.left, ['setup.py']);
    assert.deepEqual(
      found.diagnostics.map((each) => [each.severity, each.code]),
      [['warning', 'outside-tests']],
    );
    // Without the option, everything is converted.
    const all = await withInput(['patch', '-', '--tree', at, '--json'], text);
    assert.deepEqual((JSON.parse(all.stdout) as { left: string[] }).left, []);
  });

  it('keeps line ends and bytes that are no UTF-8, in the tree and in the patch', async () => {
    const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
    const before = source.replace('def', '# caf\u00e9\ndef').replace(/\n/g, '\r\n');
    const at = await tree({ 't.py': latin(before) });
    const text = custom('t.py', replaced);
    const result = await piped(['patch', '-', '--tree', at], text);
    assert.equal(result.status, 0, result.stderr);
    assert.equal(apply(at, result.bytes), '');
    const expected = latin(before.replace('assert os', 'assert os.sep'));
    assert.deepEqual(await readFile(join(at, 't.py')), expected);

    const other = await tree({ 't.py': latin(source + '# caf\u00e9\n') });
    const unified = latin('--- a/t.py\n+++ b/t.py\n@@ -6 +6 @@\n-# caf\u00e9\n+# th\u00e9\n');
    const second = await withInput(['patch', '-', '--tree', other], unified);
    assert.equal(apply(other, second.bytes), '', second.stderr);
    assert.deepEqual(await readFile(join(other, 't.py')), latin(source + '# th\u00e9\n'));
  });

  it('follows no link, neither out of the tree nor within it', async () => {
    const at = await tree({ 'real/t.py': source });
    const outside = await tree({ 't.py': source });
    await symlink(outside, join(at, 'out'));
    await symlink('real', join(at, 'in'));
    await symlink(join(outside, 't.py'), join(at, 'single.py'));
    for (const path of ['out/t.py', 'in/t.py', 'single.py']) {
      const result = await withInput(['patch', '-', '--tree', at], custom(path, replaced));
      assert.deepEqual([result.status, result.stdout], [1, ''], path);
      const insert = custom(path, replaced).replace('rewrite\n4', 'insert\nEOF');
      const added = await withInput(['patch', '-', '--tree', at], insert);
      assert.deepEqual([added.status, added.stdout], [1, ''], path);
      assert.match(added.stderr, /^-:2: error: .*symbolic link/m);
    }
    assert.equal(await readFile(join(outside, 't.py'), 'utf8'), source);
  });

  it('refuses paths that leave the tree', async () => {
    const at = await tree({ 't.py': source });
    for (const path of ['../tree-1/t.py', join(folder.path, 'x.py'), '.git/hooks/x']) {
      const text = custom(path, replaced).replace('rewrite\n4', 'insert\nEOF');
      const result = await withInput(['patch', '-', '--tree', at], text);
      assert.deepEqual([result.status, result.stdout], [1, ''], path);
    }
  });

  it('knows predictions, and names the command that takes them', async () => {
    const at = await tree({ 't.py': source });
    const row = { instance_id: 'a__b-1', model_name_or_path: 'm', model_patch: 'x' };
    const lines = `${JSON.stringify(row)}\n${JSON.stringify(row)}\n`;
    for (const text of [lines, JSON.stringify([row], null, 2), JSON.stringify({ 'a__b-1': row })]) {
      const result = await withInput(['patch', '-', '--tree', at], text);
      assert.deepEqual([result.status, result.stdout], [2, '']);
      assert.match(result.stderr, /contains predictions.*evaluate --predictions/);
      assert.equal(result.stderr.trim().split('\n').length, 1);
    }
  });

  it('answers wrong usage and unreadable input with status 2', async () => {
    const at = await tree({ 't.py': source });
    const file = await folder.file('text.txt', 'no patch');
    for (const [args, told] of [
      [['patch', file], /--tree/],
      [['patch', join(folder.path, 'gone'), '--tree', at], /gone cannot be read/],
      [['patch', at, '--tree', at], /cannot be read/],
      [['patch', file, '--tree', join(at, 'gone')], /gone cannot be read/],
      [['patch', file, '--tree', file], /is not a folder/],
      [['patch', file, '--tree', at, '--format', 'ed'], /--format/],
    ] as const) {
      const result = await cli(args);
      assert.deepEqual([result.status, result.stdout], [2, ''], args.join(' '));
      assert.match(result.stderr, told);
      assert.doesNotMatch(result.stderr, /\n\s+at |internal error/);
    }
    for (const text of ['', 'no patch here\n', '\u0000\u0001']) {
      const result = await withInput(['patch', '-', '--tree', at], text);
      assert.deepEqual([result.status, result.stdout], [1, '']);
      assert.match(result.stderr, /^-:1: (error|info): /);
    }
  });
});

describe('swt-bench parse-log -', () => {
  it('reads standard input', async () => {
    const log = 'PASSED t.py::test_a\nFAILED t.py::test_b - no\n';
    const args = ['parse-log', '-', '--repo', 'pallets/flask'];
    const result = await piped([...args, '--json'], log);
    assert.equal(result.status, 0);
    assert.deepEqual(JSON.parse(result.stdout), {
      't.py::test_a': 'PASSED',
      't.py::test_b': 'FAILED',
    });
    const empty = await withInput(args, '');
    assert.equal(empty.status, 1);
    assert.match(empty.stderr, /found no test outcomes in standard input/);
  });

  it('ends when it is interrupted while it waits', async () => {
    const args = ['parse-log', '-', '--repo', 'pallets/flask'];
    // A signal before the handler is installed ends the process by default: then give it longer to
    // start.
    for (let delay = 500; ; delay *= 2) {
      const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), ...args]);
      const ended = new Promise<unknown[]>((done) =>
        child.on('close', (status, signal) => done([status, signal])),
      );
      await new Promise((resolve) => setTimeout(resolve, delay));
      child.kill('SIGINT');
      const [status, signal] = await ended;
      if (signal === 'SIGINT') continue;
      assert.equal(status, 130);
      return;
    }
  });
});
