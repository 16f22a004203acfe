import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  CompiledFiles,
  type CompiledFile,
} from '../../../src/environments/image/further/compiledFiles';
import { packageChange } from '../../../src/environments/image/further/changePackages';
import { installationDigest } from '../../../src/environments/image/further/installationDigest';
import { setupInputs } from '../../../src/environments/plan/setupInputs';
import { blobId } from '../../../src/repository/treeFiles';

describe('a further instance of a known version', () => {
  let storage: string;
  let said: string[];
  beforeEach(async () => {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-further-'));
    said = [];
  });
  afterEach(() => rm(storage, { recursive: true, force: true }));

  const filesOf = (...identity: string[]): CompiledFiles =>
    new CompiledFiles(storage, identity, (line) => said.push(line));
  const compiled = (source: string, id: string, text: string): CompiledFile => ({
    ...{ source, id, path: source.replace(/\.py$/, '.cpython-39.pyc') },
    content: Buffer.from(text),
  });
  const packs = async (): Promise<string[]> =>
    (await readdir(join(storage, 'images', 'compiled'))).map((name) =>
      join(storage, 'images', 'compiled', name),
    );

  it('takes the compiled files of sources with the same content, out of all packs', async () => {
    const [one, two] = [compiled('a.py', 'aa', 'A\n'), compiled('b/é.py', 'bb', '{}\nB')];
    await filesOf('x').keep([one, compiled('c.py', 'cc', '')]);
    await filesOf('x').keep([two]);
    const asked = new Map([
      ['a.py', 'aa'],
      ['b/é.py', 'bb'],
      ['c.py', 'other'],
      ['__proto__', 'aa'],
    ]);
    const found = await filesOf('x').find(asked);
    assert.deepEqual([found.get('a.py'), found.get('b/é.py'), found.size], [one, two, 2]);
    assert.equal((await filesOf('y').find(asked)).size, 0, 'of another version');
    assert.deepEqual(said, []);
  });

  it('throws away a pack with other bytes than were kept, and no other', async () => {
    const [one, two] = [compiled('a.py', 'aa', 'first'), compiled('b.py', 'bb', 'second')];
    await filesOf('x').keep([one]);
    const [first = ''] = await packs();
    await filesOf('x').keep([two]);
    const bytes = await readFile(first);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    await writeFile(first, bytes);
    const asked = new Map([
      ['a.py', 'aa'],
      ['b.py', 'bb'],
    ]);
    assert.deepEqual([...(await filesOf('x').find(asked)).values()], [two]);
    assert.equal(said.length, 1);
    assert.equal((await packs()).length, 1);
    for (const damage of ['', 'x'.repeat(2000), '{"a":1}\n']) {
      const [left = ''] = await packs();
      await writeFile(left, damage);
      assert.equal((await filesOf('x').find(asked)).size, 0);
      assert.deepEqual(await packs(), []);
      await filesOf('x').keep([two]);
    }
  });

  describe('is resolved again', () => {
    const base: Readonly<Record<string, string>> = {
      'setup.py':
        '# A remark\nfrom setuptools import setup\nimport pkg\nsetup(long=open("README.md").read(), x=open("VERSION").read())\n',
      'setup.cfg': '[metadata]\nname = pkg\n[flake8]\nmax-line-length = 80\n',
      'pyproject.toml':
        '[build-system]\nrequires = ["setuptools"]\n[tool.black]\nline-length = 80\n',
      'README.md': 'Read me\n',
      '.mailmap': 'a\n',
      'requirements/tests.txt': 'six\n',
      'src/pkg/__init__.py': 'version = 1\n',
      'other/__init__.py': 'x = 1\n',
      'pkg/deep/__init__.py': 'x = 1\n',
      'pkg/a.py': 'x = 1\n',
      'tox.ini': '[tox]\n',
      VERSION: '1.0\n',
      'tests/test_a.py': 'x = 1\n',
    };
    const inputsOf = async (files: Readonly<Record<string, string>>): Promise<string> => {
      const tree = await mkdtemp(join(storage, 'tree-'));
      const entries = new Map<string, { mode: string; id: string }>();
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(tree, path)), { recursive: true });
        await writeFile(join(tree, path), text);
        entries.set(path, { mode: '100644', id: blobId(Buffer.from(text)) });
      }
      return JSON.stringify(await setupInputs(tree, entries));
    };

    it('only for a file that its set-up program reads, or may read', async () => {
      const before = await inputsOf(base);
      const changed: string[] = [];
      for (const [path, text] of Object.entries(base)) {
        if ((await inputsOf({ ...base, [path]: `${text}more = 1\n` })) !== before)
          changed.push(path);
      }
      // The last section of setup.cfg and of pyproject.toml is for another program.
      assert.deepEqual(changed, ['setup.py', 'src/pkg/__init__.py', 'VERSION']);
      const { 'README.md': readme, ...without } = base;
      assert.ok(readme);
      assert.notEqual(await inputsOf(without), before, 'the set-up program reads it');
      const read = `${base['setup.py']}requires = open("requirements/tests.txt")\n`;
      assert.match(await inputsOf({ ...base, 'setup.py': read }), /requirements\/tests\.txt/);
      const flit = { 'pyproject.toml': '[project]\nname = "other"\ndynamic = ["version"]\n' };
      const versioned = {
        ...flit,
        'other/__init__.py': '1',
        'other/__about__.py': '1',
        'a/b.py': '',
      };
      assert.match(await inputsOf(versioned), /other\/__init__\.py/);
      assert.doesNotMatch(await inputsOf(versioned), /__about__/);
      const hatch = { 'pyproject.toml': '[tool.hatch.version]\npath = "other/__about__.py"\n' };
      assert.match(await inputsOf({ ...versioned, ...hatch }), /__about__/);
    });

    it('for sections of its configuration that build tools read, not for remarks', async () => {
      const before = await inputsOf(base);
      const cfg = base['setup.cfg'] ?? '';
      const toml = base['pyproject.toml'] ?? '';
      const same = {
        ...base,
        'setup.cfg': `# A remark\n\n${cfg.replace('80', '90')}[tool:pytest]\naddopts = -ra\n`,
        'pyproject.toml': `${toml}[tool.ruff.lint]\nselect = ["E"]\n[[tool.mypy.overrides]]\n`,
      };
      assert.equal(await inputsOf(same), before);
      for (const [path, text] of [
        ['setup.cfg', `${cfg}[options.extras_require]\ntest = six\n`],
        ['pyproject.toml', `${toml}[tool.setuptools.dynamic]\nversion = {attr = "pkg.v"}\n`],
        ['pyproject.toml', `${toml}[project]\nname = "pkg"\n`],
        ['pyproject.toml', `${toml}[tool.hatch.version]\npath = "pkg/a.py"\n`],
      ] as const) {
        assert.notEqual(await inputsOf({ ...base, [path]: text }), before, text);
      }
    });

    it('and installed again only for these, for folders, and for what is compiled', async () => {
      const tree = await mkdtemp(join(storage, 'tree-'));
      const digest = (...paths: string[]): Promise<string | undefined> =>
        installationDigest(
          tree,
          new Map(paths.map((path) => [path, { mode: '100644', id: path }])),
          '1.0',
        );
      const usual = ['pkg/a.py', 'tests/test_a.py'];
      const before = await digest(...usual);
      assert.ok(before);
      assert.equal(await digest(...usual, 'pkg/b.py', 'tests/deep/test_b.py', 'tests/x.c'), before);
      assert.notEqual(await digest(...usual, 'pkg/deep/a.py'), before);
      assert.notEqual(await digest(...usual, 'top.py'), before);
      assert.equal(await digest(...usual, 'pkg/fast.pyx'), undefined);
    });
  });

  it('changes the packages that differ', () => {
    const change = packageChange(
      ['attrs==19.1.0', 'Zope.Interface==5.0', 'six==1.0'],
      ['attrs==20.1.0', 'six==1.0', 'toml==0.10'],
    );
    assert.deepEqual(change, {
      remove: ['attrs', 'zope-interface'],
      add: ['attrs==20.1.0', 'toml==0.10'],
    });
  });
});
