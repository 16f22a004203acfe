import type { TestResult } from '../../../../src/domain/outcome';
import type { PatchStep, RunStep } from '../../../../src/method/trace';

const common = { key: '', at: '', instance: 'octo__cat-1' };

/** A patch step of a candidate, which applies by default. */
export const patchStep = (more: Partial<PatchStep> = {}): PatchStep => ({
  ...{ ...common, step: 'patch', applies: true, patch: 'PATCH', ownTests: [], diagnostics: [] },
  ...more,
});

/** A run step of a candidate's tests. */
export const runStep = (
  tests: readonly TestResult[],
  more: Partial<Pick<RunStep, 'problem' | 'failingBefore'>> = {},
): RunStep => ({
  ...{ ...common, step: 'run', failingBefore: [], seconds: 0 },
  tests: [...tests],
  ...more,
});

/** A test that fails in its own file, by an assertion unless something else is said. */
export const failing = (more: Partial<TestResult> = {}): TestResult => ({
  ...{ test: 'tests/test_a.py::test_x', outcome: 'failed', phase: 'call' },
  ...{ exception: 'AssertionError', message: 'assert 1 == 2' },
  frames: [{ path: 'tests/test_a.py', line: 5, function: 'test_x' }],
  ...more,
});
