import { argumentsOf, noOption, wholePlan, type Planning, type TestPlan } from './plan';

/**
 * What `bin/test -C --verbose --seed 0` does, for trees without it (source releases leave it out) and
 * for single tests: `-k` of bin/test looks for parts of names, takes one word before 1.7, and after that
 * swallows the files behind it. `--only` takes names of functions, divided by commas.
 */
const program = `
import os, sys
os.environ['SYMPY_USE_CACHE'] = 'no'
args, only = sys.argv[1:], None
if args[:1] == ['--only']:
    only, args = set(args[1].split(',')), args[2:]
import sympy
try:
    import sympy.testing.runtests as runner
except ImportError:
    import sympy.utilities.runtests as runner
if only is not None:
    runner.SymPyTests.matches = lambda self, function: function.__name__ in only
sys.exit(not runner.test(*args, subprocess=False, verbose=True, seed=0))
`;

/** SymPy's own runner, with its options as R has them. */
export async function planSympy({
  files,
  readFileOfR,
  recipe,
  select,
}: Planning): Promise<TestPlan> {
  const binTest = select === undefined ? await readFileOfR('bin/test') : undefined;
  const only =
    select === undefined ? [] : ['--only', select.map((id) => id.split('::').at(-1)).join(',')];
  const command =
    binTest === undefined
      ? ['-c', program, ...only]
      : ['bin/test', ...argumentsOf(recipe, optionsOf(binTest))];
  return wholePlan('sympy', files, [...command, ...files.map((file) => noOption(file.path))], {
    PYTHONWARNINGS: 'ignore::UserWarning,ignore::SyntaxWarning',
  });
}

/**
 * The cache cannot be switched off before 0.7.2, nor the seed be set before 0.7.1. From 1.13 on pytest
 * runs the tests unless SymPy's own runner is asked for, whose log is what the reference harness reads.
 */
function optionsOf(binTest: string): string[] {
  const has = (option: string): boolean =>
    binTest.includes(`'${option}'`) || binTest.includes(`"${option}"`);
  return [
    ...(has('-C') ? ['-C'] : []),
    '--verbose',
    ...(has('--seed') ? ['--seed', '0'] : []),
    ...(has('--use-sympy-runner') ? ['--use-sympy-runner'] : []),
  ];
}
