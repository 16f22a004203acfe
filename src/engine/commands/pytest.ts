import { argumentsOf, noOption, wholePlan, type Planning, type TestPlan } from './plan';

/** What the log parsers of the reference harness need, and no cache in the tree. */
const usual = ['-rA', '-p', 'no:cacheprovider'];

/** `pytest -rA FILES`, where pytest is installed. */
export function planPytest(planning: Planning): TestPlan | undefined {
  const { environment, files, recipe } = planning;
  if (environment.pytest === undefined) return undefined;
  // The arguments of a recipe for tox are for the commands of its tox.ini.
  const args = recipe.runner === 'pytest' ? argumentsOf(recipe, usual) : usual;
  return wholePlan('pytest', files, ['-m', 'pytest', ...args, ...testsOf(planning)]);
}

/** What pytest is told to run: files, or tests by their ids, with all cases of each. */
export function testsOf({ files, select }: Planning): readonly string[] {
  return (select ?? files.map((file) => file.path)).map(noOption);
}
