import { noOption, type TestPlan } from './plan';

/** Runs one script, whose exit status is its outcome: the reproduction-script mode of the benchmark. */
export function planScript(path: string): TestPlan {
  return { runner: 'script', args: [noOption(path)], env: {}, cwd: '.', files: [path], notRun: [] };
}
