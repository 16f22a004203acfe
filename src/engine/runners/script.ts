import { noOption, type TestRunner } from './testRunner';
import type { TestPlan } from './testPlan';

export const script: TestRunner = {
  name: 'script',
  plan: ({ files: [file] }) => (file === undefined ? undefined : planScript(file.path)),
  // A script may print anything, so its log need not match the records.
  isUnrecorded: true,
};

/** Runs one script, whose exit status is its outcome: the reproduction-script mode of the benchmark. */
export function planScript(path: string, env: TestPlan['env'] = {}): TestPlan {
  return {
    runner: script.name,
    args: [noOption(path)],
    env,
    cwd: '.',
    files: [path],
    notRun: [],
  };
}
