import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeUnified } from '../../src/patch/makeUnified';
import { bareEnvironment, environment, sitePackagesOf, sourceRelease } from '../environments';

/** What an author works on in a benchmark: an instance, R, and an interpreter. */
export interface RealSet {
  readonly dataset: string;
  readonly id: string;
  readonly source: string;
  /** Undefined for the Python on PATH. */
  readonly python: string | undefined;
  /** Whether the candidate is the golden tests, and not one of the bundled predictions. */
  readonly isGolden: boolean;
}

interface RealSetDescriptor {
  readonly title: string;
  /** Makes the set, with what is temporary in a folder. */
  readonly make: (folder: string) => Promise<RealSet>;
}

const sample = resolve(__dirname, '..', '..', 'media', 'sample');

const bundledOn = (python: string): RealSet => {
  const dataset = join(sample, 'instance.jsonl');
  const row = readFileSync(dataset, 'utf8').split('\n')[0] ?? '';
  const { instance_id: id } = JSON.parse(row) as { instance_id: string };
  return { dataset, id, source: join(sample, 'repository'), python, isGolden: false };
};

/** Benchmarks have no test to skip: what the package registry lacks is an error. */
const unskippable = {
  skip: () => {
    throw new Error('the package registry is not reachable, and this benchmark needs it');
  },
} as unknown as Mocha.Context;

const pythonWith = async (...packages: readonly string[]): Promise<string> =>
  join(await environment(unskippable, 'python3', packages), 'bin', 'python');

/** Files that `environment of 55,000 files` has more than pytest's own. */
const filler = { folders: 550, files: 100 };

/** Made once and cached, since it takes longer to remove than to measure. */
async function largeEnvironment(): Promise<string> {
  const from = await environment(unskippable, 'python3', ['pytest==8.3.5']);
  const home = `${from}-large`;
  const ready = join(home, 'ready-large');
  const python = join(home, 'bin', 'python');
  if (existsSync(ready)) return python;
  await cp(from, home, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const packages = sitePackagesOf(python);
  for (let at = 0; at < filler.folders; at += 1) {
    const name = join(packages, 'filler', `part_${at}`);
    mkdirSync(name, { recursive: true });
    for (let file = 0; file < filler.files; file += 1) {
      writeFileSync(join(name, `module_${file}.py`), `VALUE = ${file}\n`);
    }
  }
  writeFileSync(ready, '');
  return python;
}

/** A release whose X* adds a name to a module, and whose T* adds a test of it to a file of R. */
async function onRelease(
  folder: string,
  of: {
    readonly repo: string;
    readonly release: readonly [name: string, version: string];
    readonly module: string;
    readonly tests: string;
    /** Where the test goes, and its text. */
    readonly before: string;
    readonly test: string;
    readonly python: string;
  },
): Promise<RealSet> {
  const [name, version] = of.release;
  const archive = await sourceRelease(unskippable, name, version);
  // Archives differ in how they write the project's name.
  const source = join(folder, 'release');
  mkdirSync(source);
  execFileSync('tar', ['-xzf', archive, '-C', source, '--strip-components=1']);
  const read = (path: string): string => readFileSync(join(source, path), 'utf8');
  const [module, tests] = [read(of.module), read(of.tests)];
  if (!tests.includes(of.before)) throw new Error(`${of.tests} has no ${of.before}`);
  const id = `${of.repo.replace('/', '__')}-1`;
  const row = {
    ...{ repo: of.repo, instance_id: id, base_commit: '0'.repeat(40), problem_statement: 'x' },
    ...{
      version: version
        .split('.')
        .slice(0, 2)
        .join('.')
        .replace(/[a-z].*/, ''),
    },
    ...{ created_at: '2022-11-01T00:00:00Z', hints_text: '' },
    ...{ FAIL_TO_PASS: '[]', PASS_TO_PASS: '[]', environment_setup_commit: '0'.repeat(40) },
    patch: makeUnified([{ path: of.module, before: module, after: `${module}\n\nPURR = 1\n` }]),
    test_patch: makeUnified([
      { path: of.tests, before: tests, after: tests.replace(of.before, `${of.test}${of.before}`) },
    ]),
  };
  const dataset = join(folder, 'rows.jsonl');
  writeFileSync(dataset, `${JSON.stringify(row)}\n`);
  return { dataset, id, source, python: of.python, isGolden: true };
}

/** The sets by name. */
export const realSets: Readonly<Record<string, RealSetDescriptor>> = {
  bundled: {
    title: 'bundled instance, pytest',
    make: async () => bundledOn(await pythonWith('pytest==8.3.5')),
  },
  large: {
    title: 'the same, in an environment of 55,000 files',
    make: async () => bundledOn(await largeEnvironment()),
  },
  unittest: {
    title: 'the same, unittest',
    make: async (folder) => bundledOn(join(bareEnvironment(folder), 'bin', 'python')),
  },
  sympy: {
    title: 'SymPy 1.11.1, its own runner',
    make: async (folder) =>
      onRelease(folder, {
        ...{ repo: 'sympy/sympy', release: ['sympy', '1.11.1'] },
        ...{ module: 'sympy/core/add.py', tests: 'sympy/core/tests/test_var.py' },
        before: 'def test_var():\n',
        test: 'def test_purr():\n    from sympy.core import add\n    assert add.PURR == 1\n\n\n',
        python: await pythonWith('mpmath==1.3.0', 'pytest==8.3.5'),
      }),
  },
  django: {
    title: 'Django 4.1, its own runner',
    make: async (folder) =>
      onRelease(folder, {
        ...{ repo: 'django/django', release: ['django', '4.1a1'] },
        ...{ module: 'django/utils/text.py', tests: 'tests/utils_tests/test_text.py' },
        before: '    def test_get_text_list(self):\n',
        test: '    def test_purr(self):\n        self.assertEqual(text.PURR, 1)\n\n',
        python: await pythonWith('asgiref==3.5.2', 'sqlparse==0.4.2'),
      }),
  },
};
