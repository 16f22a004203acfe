import assert from 'node:assert/strict';
import { linkSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { makeUnified } from '../../../src/patch/makeUnified';
import { plainEdits, writePlainEdits } from '../../../src/repository/trees/plainEdits';
import { everydayRuns } from '../../everyday';
import { makeGitTree, type GitTree } from '../patch/gitTree';

const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n';
const after = before.replace('four', '4');
const change = makeUnified([{ path: 'a.py', before, after }]);
const add = makeUnified([{ path: 'new/deep/b.py', before: undefined, after: 'x\n' }]);

describe('plain edits', function () {
  let tree: GitTree;
  beforeEach(() => {
    tree = makeGitTree();
    tree.write({ 'a.py': before });
  });
  afterEach(() => tree.remove());
  if (process.platform === 'win32') return;

  it('are what git apply writes, wherever they are known without git', async () => {
    const line = fc.constantFrom('a', 'b', 'c', '', '  x', 'r\r', 'é', '\\ No', '-- a/x');
    const lines = fc.array(line, { maxLength: 12 });
    const text = fc
      .tuple(lines, fc.boolean())
      .map(([all, ended]) => all.join('\n') + (ended && all.length > 0 ? '\n' : ''));
    const attributes = fc.constantFrom(undefined, '* text=auto\n', '*.py -text diff=python\n');
    const numRuns = everydayRuns(150);
    let known = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(fc.option(text, { nil: undefined }), text, text, attributes),
        async ([old, wanted, other, attribute]) => {
          const patch = makeUnified([
            { path: 'd/x.py', before: old, after: wanted },
            { path: 'a.py', before, after },
          ]);
          // The tree has another text than the patch in a part of the cases.
          const there = other.length % 3 === 0 ? other : old;
          tree.write({ 'd/x.py': there, 'a.py': before, '.gitattributes': attribute });
          const edits = await plainEdits(tree.root, patch);
          assert.equal(tree.read('a.py'), before);
          if (edits === undefined) return;
          known += 1;
          assert.equal(tree.apply(patch), undefined, patch);
          for (const { path, content } of edits) {
            assert.deepEqual(readFileSync(join(tree.root, path)), content, patch);
          }
        },
      ),
      { numRuns },
    );
    assert.ok(known > numRuns / 10, `${known}`);
  });

  it('are written as git writes them: new files, with the modes of the old', async () => {
    await chmod(join(tree.root, 'a.py'), 0o755);
    linkSync(join(tree.root, 'a.py'), join(tree.root, 'linked.py'));
    const edits = await plainEdits(tree.root, change + add);
    assert.ok(edits);
    await writePlainEdits(tree.root, edits);
    const modes = (): string[] =>
      ['a.py', 'new/deep/b.py'].map((path) => lstatSync(join(tree.root, path)).mode.toString(8));
    const written = modes();
    assert.deepEqual([tree.read('a.py'), tree.read('new/deep/b.py')], [after, 'x\n']);
    assert.equal(tree.read('linked.py'), before);
    await rm(join(tree.root, 'new'), { recursive: true });
    tree.write({ 'a.py': before });
    assert.equal(tree.apply(change + add), undefined);
    assert.deepEqual(modes(), written);
  });

  it('never replace what appeared since', async () => {
    const edits = await plainEdits(tree.root, add);
    assert.ok(edits);
    mkdirSync(join(tree.root, 'new/deep'), { recursive: true });
    symlinkSync('../../a.py', join(tree.root, 'new/deep/b.py'));
    await assert.rejects(writePlainEdits(tree.root, edits), { code: 'EEXIST' });
    assert.equal(tree.read('a.py'), before);
  });

  const known: Record<string, [patch: string, files?: Record<string, string>]> = {
    'a changed and an added file': [change + add],
    'a patch with index lines': [change.replace('\n--- ', '\nindex 0123abc..4567def 100644\n--- ')],
    'a patch without its last newline': [change.trimEnd()],
    'attributes that convert nothing': [
      change,
      {
        '.gitattributes':
          '# text\n* text=auto\n"a b" -diff\n*.svg binary linguist-generated=true\n',
      },
    ],
    'attributes that convert elsewhere': [change, { 'other/.gitattributes': '* ident\n' }],
  };
  for (const [what, [patch, files = {}]] of Object.entries(known)) {
    it(`are known for ${what}`, async () => {
      tree.write(files);
      assert.notEqual(await plainEdits(tree.root, patch), undefined);
      // Git is never given a patch without a newline at its end.
      assert.equal(tree.apply(patch.replace(/\n?$/, '\n')), undefined);
    });
  }

  const named = (path: string): string => add.replaceAll('new/deep/b.py', path);
  const unknown: Record<string, [patch: string, files?: Record<string, string>]> = {
    'nothing at all': [''],
    'no patch': ['some words\n'],
    'context that is not there': [change.replace(' three', ' tree')],
    'a hunk at another line': [change, { 'a.py': `zero\n${before}` }],
    'words around the patch': [`Here it is:\n${change}`],
    'a hunk that breaks off': [change.split('\n').slice(0, -3).join('\n')],
    'a removed file': [makeUnified([{ path: 'a.py', before, after: undefined }])],
    'a renamed file': [
      'diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n',
    ],
    'another mode': ['diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n'],
    'a new executable file': [add.replace('100644', '100755')],
    'a new link': [add.replace('100644', '120000')],
    'a file that exists already': [named('a.py')],
    'a missing file': [change.replaceAll('a.py', 'c.py')],
    'a path below a file': [named('a.py/b.py')],
    'one path twice': [add + add],
    'a path below another of the patch': [named('n') + named('n/b')],
    'a path out of the tree': [named('../b.py')],
    'a path into the repository': [named('.git/b')],
    'a name beyond ASCII': [makeUnified([{ path: 'é.py', before: undefined, after: 'x\n' }])],
    'a file of attributes': [named('new/.gitattributes')],
    ...Object.fromEntries(
      [
        '* text eol=crlf',
        '*.py ident',
        '*.py filter=x',
        '[attr]odd ident',
        '* working-tree-encoding=UTF-16',
      ].map((line): [string, [string, Record<string, string>]] => [
        `the attribute ${line}`,
        [change, { '.gitattributes': `${line}\n` }],
      ]),
    ),
    'an attribute of the repository alone': [change, { '.git/info/attributes': '*.py eol=crlf\n' }],
    'carriage returns where attributes say what is text': [
      change.replace('+4', '+4\r'),
      { '.gitattributes': '* text=auto\n' },
    ],
  };
  for (const [what, [patch, files = {}]] of Object.entries(unknown)) {
    it(`are left to git for ${what}`, async () => {
      tree.write(files);
      assert.equal(await plainEdits(tree.root, patch), undefined);
    });
  }

  it('are left to git where a link is in the path, or is the file', async () => {
    mkdirSync(join(tree.root, 'real'));
    symlinkSync('real', join(tree.root, 'new'));
    symlinkSync('a.py', join(tree.root, 'c.py'));
    assert.equal(await plainEdits(tree.root, add), undefined);
    assert.equal(await plainEdits(tree.root, change.replaceAll('a.py', 'c.py')), undefined);
  });
});
