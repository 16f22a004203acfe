import { isWithin } from '../environments/recipes';
import { argumentsOf, dotted, operands, wholePlan, type Planning, type TestPlan } from './plan';

/**
 * Django's own `tests/runtests.py`, with labels for files: dotted, and without the leading `tests/`.
 * One process, since the log parser of the reference harness reads the lines of parallel tests as they
 * come; before 1.9 there is no other way, and no option for it.
 */
export async function planDjango(planning: Planning): Promise<TestPlan> {
  const { files, recipe, select } = planning;
  const args = argumentsOf(recipe, [
    '--verbosity',
    '2',
    '--settings=test_sqlite',
    ...((await runsInParallel(planning)) ? ['--parallel', '1'] : []),
  ]);
  const tests = select ?? files.map((file) => file.path);
  const labels = tests.map((id) => dotted(id).replace(/^tests\./, ''));
  return wholePlan('django', files, ['tests/runtests.py', ...args, ...operands(labels)]);
}

/** While 1.9 was written the option came; its instances are on both sides of that. */
async function runsInParallel({ readFileOfR, version }: Planning): Promise<boolean> {
  const program = await readFileOfR('tests/runtests.py');
  if (program !== undefined) return /['"]--parallel['"]/.test(program);
  return version === '' || isWithin(version, '1.9-');
}
