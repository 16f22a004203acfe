import { django } from './django';
import { pytest } from './pytest';
import { script } from './script';
import { sympy } from './sympy';
import type { TestRunner } from './testRunner';
import { tox } from './tox';
import { unittest } from './unittest';

/** The programs that run tests. */
const runners: readonly TestRunner[] = [pytest, unittest, sympy, django, tox, script];

export const runnerNames = runners.map(({ name }) => name);

/** The runner of a recipe or of a plan. */
export function runnerOf(name: string): TestRunner {
  const found = runners.find((runner) => runner.name === name);
  if (found === undefined) throw new Error(`${name} runs no tests`);
  return found;
}
