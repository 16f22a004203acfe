import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Cancelled, silent } from '../../src/domain/work';
import { automaticEngine } from '../../src/engine/local/automaticEngine';
import { treeVariable, writtenFolder } from '../../src/engine/environmentMaker';
import { pythonOfVersion } from '../../src/environments/virtual/tools';
import { bareEnvironment, orSkip } from '../environments';
import { plain, useExample, write, type Example, type Files } from './exampleRepository';
import { environments } from '../../src/environments/environments';

describe('the environment that is made for an instance @full', function () {
  let example: Example;
  useExample((made) => (example = made));

  it('has its Python, its requirements as of its day, and of R only the metadata', async function () {
    const python = await pythonOfVersion('3.9', 'octo/cat').catch(() => this.skip());
    const { origin, base } = example;
    plain(origin, 'checkout', '-q', base);
    // As setuptools-scm does: building writes a module that R does not have.
    const setup =
      'from setuptools import setup\nopen("_version.py", "w").write("version = 7\\n")\n' +
      'setup(name="cat", version="7", py_modules=["cat", "_version"], install_requires=["click"])\n';
    await write(origin, { 'setup.py': setup });
    plain(origin, 'add', 'setup.py');
    plain(origin, 'commit', '-qm', 'a project');
    const baseCommit = plain(origin, 'rev-parse', 'HEAD');
    const storage = await example.storage();
    const about = { baseCommit, createdAt: '2023-04-14T00:00:00Z' };
    const source = { kind: 'commit', from: origin } as const;
    const trees = await example.prepare(source, storage, about);
    const request = { instance: example.instance(about), tree: trees.base, storage };
    const steps: string[] = [];
    const logged: string[] = [];
    const reporter = {
      log: (line: string) => void logged.push(line),
      progress: (step: string) => void steps.push(step),
    };
    const make = () =>
      orSkip(this, 'packages', () => environments.virtualEnvironment(request, { reporter }));
    const { interpreter: made, moved } = await make();
    assert.equal(moved, undefined);
    const list = execFileSync(made, ['-m', 'pip', 'list', '--format', 'freeze']).toString();
    // The latest releases of that day.
    assert.match(list, /^pytest==7\.3\.[01]$/m);
    assert.match(list, /^click==8\.1\.3$/m);
    assert.match(list, /^cat==7$/m);
    const version = execFileSync(made, ['-c', 'import sys; print(sys.version_info[:2])']);
    assert.equal(version.toString().trim(), '(3, 9)');
    const importCat = (env: NodeJS.ProcessEnv) =>
      execFileSync(made, ['-c', 'import cat'], { cwd: '/', stdio: 'ignore', env });
    assert.throws(() => importCat({}));
    // A program that a test starts without PYTHONPATH finds the tree under test all the same.
    importCat({ [treeVariable]: trees.base });
    const site = join(dirname(dirname(made)), 'lib', 'python3.9', 'site-packages');
    const click = await stat(join(site, 'click', 'core.py'));
    assert.equal(click.nlink, 1, "a link to uv's cache changes with other environments");
    const compiled = await readdir(join(site, 'click', '__pycache__'));
    assert.ok(compiled.some((name) => name.startsWith('core.') && name.endsWith('.pyc')));
    const written = await readFile(join(site, writtenFolder, '_version.py'), 'utf8');
    assert.equal(written, 'version = 7\n');
    assert.deepEqual(await readdir(join(site, writtenFolder)), ['_version.py']);
    assert.ok(steps.some((step) => /installing \d+ packages/.test(step)));
    assert.equal(existsSync(join(trees.base, 'cat.egg-info')), false, 'R is as it was');
    steps.length = 0;
    assert.equal((await make()).interpreter, made);
    assert.ok(
      steps.every((step) => !step.includes('installing')),
      'it is reused',
    );
    let current = made;
    const siteOf = (python: string): string =>
      join(dirname(dirname(python)), 'lib', 'python3.9', 'site-packages');
    const pip = (...args: string[]): string =>
      execFileSync(current, ['-m', 'pip', '--disable-pip-version-check', ...args], {
        encoding: 'utf8',
      });
    pip('install', '--quiet', '--upgrade', 'pip');
    assert.equal((await make()).interpreter, made);
    assert.ok(steps.every((step) => !step.includes('installing')));
    for (const spoil of [
      () => pip('uninstall', '--quiet', '--yes', 'click'),
      () => pip('install', '--quiet', 'click==8.1.2'),
      () => rm(join(siteOf(current), 'click', 'core.py')),
    ]) {
      logged.length = 0;
      const spoiled = current;
      await spoil();
      current = (await make()).interpreter;
      // Tests may still run with the other one.
      assert.notEqual(current, spoiled);
      assert.ok(existsSync(spoiled));
      assert.match(pip('list', '--format', 'freeze'), /^click==8\.1\.3$/m);
      assert.ok(existsSync(join(siteOf(current), 'click', 'core.py')));
      assert.match(logged.join('\n'), /no longer has all of click; creating a new one/);
      assert.equal((await make()).interpreter, current);
    }
    await rm(join(siteOf(current), 'click', 'core.py'));
    const offline = { ...process.env };
    Object.assign(process.env, { UV_OFFLINE: '1', UV_NO_CACHE: '1' });
    try {
      assert.equal((await make()).interpreter, current, 'without a network, as it is');
      await assert.rejects(
        environments.virtualEnvironment({ ...request, isForPerson: true }, { reporter }),
      );
    } finally {
      for (const name of ['UV_OFFLINE', 'UV_NO_CACHE']) {
        if (offline[name] === undefined) delete process.env[name];
        else process.env[name] = offline[name];
      }
    }
    const folder = dirname(dirname(dirname(made)));
    const entries = await readdir(folder);
    assert.ok(
      entries.every((name) => !name.startsWith('.making')),
      entries.join(),
    );
    assert.notEqual(python, made);

    const abort = new AbortController();
    const asked = { ...request, storage: await example.storage() };
    const cancelled = environments.virtualEnvironment(asked, {
      signal: abort.signal,
      reporter: { ...silent, progress: () => abort.abort() },
    });
    await assert.rejects(cancelled, Cancelled);
  });

  it('takes packages of the first later day that has what R asks for', async function () {
    await pythonOfVersion('3.9', 'octo/cat').catch(() => this.skip());
    const { origin, base } = example;
    plain(origin, 'checkout', '-q', base);
    const setup =
      'from setuptools import setup\nsetup(name="cat", version="7", py_modules=["cat"], install_requires=["click>=8.1.4"])\n';
    await write(origin, { 'setup.py': setup });
    plain(origin, 'add', 'setup.py');
    plain(origin, 'commit', '-qm', 'a release ahead of its day');
    const baseCommit = plain(origin, 'rev-parse', 'HEAD');
    const storage = await example.storage();
    const about = { baseCommit, createdAt: '2023-07-01T00:00:00Z' };
    const trees = await example.prepare({ kind: 'commit', from: origin }, storage, about);
    const request = { instance: example.instance(about), tree: trees.base, storage };
    const make = () =>
      orSkip(this, 'packages', () =>
        environments.virtualEnvironment(request, { reporter: silent }),
      );
    const made = await make();
    // The day on which click 8.1.4 was released.
    assert.deepEqual(made.moved, { wanted: '2023-07-01', taken: '2023-07-06' });
    const list = execFileSync(made.interpreter, ['-m', 'pip', 'list', '--format', 'freeze']);
    assert.match(list.toString(), /^click==8\.1\.4$/m);
    assert.deepEqual(await make(), made, 'the kept environment has its day too');
  });

  it('builds packages that are older than what setuptools lost with one that has it', async function () {
    await pythonOfVersion('3.9', 'octo/cat').catch(() => this.skip());
    const { origin, base } = example;
    plain(origin, 'checkout', '-q', base);
    // MarkupSafe 1.0 has no wheel, and its set-up program needs setuptools.Feature.
    const setup =
      'from setuptools import setup\nsetup(name="cat", py_modules=["cat"], install_requires=["markupsafe==1.0"])\n';
    await write(origin, { 'setup.py': setup });
    plain(origin, 'add', 'setup.py');
    plain(origin, 'commit', '-qm', 'an old requirement');
    const baseCommit = plain(origin, 'rev-parse', 'HEAD');
    const about = { baseCommit, createdAt: '2023-07-01T00:00:00Z' };
    const storage = await example.storage();
    const trees = await example.prepare({ kind: 'commit', from: origin }, storage, about);
    const request = { instance: example.instance(about), tree: trees.base, storage };
    const made = await orSkip(this, 'packages', () =>
      environments.virtualEnvironment(request, { reporter: silent }),
    );
    const list = execFileSync(made.interpreter, ['-m', 'pip', 'list', '--format', 'freeze']);
    assert.match(list.toString(), /^MarkupSafe==1\.0$/m);
  });

  it('is the default where R does not fit the interpreter at hand, which is used otherwise', async function () {
    await pythonOfVersion('3.9', 'octo/cat').catch(() => this.skip());
    const python = join(bareEnvironment(example.folder), 'bin', 'python');
    const { origin, base } = example;
    const storage = await example.storage();
    const lines: string[] = [];
    const work = { reporter: { ...silent, log: (line: string) => void lines.push(line) } };
    const tracer = resolve('src/engine/tracer');
    const engine = await automaticEngine({ environments, storage, tracer, python });
    const interpreterFor = async (files: Files, version: string): Promise<string> => {
      plain(origin, 'checkout', '-q', base);
      await write(origin, files);
      plain(origin, 'add', '.');
      plain(origin, 'commit', '-qm', version);
      const baseCommit = plain(origin, 'rev-parse', 'HEAD');
      const about = { id: `octo__cat-${version}`, baseCommit, version, createdAt: '2023-04-14' };
      const trees = await example.prepare({ kind: 'commit', from: origin }, storage, about);
      const instance = example.instance(about);
      return (await engine.prepare(instance, trees, work)).environment.interpreter;
    };
    try {
      assert.equal(
        await interpreterFor({ 'tests/test_other.py': 'import unittest\n' }, '1'),
        python,
      );
      assert.deepEqual(lines, []);
      assert.equal(engine.environment?.interpreter, python, 'one for all so far');

      const setup = (requires: string): Files => ({
        'cat.py': `import ${requires}\ndef purr():\n    return 1\n`,
        'setup.py': `from setuptools import setup\nsetup(name="cat", py_modules=["cat"], install_requires=["${requires}"])\n`,
      });
      const made = await orSkip(this, 'packages', async () => {
        const found = await interpreterFor(setup('click'), '2');
        if (found === python) throw new Error(lines.join('\n'));
        return found;
      });
      assert.match(made, /virtualenvs.octo-cat-2-/);
      assert.match(
        lines.join('\n'),
        /R is incompatible with CPython .*bare.bin.python \(ModuleNotFoundError: No module named 'click'\)/,
      );
      assert.equal(engine.environment, undefined);

      // Its tests need pytest, as half of the files say.
      const tests = { 'tests/test_cat.py': 'import pytest\n', 'tests/test_b.py': '' };
      assert.match(await interpreterFor(tests, '3'), /virtualenvs.octo-cat-3-/);
      assert.match(lines.join('\n'), /its tests import pytest, which is not installed/);

      // What cannot be made is said, and the interpreter at hand is used.
      const unknown = 'no_such_package_of_anyone';
      lines.length = 0;
      assert.equal(await interpreterFor(setup(unknown), '4'), python);
      assert.match(
        lines.join('\n'),
        /octo__cat-4: its own environment could not be created: .*no-such/s,
      );
    } finally {
      await engine.dispose();
    }
  });

  it('says how to get a Python that is not there', async () => {
    await assert.rejects(
      pythonOfVersion('3.99', 'octo/cat 1.0'),
      /octo\/cat 1\.0 needs Python 3\.99, which is not installed.*uv python install 3\.99/,
    );
  });
});
