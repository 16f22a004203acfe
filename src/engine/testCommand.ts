import { recipeOf, type Runner } from './environments/recipes';
import { planDjango } from './commands/django';
import type { Adapter, PlanRequest, TestPlan } from './commands/plan';
import { planPytest } from './commands/pytest';
import { planSympy } from './commands/sympy';
import { planTox } from './commands/tox';
import { planUnittest } from './commands/unittest';

export type { PlanRequest, TestFile, TestPlan } from './commands/plan';
export { planScript } from './commands/script';
export type { Runner } from './environments/recipes';

const adapters: Readonly<Record<Exclude<Runner, 'script'>, Adapter>> = {
  pytest: planPytest,
  unittest: planUnittest,
  django: planDjango,
  sympy: planSympy,
  tox: planTox,
};

/**
 * The test command of a repository, at the version of an instance, for some files: that of the reference
 * harness (its `MAP_REPO_TO_TEST_FRAMEWORK`) with seeds fixed and without options that only change
 * colours or tracebacks, so that its log parsers read the log. Where a repository runs under pytest and
 * pytest is missing, files of unittest style run under unittest and the others are named in `notRun`.
 */
export async function planTests(request: PlanRequest): Promise<TestPlan> {
  const { repo, version } = request;
  const recipe = recipeOf(repo, version === '' ? undefined : version);
  if (recipe.runner === 'script') throw new Error('a script is planned by planScript');
  const planning = { ...request, recipe };
  return (await adapters[recipe.runner](planning)) ?? planUnittest(planning);
}
