import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bareEnvironment, sitePackagesOf } from '../environments';
import { Cancelled, silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { treeLink } from '../../src/engine/environmentMaker';
import { findPython } from '../../src/engine/local/python';
import type { Engine } from '../../src/engine/engine';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { ownerWord } from '../../src/repository/lock';
import type { Trees } from '../../src/repository/trees';
import { makeWorkspace } from '../../src/repository/workspace';
import { loadParser } from '../unit/python/loadParser';
import { editsOf, plain, useExample, write, type Example } from './exampleRepository';
import { environments } from '../../src/environments/environments';

const tracer = resolve('src/engine/tracer');

/** A patch that adds a file of unittest, which every Python has. */
const candidate = (body: string): string => {
  const lines = [
    'import unittest',
    'class A(unittest.TestCase):',
    '  def test_a(self):',
    `    ${body}`,
  ];
  return `diff --git a/tests/test_new.py b/tests/test_new.py
new file mode 100644
--- /dev/null
+++ b/tests/test_new.py
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;
};

describe('the local engine', function () {
  let example: Example;
  let trees: Trees;
  let storage = '';
  useExample((made) => (example = made));
  const prepare = (at: string): Promise<Trees> =>
    example.prepare({ kind: 'commit', from: example.origin }, at);
  // Whoever changes them makes others.
  let shared: Trees;
  before(async () => {
    shared = await prepare(await example.storage());
  });
  beforeEach(async () => {
    storage = await example.storage();
    trees = shared;
  });
  const pairs = (): Promise<string[]> => readdir(join(storage, 'pairs')).catch(() => []);
  const open = async (engine?: Engine): Promise<InstanceSession> =>
    openSession({
      instance: example.instance(),
      trees,
      engine: engine ?? (await localEngine({ environments, storage, tracer })),
      python: await loadParser(),
      store: runStore(storage),
    });
  const options = { timeoutSeconds: 60, reporter: silent, reuse: false };
  const run = async (session: InstanceSession, body: string, signal?: AbortSignal) => {
    const set = { patch: candidate(body), files: ['tests/test_new.py'] };
    const { records } = await session.run(set, { ...options, signal });
    return [records.base, records.fixed].map((record) =>
      record?.trace.outcomes.map(({ outcome }) => outcome).join(),
    );
  };

  it('runs again after it was cancelled at any moment @full', async () => {
    const session = await open();
    try {
      await run(session, 'pass');
      for (let delay = 0; delay < 60; delay += 3) {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), delay);
        await run(session, 'pass', controller.signal).catch((error: unknown) =>
          assert.ok(error instanceof Cancelled, String(error)),
        );
        if (delay % 9 === 0) assert.deepEqual(await run(session, 'pass'), ['passed', 'passed']);
      }
      assert.deepEqual(await run(session, 'pass'), ['passed', 'passed']);
    } finally {
      await session.dispose();
    }
    assert.deepEqual(await pairs(), []);
  });

  it('opens new sandboxes when tests left some that cannot be put back', async () => {
    const session = await open();
    try {
      await run(session, 'pass');
      const [before] = await pairs();
      const pair = join(storage, 'pairs', before ?? '');
      const [side = ''] = (await readdir(pair)).filter((name) => name !== 'owner');
      await rm(join(pair, side, 'git'), { recursive: true });
      assert.deepEqual(await run(session, 'pass'), ['passed', 'passed']);
      const after = await pairs();
      assert.equal(after.length, 1);
      assert.notEqual(after[0], before);
    } finally {
      await session.dispose();
    }
  });

  it('reads files of R, and nothing beyond it by any path or link', async () => {
    trees = await prepare(storage);
    const session = await open();
    try {
      const file = 'cat.py';
      assert.match((await session.readFileOfR(file)) ?? '', /def purr/);
      await symlink(trees.fixed, join(trees.base, 'beyond'));
      await symlink('.git', join(trees.base, 'history'));
      await symlink(file, join(trees.base, 'beside'));
      assert.ok(existsSync(join(trees.fixed, file)));
      for (const each of [
        ...[`../fixed/${file}`, `beyond/${file}`, join(trees.base, file), `./../base/${file}`],
        ...['.git/HEAD', 'history/HEAD', '', '.', '..', '../trees.json', 'no such file'],
      ]) {
        assert.equal(await session.readFileOfR(each), undefined, each);
      }
      assert.equal(await session.readFileOfR('beside'), await session.readFileOfR(file));
    } finally {
      await session.dispose();
    }
  });

  it('runs nothing, and opens nothing, in a session that is over', async () => {
    const session = await open();
    await run(session, 'pass');
    await session.dispose();
    await assert.rejects(run(session, 'pass'), Cancelled);
    assert.deepEqual(await pairs(), []);
  });

  it('leaves nothing behind when sandboxes cannot be opened', async () => {
    const engine = await localEngine({ environments, storage, tracer });
    const place = await engine.prepare(
      example.instance(),
      { ...trees, fixed: join(storage, 'nowhere') },
      { reporter: silent },
    );
    await assert.rejects(place.openPair({ reporter: silent }));
    assert.deepEqual(await pairs(), []);
  });

  it('removes what processes left that are gone, and nothing else', async () => {
    const own = await ownerWord();
    const [pid = '', machine = '', started = ''] = own.split('-');
    const owners: Record<string, string | undefined> = {
      mine: own,
      'of a process whose number was given out again': `${pid}-${machine}-${Number(started) + 1}`,
      'of a process that ended': `4194999-${machine}-1`,
      'of another machine': `${pid}-${'0'.repeat(12)}-${started}`,
      'made a moment ago': undefined,
      'made long ago by one that was killed': undefined,
    };
    for (const [name, owner] of Object.entries(owners)) {
      const folder = join(storage, 'pairs', name);
      await mkdir(folder, { recursive: true });
      if (owner !== undefined) writeFileSync(join(folder, 'owner'), owner);
    }
    const past = new Date(Date.now() - 3600_000);
    await utimes(join(storage, 'pairs', 'made long ago by one that was killed'), past, past);
    await localEngine({ environments, storage, tracer });
    assert.deepEqual((await pairs()).sort(), ['made a moment ago', 'mine', 'of another machine']);
  });

  it('has room for a socket in the temporary folder of a run', async () => {
    const session = await open();
    try {
      const body = `import socket, tempfile; assert len(tempfile.gettempdir()) < ${join(storage, 'pairs').length + 30}`;
      assert.deepEqual(await run(session, body), ['passed', 'passed']);
    } finally {
      await session.dispose();
    }
  });

  it('finds the packages of the tree in each of the usual layouts, also from a child', async () => {
    const session = await open();
    try {
      const added = ['atTop', 'src/inSource', 'lib/inLibrary'].map(
        (path) => `diff --git a/${path}/__init__.py b/${path}/__init__.py
new file mode 100644
--- /dev/null
+++ b/${path}/__init__.py
@@ -0,0 +1,1 @@
+HERE = True
`,
      );
      const child = `import subprocess, sys; subprocess.check_call([sys.executable, "-c", "import atTop, inSource, inLibrary"])`;
      const set = { patch: [candidate(child), ...added].join(''), files: ['tests/test_new.py'] };
      const { records } = await session.run(set, options);
      const outcomes = [records.base, records.fixed].flatMap(
        (record) => record?.trace.outcomes.map(({ outcome }) => outcome) ?? [],
      );
      assert.deepEqual(outcomes, ['passed', 'passed']);
    } finally {
      await session.dispose();
    }
  });

  it('grades an author’s edit of a line that is not UTF-8', async () => {
    const file = 'tests/test_latin.py';
    const latin = (text: string): Buffer =>
      Buffer.from(
        `# -*- coding: latin-1 -*-\nimport unittest\nfrom cat import purr\n\nclass A(unittest.TestCase):\n  def test_a(self):\n    self.assertEqual(${text})\n`,
        'latin1',
      );
    await write(example.origin, { [file]: latin('"é", "\\xe9"') });
    plain(example.origin, 'checkout', '-q', example.base);
    await write(example.origin, { [file]: latin('"é", "\\xe9"') });
    plain(example.origin, 'add', '-A', '-f');
    plain(example.origin, 'commit', '-qm', 'latin');
    const baseCommit = plain(example.origin, 'rev-parse', 'HEAD');
    trees = await example.prepare({ kind: 'commit', from: example.origin }, storage, {
      baseCommit,
    });
    const workspace = join(storage, 'workspace');
    await makeWorkspace(example.instance(), trees, { dataset: 'x', sources: [] }, workspace);
    await write(workspace, { [file]: latin('[purr(), "éü"], [2, "\\xe9\\xfc"]') });
    const session = await open();
    try {
      const text = await editsOf(workspace);
      const result = await evaluateCandidate(
        session,
        { model: 'workspace', text, format: 'unified', mode: 'unit-test' },
        options,
      );
      assert.deepEqual(result.diagnostics, []);
      assert.deepEqual(
        result.tests.map((each) => each.transition),
        ['F→P'],
        result.strict.explanation,
      );
    } finally {
      await session.dispose();
    }
  });
});

