import { argumentsOf, dotted, operands, type Planning, type TestPlan } from './plan';

/**
 * `python -m unittest -v MODULES`, which every Python has. Files that need pytest are named in `notRun`
 * when that is what the repository runs with.
 */
export function planUnittest({ environment, files, recipe, select }: Planning): TestPlan {
  const runnable = files.filter((file) => !file.importsPytest && file.unittestTests > 0);
  const wanted = select?.filter((id) => runnable.some((file) => id.startsWith(`${file.path}::`)));
  const why =
    environment.pytest === undefined
      ? `pytest is not installed for ${environment.interpreter}`
      : 'its repository runs its tests with unittest';
  const args = recipe.runner === 'unittest' ? argumentsOf(recipe, ['-v']) : ['-v'];
  return {
    runner: 'unittest',
    args: [
      '-m',
      'unittest',
      ...args,
      ...operands((wanted ?? runnable.map((file) => file.path)).map(dotted)),
    ],
    env: {},
    cwd: '.',
    // Never an empty list of names: unittest without any looks for tests everywhere.
    files: wanted?.length === 0 ? [] : runnable.map((file) => file.path),
    notRun: files
      .filter((file) => file.importsPytest || file.pytestTests > 0)
      .map((file) => ({
        path: file.path,
        reason: runnable.includes(file) ? `${why}, so only its unittest tests ran` : why,
      })),
  };
}
