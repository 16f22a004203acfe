import type { Environment } from '../engine';
import { django } from './django';
import { pytest } from './pytest';
import { script } from './script';
import { sympy } from './sympy';
import type { TestPlan } from './testPlan';
import type { TestRunner } from './testRunner';
import { tox } from './tox';
import { unittest } from './unittest';

/** The programs that run tests. The log of a repository that is not known is read in this order. */
export const runners: readonly TestRunner[] = [pytest, unittest, sympy, django, tox, script];

/** Names of the packages that any runner needs in an environment. */
export const runnerPackages = (): readonly string[] => [
  ...new Set(runners.flatMap(({ packages = [] }) => packages)),
];

/**
 * Those packages among all that an environment has.
 *
 * @param installed as `name==version`
 */
export const packagesOfRunners = (installed: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    installed.flatMap((each) => {
      const [name = '', version = ''] = each.split('==', 2);
      return runnerPackages().includes(name) ? [[name, version]] : [];
    }),
  );

export const isRunner = (name: string): boolean => runners.some((runner) => runner.name === name);

/** The runner of a recipe or of a plan. */
export function runnerOf(name: string): TestRunner {
  const found = runners.find((runner) => runner.name === name);
  if (found === undefined) throw new Error(`${name} runs no tests`);
  return found;
}

/**
 * Whether the next run like this one may begin in an interpreter that waits for it: see
 * swt_ahead.py. `environment` is described as `CPython 3.11.7`.
 */
export function mayStartAhead(
  { runner, services = [] }: TestPlan,
  { description, pythonVersion }: Pick<Environment, 'description' | 'pythonVersion'>,
): boolean {
  const [, minor = 0] = /^3\.(\d+)/.exec(pythonVersion) ?? [];
  return (
    description.startsWith('CPython') &&
    Number(minor) >= 8 &&
    services.length === 0 &&
    runnerOf(runner).startsAhead === true
  );
}
