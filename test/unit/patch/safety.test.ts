import assert from 'node:assert/strict';
import { posix, win32 } from 'node:path';
import fc from 'fast-check';
import { checkPatchPaths, unsafePath } from '../../../src/patch/unsafePath';
import { parseUnified } from '../../../src/patch/parseUnified';
import { everydayRuns } from '../../everyday';

describe('unsafePath', function () {
  for (const [path, reason] of [
    ['', /empty/],
    ['/etc/passwd', /absolute/],
    ['a/../../b', /"\.\."/],
    ['..', /"\.\."/],
    ['a/.. /b', /"\.\."/],
    ['a/.../b', /"\.\."/],
    ['a/./b', /"\."/],
    ['a//b', /empty component/],
    ['a/', /empty component/],
    ['C:/x', /drive/],
    ['c:x', /drive/],
    ['a\\b', /backslash/],
    ['a/b\0c', /NUL/],
    ['a\nb', /control/],
    ['.git/config', /\.git/],
    ['a/.GIT/hooks/x', /\.git/],
    ['.git./x', /\.git/],
    ['.git ', /\.git/],
    ['.g\u200cit/config', /\.git/],
    ['git~1/config', /\.git/],
    ['a/NUL', /device/],
    ['con.py', /device/],
    ['aux .txt', /device/],
    ['lpt1', /device/],
    ['a/b:stream', /colon/],
    ['a/'.repeat(3000), /longer/],
  ] as const) {
    it(`refuses ${JSON.stringify(path.slice(0, 30))}`, () => {
      assert.match(unsafePath(path, 'win32') ?? '', reason);
    });
  }

  for (const path of [
    'a/.. /b',
    'a/.../b',
    'C:/x',
    'c:x',
    'a\\b',
    'a/NUL',
    'con.py',
    'lpt1',
    'a/b:s',
  ]) {
    it(`refuses ${JSON.stringify(path)} on Windows alone`, () => {
      assert.notEqual(unsafePath(path, 'win32'), undefined);
      assert.equal(unsafePath(path, 'linux'), undefined);
      assert.equal(unsafePath(path, 'darwin'), undefined);
    });
  }

  it('takes what repositories hold', () => {
    for (const path of [
      'a.py',
      '.gitignore',
      '.github/workflows/x.yml',
      'a/.gitattributes',
      'my file.py',
      'é/😀.py',
      'a..b/c...d',
      'console.py',
      'auxiliary/x',
      'tests/nulls.py',
      'com10.py',
      'a/-x',
      'legit/x',
      '~/x',
    ]) {
      assert.equal(unsafePath(path, 'win32'), undefined, path);
    }
  });

  it('never takes a path that leaves the tree on its system', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        'a',
        'b.py',
        '.git',
        'C:',
        '\\',
        '/',
        '.. ',
        ' ',
        '\\..',
        '~',
        'nul',
      ),
      fc.string({ maxLength: 4, unit: 'binary' }),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }),
        fc.constantFrom('/', '\\', ''),
        (parts, glue) => {
          const path = parts.join(glue);
          for (const [name, system] of [
            ['linux', posix],
            ['win32', win32],
          ] as const) {
            if (unsafePath(path, name) !== undefined) continue;
            const { sep } = system;
            const root = sep === '/' ? '/root/tree' : 'D:\\root\\tree';
            const full = system.resolve(root, path);
            assert.ok(full.startsWith(root + sep), `${path} -> ${full}`);
            assert.ok(!full.slice(root.length).toLowerCase().split(sep).includes('.git'), path);
            assert.equal(posix.normalize(path), path);
          }
        },
      ),
      { numRuns: everydayRuns(2000) },
    );
  });
});

describe('checkPatchPaths', () => {
  const check = (text: string): string[] =>
    checkPatchPaths(parseUnified(text)).map((p) => `${p.line} ${p.message}`);
  const link = (path: string, target: string): string =>
    `diff --git a/${path} b/${path}\nnew file mode 120000\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${target}\n\\ No newline at end of file\n`;

  it('looks at both names of every part', () => {
    assert.deepEqual(check('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'), []);
    assert.deepEqual(check('--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n'), [
      '1 "../x" cannot be patched: the path has a component ".."',
    ]);
    assert.equal(check('diff --git a/x b/y\nrename from ../x\nrename to /y\n').length, 2);
  });

  it('refuses links out of the tree and files below links', () => {
    assert.deepEqual(check(link('a/l', '../b')), []);
    assert.match(check(link('l', '/etc'))[0] ?? '', /outside the tree/);
    assert.match(check(link('a/l', '../../b'))[0] ?? '', /outside the tree/);
    assert.match(
      check(`${link('l', 'd')}--- /dev/null\n+++ b/l/x\n@@ -0,0 +1 @@\n+x\n`)[0] ?? '',
      /lies below l/,
    );
  });
});
