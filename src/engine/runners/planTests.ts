import { programNames, type ProgramName, type ServiceName } from '../sandbox/services';
import { runnerOf } from './runners';
import { planScript } from './script';
import type { Planning, PlanRequest } from './testRunner';
import { unittest } from './unittest';
import type { TestPlan } from './testPlan';

export type { TestFile } from './testRunner';

/**
 * The command that runs some test files of a repository, at the version of an instance. It is that
 * of the reference harness (`MAP_REPO_TO_TEST_FRAMEWORK`), so that its log parsers can read the
 * log. Seeds are fixed, and options that only change colours or tracebacks are left out. If the
 * repository uses pytest and pytest is missing, files of unittest style run under unittest. The
 * other files are listed in `notRun`.
 */
export async function planTests(request: PlanRequest, recipe: TestRecipe): Promise<TestPlan> {
  const planning = { ...request, recipe };
  const plan = (await runnerOf(recipe.runner).plan(planning)) ?? (await unittest.plan(planning));
  if (plan === undefined) throw new Error('unittest plans any request');
  return withNeeds(plan, recipe);
}

/** What the recipe of a repository at a version says about running its tests. */
interface TestRecipe extends Readonly<Planning['recipe']> {
  /** Programs on the loopback that tests connect to. */
  readonly services: readonly ServiceName[];
  /** Programs of the system that tests run. */
  readonly programs: Readonly<Partial<Record<ProgramName, unknown>>>;
}

/** A plan with what its recipe says that tests expect around them. */
function withNeeds(plan: TestPlan, { services, programs }: TestRecipe): TestPlan {
  const named = programNames.filter((name) => name in programs);
  return {
    ...plan,
    ...(services.length > 0 && { services }),
    ...(named.length > 0 && { programs: named }),
  };
}

/** The command that runs a script on its own, with what tests of the repository have around them. */
export async function planScriptOfRepository(
  path: string,
  request: Pick<PlanRequest, 'readFileOfR'>,
  recipe: TestRecipe,
): Promise<TestPlan> {
  const plan = planScript(path, await runnerOf(recipe.runner).scriptEnv?.(request));
  return withNeeds(plan, recipe);
}
