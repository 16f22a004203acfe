import { recipeOf } from './environments/recipes';
import { runnerOf } from './runners/runners';
import type { PlanRequest } from './runners/testRunner';
import { unittest } from './runners/unittest';
import type { TestPlan } from './testPlan';

export type { PlanRequest, TestFile } from './runners/testRunner';
export { planScript } from './runners/script';

/**
 * The test command of a repository, at the version of an instance, for some files: that of the reference
 * harness (its `MAP_REPO_TO_TEST_FRAMEWORK`) with seeds fixed and without options that only change
 * colours or tracebacks, so that its log parsers read the log. Where a repository runs under pytest and
 * pytest is missing, files of unittest style run under unittest and the others are named in `notRun`.
 */
export async function planTests(request: PlanRequest): Promise<TestPlan> {
  const { repo, version } = request;
  const recipe = recipeOf(repo, version === '' ? undefined : version);
  const planning = { ...request, recipe };
  const plan = (await runnerOf(recipe.runner).plan(planning)) ?? (await unittest.plan(planning));
  if (plan === undefined) throw new Error('unittest plans whatever it is given');
  return plan;
}
