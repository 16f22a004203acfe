import type { Environment } from './engine';

/** Which program runs the tests. */
export type Runner = 'pytest' | 'unittest' | 'sympy' | 'django' | 'script';

/** What to run, and what cannot be run here. */
export interface TestPlan {
  readonly runner: Runner;
  /** Arguments after the interpreter. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the command, relative to the tree. */
  readonly cwd: string;
  /** Files that the command covers, relative to the tree. */
  readonly files: readonly string[];
  /** Files that nothing here can run, with the reason in words. */
  readonly notRun: readonly { readonly path: string; readonly reason: string }[];
}

/** A file of tests, with what the choice of a runner depends on. */
export interface TestFile {
  readonly path: string;
  /** Without pytest the file cannot even be loaded. */
  readonly importsPytest: boolean;
  /** Tests that unittest can run. */
  readonly unittestTests: number;
  /** Tests that only pytest can run. */
  readonly pytestTests: number;
}

/** What `bin/test -C --verbose --seed 0` does, for trees without it. */
const sympyTest = `
import os, sys
os.environ['SYMPY_USE_CACHE'] = 'no'
args, kw = sys.argv[1:], []
if args[:1] == ['-k']:
    kw, args = args[1].split(','), args[2:]
import sympy
sys.exit(not sympy.test(*args, kw=tuple(kw), subprocess=False, verbose=True, seed=0))
`;

const runnersByRepo: Readonly<Record<string, Runner>> = {
  'sympy/sympy': 'sympy',
  'django/django': 'django',
};

/**
 * The test command of a repository for some files, as the reference harness has it (its
 * `MAP_REPO_TO_TEST_FRAMEWORK`), with seeds fixed and without options that only change colours or
 * tracebacks. Where a repository runs under pytest and pytest is missing, files of unittest style
 * run under unittest and the others are named in `notRun`.
 *
 * @param tree `hasBinTest`: R has SymPy's `bin/test`, which its source releases leave out
 * @param select test ids to run instead of whole files, in the form `path::Class::test`
 */
export function planTests(
  repo: string,
  files: readonly TestFile[],
  environment: Environment,
  tree: { readonly hasBinTest: boolean },
  select?: readonly string[],
): TestPlan {
  const runner = runnersByRepo[repo] ?? (environment.pytest === undefined ? 'unittest' : 'pytest');
  const paths = files.map((file) => file.path);
  switch (runner) {
    case 'script':
      throw new Error('a script is planned by planScript');
    case 'pytest':
      return {
        runner,
        args: ['-m', 'pytest', '-rA', '-p', 'no:cacheprovider', ...(select ?? paths).map(noOption)],
        env: {},
        cwd: '.',
        files: paths,
        notRun: [],
      };
    case 'sympy':
      return {
        runner,
        args: [
          ...(tree.hasBinTest ? ['bin/test', '-C', '--verbose', '--seed', '0'] : ['-c', sympyTest]),
          ...(select === undefined
            ? []
            : ['-k', select.map((id) => id.split('::').at(-1)).join(',')]),
          ...paths.map(noOption),
        ],
        env: { PYTHONWARNINGS: 'ignore::UserWarning,ignore::SyntaxWarning' },
        cwd: '.',
        files: paths,
        notRun: [],
      };
    case 'django':
      return {
        runner,
        args: [
          'tests/runtests.py',
          '--verbosity',
          '2',
          '--settings=test_sqlite',
          '--parallel',
          '1',
          ...operands((select ?? paths).map((id) => dotted(id).replace(/^tests\./, ''))),
        ],
        env: {},
        cwd: '.',
        files: paths,
        notRun: [],
      };
    case 'unittest': {
      const runnable = files.filter((file) => !file.importsPytest && file.unittestTests > 0);
      const wanted = select?.filter((id) =>
        runnable.some((file) => id.startsWith(`${file.path}::`)),
      );
      const why = `pytest is not installed for ${environment.interpreter}`;
      return {
        runner,
        args: [
          '-m',
          'unittest',
          '-v',
          ...operands((wanted ?? runnable.map((file) => file.path)).map(dotted)),
        ],
        env: {},
        cwd: '.',
        files: runnable.map((file) => file.path),
        notRun: files
          .filter((file) => file.importsPytest || file.pytestTests > 0)
          .map((file) => ({
            path: file.path,
            reason: runnable.includes(file) ? `${why}, so only its unittest tests ran` : why,
          })),
      };
    }
  }
}

/** Runs one script, whose exit status is its outcome: the reproduction-script mode of the benchmark. */
export function planScript(path: string): TestPlan {
  return { runner: 'script', args: [noOption(path)], env: {}, cwd: '.', files: [path], notRun: [] };
}

/**
 * A path that no program takes for an option, nor for a file of arguments as pytest does with `@`. Test
 * ids stay the same.
 */
function noOption(path: string): string {
  return /^[-@]/.test(path) ? `./${path}` : path;
}

/** Dotted names have no such spelling, but argparse has a sign for the end of the options. */
function operands(names: readonly string[]): readonly string[] {
  return names.some((name) => name.startsWith('-')) ? ['--', ...names] : names;
}

/** `tests/test_a.py::A::test_x` to `tests.test_a.A.test_x`. */
function dotted(id: string): string {
  return id
    .replace(/\.py(?=::|$)/, '')
    .replaceAll('::', '.')
    .replaceAll('/', '.');
}