describe('the Python of the local engine', function () {
  let folder = '';
  let python = '';
  let site = '';
  const environment = { ...process.env };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'python-test-'));
    python = join(bareEnvironment(folder), 'bin', 'python');
    site = sitePackagesOf(python);
  });
  after(() => rm(folder, { recursive: true, force: true }));
  afterEach(() => {
    for (const name of ['HOME', 'PYTHONPATH', 'PYTHONUSERBASE', 'PYTHONNOUSERSITE']) {
      const value = environment[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  const digest = async (): Promise<string> => (await findPython(python, tracer)).digest;

  it('is another one after whatever can change a run, and only then', async () => {
    const elsewhere = join(folder, 'elsewhere');
    const project = join(folder, 'project');
    await write(elsewhere, { 'dep.py': 'V = 1\n', 'more.txt': '' });
    await write(project, { 'src/dep2/__init__.py': 'V = 1\n' });
    const seen = [await digest()];
    const isAnother = async (what: string): Promise<void> => {
      const now = await digest();
      assert.ok(!seen.includes(now), what);
      assert.equal(await digest(), now, `stable: ${what}`);
      seen.push(now);
    };
    await write(site, { 'a-1.dist-info/METADATA': '' });
    await isAnother('a package');
    await write(site, { 'path.pth': `${elsewhere}\n` });
    await isAnother('a link to a folder');
    const touch = (path: string): Promise<void> => {
      const time = new Date(Date.now() + 5000 * seen.length);
      return utimes(path, time, time);
    };
    writeFileSync(join(elsewhere, 'dep.py'), 'V = 2\n');
    await touch(join(elsewhere, 'dep.py'));
    await isAnother('an edit behind the link');
    await write(site, {
      'dep2-1.dist-info/direct_url.json': JSON.stringify({
        url: `file://${project}`,
        dir_info: { editable: true },
      }),
      '__editable___dep2_finder.py': 'MAPPING = {}\n',
    });
    await isAnother('an editable install');
    await touch(join(project, 'src/dep2/__init__.py'));
    await isAnother('an edit of it');
    await write(site, { '__editable___dep2_finder.py': 'MAPPING = {"dep2": "x"}\n' });
    await isAnother('a finder that leads elsewhere');
    await touch(join(site, 'a-1.dist-info'));
    await isAnother('the same version installed again');
    const last = await digest();
    await write(elsewhere, { '__pycache__/dep.cpython-311.pyc': 'x', 'more.txt': 'x' });
    assert.equal(await digest(), last, 'compiled files');
  });

  it('is asked as tests are run: without what the user has set for Python', async () => {
    const set = join(folder, 'set');
    await write(set, { 'pytest.py': '__version__ = "1"\n' });
    process.env['PYTHONPATH'] = set;
    const cwd = process.cwd();
    process.chdir(set);
    try {
      assert.equal((await findPython(python, tracer)).packages['pytest'], undefined);
    } finally {
      process.chdir(cwd);
    }
  });

  it('has the pytest that is R itself, of which a made environment has only metadata', async () => {
    const info = 'pytest-5.4.dist-info';
    await write(site, {
      [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: pytest\nVersion: 5.4\n',
    });
    const asked = async () => (await findPython(python, tracer)).packages['pytest'];
    assert.equal(await asked(), undefined, 'metadata that somebody left behind');
    await write(site, { [treeLink]: '' });
    assert.equal(await asked(), '5.4');
    await Promise.all(
      [info, treeLink].map((name) => rm(join(site, name), { recursive: true, force: true })),
    );
  });

  it('finds packages of the user, also in runs, where the home folder is another @full', async function () {
    const executable = execFileSync(python, ['-c', 'import sys; print(sys._base_executable)'])
      .toString()
      .trim();
    const home = join(folder, 'home');
    process.env['HOME'] = home;
    const ask =
      'import site; print(site.getusersitepackages() if site.ENABLE_USER_SITE is not None else "")';
    const user = execFileSync(executable, ['-c', ask]).toString().trim();
    if (user === '') this.skip();
    await write(user, {
      'only_for_me.py': 'V = 1\n',
      'pytest/__init__.py': '__version__ = "0"\n',
      'pytest-0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: pytest\nVersion: 0\n',
    });
    const found = await findPython(executable, tracer);
    assert.equal(found.userBase, join(home, '.local'));
    assert.ok(existsSync(user));
    assert.match(readFileSync(join(user, 'only_for_me.py'), 'utf8'), /V = 1/);
  });
});
