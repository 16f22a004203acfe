import { nameOf } from '../../domain/testId';
import { testArgumentsOf, noOption, wholePlan, type Planning, type TestRunner } from './testRunner';
import type { TestPlan } from './testPlan';
import { splitPythonWords } from './pythonCharacters';
import { pythonText } from '../pythonProgram';

/**
 * Does what `bin/test -C --verbose --seed 0` does, for trees without it (source releases) and for
 * single tests. `-k` of bin/test matches parts of names. Before 1.7 it takes a single word, and
 * afterwards it also takes the files after it. `--only` takes names of functions, separated by
 * commas.
 */
const program = (): string => pythonText('run_sympy.py');

export const sympy: TestRunner = {
  name: 'sympy',
  startsAhead: true,
  // As run_sympy.py and `bin/test -C`.
  beforeR: { SYMPY_USE_CACHE: 'no' },
  plan: planSympy,
};

/** Plans SymPy's own runner, with the options that R's version has. */
async function planSympy({ files, readFileOfR, recipe, select }: Planning): Promise<TestPlan> {
  const binTest = select === undefined ? await readFileOfR('bin/test') : undefined;
  const only = select === undefined ? [] : ['--only', select.map(nameOf).join(',')];
  const command =
    binTest === undefined
      ? ['-c', program(), ...only]
      : ['bin/test', ...testArgumentsOf(recipe, optionsOf(binTest))];
  return wholePlan('sympy', files, [...command, ...files.map((file) => noOption(file.path))], {
    PYTHONWARNINGS: 'ignore::UserWarning,ignore::SyntaxWarning',
  });
}

/**
 * Before 0.7.2 the cache cannot be disabled, and before 0.7.1 no seed can be set. From 1.13 on,
 * pytest runs the tests unless SymPy's own runner is requested. The reference harness reads the log
 * of SymPy's runner.
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

/**
 * Parses logs of SymPy's `bin/test --verbose`: lines such as `test_x ok`. The log shows some
 * failures only at its end, under headings such as `____ sympy/core/tests/test_x.py:test_y ____`
 * below a line of `_`.
 */
export function parseSympy(log: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const test of failureHeadings(log)) found.set(test, 'FAILED');
  const words = splitPythonWords(log);
  const endsInSpace = !log.endsWith(words.at(-1) ?? '');
  for (let index = 0; index + 1 < words.length; index++) {
    const name = words[index] ?? '';
    const at = name.indexOf('test_');
    const result = status.get(words[index + 1] ?? '');
    if (at < 0 || result === undefined) continue;
    if (index + 2 === words.length && !endsInSpace) continue;
    found.set(name.slice(at), result);
    index++;
  }
  return found;
}

const status: ReadonlyMap<string, string> = new Map([
  ['ok', 'PASSED'],
  ['F', 'FAILED'],
  ['E', 'ERROR'],
]);

/**
 * The text after `.py:` in headings between underscores, below a line that ends in an underscore.
 */
function* failureHeadings(log: string): Generator<string> {
  let from = 0;
  for (;;) {
    const before = log.indexOf('_\n', from);
    if (before < 0) return;
    from = before + 1;
    const start = before + 2;
    const newline = log.indexOf('\n', start);
    const line = log.slice(start, newline < 0 ? log.length : newline);
    const left = skipUnderscores(line, 0);
    const lastSpace = line.lastIndexOf(' ');
    if (line[left] !== ' ' || lastSpace < left + 5) continue;
    const suffix = line.lastIndexOf('.py:', lastSpace - 4);
    if (suffix < left + 1) continue;
    yield line.slice(line[suffix + 4] === ':' ? suffix + 5 : suffix + 4, lastSpace);
    // The heading is consumed, with the underscores that end it.
    from = start + skipUnderscores(line, lastSpace + 1);
  }
}

function skipUnderscores(text: string, from: number): number {
  let at = from;
  while (text[at] === '_') at++;
  return at;
}
