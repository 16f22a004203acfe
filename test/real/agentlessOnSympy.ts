import { stageOf } from '../commandLine/agentlessScript';
import type { Asked } from '../commandLine/fakeModels';

/** A SymPy instance whose issue describes the whole behaviour, and its source release. */
export const sympyId = 'sympy__sympy-24152';
export const sympyRelease = ['sympy', '1.11.1'] as const;

const quantum = 'sympy/physics/quantum';
const code = `${quantum}/tensorproduct.py`;
const ofTests = `${quantum}/tests/test_tensorproduct.py`;
/** A test that passes on R, and that the model says must not be used. */
export const excludedTest = `${ofTests}::test_eval_trace`;
/** A test that passes on R, and that {@link breaking} breaks. */
export const brokenTest = `${ofTests}::test_tensor_product_expand`;

const fenced = (...lines: string[]): string =>
  ['Some thoughts.', '', '```', ...lines, '```', ''].join('\n');

const edit = (find: readonly string[], replace: readonly string[], path = code): string =>
  [
    ...['The check misses scalars. Hence:', '', '```python', `### ${path}`],
    ...['<<<<<<< SEARCH', ...find, '=======', ...replace, '>>>>>>> REPLACE', '```', ''],
  ].join('\n');

const oldCheck = [
  '                    if isinstance(tp, TensorProduct):',
  '                        tp = tp._eval_expand_tensorproduct()',
  '                    add_args.append(tp)',
];
const newCheck = [
  '                    c_part, nc_part = tp.args_cnc()',
  '                    if len(nc_part) == 1 and isinstance(nc_part[0], TensorProduct):',
  '                        nc_part = (nc_part[0]._eval_expand_tensorproduct(),)',
  '                    add_args.append(Mul(*c_part)*Mul(*nc_part))',
];

/** Solves the issue, as its author proposes. */
const right = edit(oldCheck, newCheck);
/** The same after normalising. */
const rightInOtherWords = edit(
  oldCheck,
  newCheck.flatMap((line, at) =>
    at === 0
      ? ['                    # Scalars come first.', line, '']
      : [line.replace('Mul(*c_part)*Mul(*nc_part)', '(Mul( *c_part ) * Mul( *nc_part ))')],
  ),
);
/** Changes nothing that the issue is about. */
const useless = edit(oldCheck.slice(0, 1), [
  '                    if isinstance(tp, TensorProduct) and tp.args:',
]);
/** Expands nothing at all. */
const breaking = edit(
  ['        if add_args:', '            return Add(*add_args)'],
  ['        if add_args and False:', '            return Add(*add_args)'],
);
const notApplying = edit(['                    if is_scalar(tp):'], newCheck);
const ofTestsOnly = edit(
  ['from sympy.core.symbol import symbols'],
  ['from sympy import symbols'],
  ofTests,
);

/** Patches by the number of the sample, the first of each set of locations aside. */
const patches = [
  right,
  breaking,
  rightInOtherWords,
  notApplying,
  useless,
  right,
  ofTestsOnly,
  rightInOtherWords,
  'I would not change anything.',
];

/** Sets of edit locations; the third sample names none. */
const locations = [
  fenced(code, 'lines: 243-258'),
  fenced(code, 'function: TensorProduct._eval_expand_tensorproduct', 'line: 99999'),
  'I cannot say.',
  fenced(code, 'class: TensorProduct', `${quantum}/qapply.py`, 'function: qapply'),
];

const script = (factors: string, comment: string): string =>
  [
    'A script.',
    '',
    '```python',
    'from sympy.physics.quantum import TensorProduct',
    'from sympy.physics.quantum.operator import Operator',
    '',
    ...['', 'def test_expand():', `    # ${comment}`],
    `    ${factors}, other = Operator('U'), Operator('V')`,
    '    try:',
    `        found = TensorProduct(2*${factors} - other, ${factors} + other).expand(tensorproduct=True)`,
    '    except Exception:',
    '        print("Other issues")',
    '        return',
    `    wanted = (2*TensorProduct(${factors}, ${factors}) + 2*TensorProduct(${factors}, other)`,
    `              - TensorProduct(other, ${factors}) - TensorProduct(other, other))`,
    '    if found == wanted:',
    '        print("Issue resolved")',
    '    else:',
    '        print("Issue reproduced")',
    '',
    ...['', "if __name__ == '__main__':", '    test_expand()', '```', ''],
  ].join('\n');

const plainScript = (line: string): string => `So:\n\n\`\`\`python\n${line}\n\`\`\`\n`;

/** Scripts by the number of the sample: the second and the last are one after normalising. */
export const reproductionScripts = [
  plainScript('print("Issue resolved")  # not "Issue reproduced"'),
  script('one', 'Factors with scalars.'),
  plainScript('print("Issue reproduced")'),
  plainScript('raise ValueError("Issue reproduced")'),
  'I cannot write a script.',
  script('first', 'The example of the issue.'),
];

/**
 * A model that answers by the stage, and by how many requests of the stage were answered before.
 *
 * @param before number of those
 */
export function agentlessOnSympy(
  asked: Pick<Asked, 'text' | 'temperature'>,
  before: number,
): string {
  switch (stageOf(asked)) {
    case 'files':
      return fenced(code, `${quantum}/qapply.py`, `${quantum}/commutator.py`, `${quantum}/gone.py`);
    case 'folders':
      return fenced('sympy/plotting/', 'sympy/polys/', 'sympy/solvers/', 'sympy/gone/', 'doc/');
    case 'elements':
      return fenced(
        ...[code, 'method: TensorProduct._eval_expand_tensorproduct(self, **hints)'],
        ...['function: TensorProduct.flatten', 'variable: _combined_printing', ''],
        ...[`${quantum}/qapply.py`, 'function: qapply', 'function: nothing'],
      );
    case 'locations':
      return locations[before] ?? '';
    case 'regression':
      return `One depends on it.\n<exclude>\n${excludedTest}\n</exclude>`;
    case 'reproduction':
      return reproductionScripts[before % reproductionScripts.length] ?? '';
    case 'retrieval':
    case 'combined':
    case 'repair':
      return asked.temperature === 0 ? useless : (patches[before % patches.length] ?? '');
  }
}

/** A unified diff with the right patch, for a request that is of no stage. */
export const rightDiff = [
  ...['```diff', `--- a/${code}`, `+++ b/${code}`, '@@ -246,6 +246,7 @@'],
  '             if isinstance(args[i], Add):',
  '                 for aa in args[i].args:',
  '                     tp = TensorProduct(*args[:i] + (aa,) + args[i + 1:])',
  ...oldCheck.map((line) => `-${line}`),
  ...newCheck.map((line) => `+${line}`),
  ...['```', ''],
].join('\n');

const words = ['TensorProduct', 'expand', 'Operator', 'qapply', 'scalar', 'tensor'];

/** Vectors with the numbers of some words. */
export const vectorsOnSympy = (texts: readonly string[]): number[][] =>
  texts.map((text) => [1, ...words.map((word) => text.split(word).length - 1)]);
