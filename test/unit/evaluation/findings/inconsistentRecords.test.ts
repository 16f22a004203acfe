import assert from 'node:assert/strict';
import type { TestResult } from '../../../../src/domain/outcome';
import {
  contradictionsOf,
  contradictionsOfBoth,
} from '../../../../src/evaluation/findings/inconsistentRecords';
import { runRecord } from '../examples';

const test = 't.py::test_a';
const failing: TestResult = { test, outcome: 'failed', phase: 'call' };
const run = (more: Parameters<typeof runRecord>[0], ...outcomes: TestResult[]) =>
  runRecord({ ...more, trace: { outcomes, ...more?.trace } });

describe('records that contradict each other', () => {
  it('are a failure and exit status 0, unless the test ended the process itself', () => {
    assert.deepEqual(contradictionsOf(run({ exitCode: 0 }, failing), 'pytest'), [
      `${test} is recorded as failed, but the run ended with exit status 0`,
    ]);
    assert.deepEqual(contradictionsOf(run({ exitCode: 1 }, failing), 'pytest'), []);
    const left = (lastTest: string | null) => ({ unfinished: [{ pid: 1, argv: [], lastTest }] });
    const ended = run({ exitCode: 0, trace: left('t.py::test_b') }, failing);
    assert.deepEqual(contradictionsOf(ended, 'pytest'), []);
    const killed = run({ exitCode: 0, trace: left(null) }, failing);
    assert.equal(contradictionsOf(killed, 'pytest').length, 1);
  });

  it('are no failures with which a runner ends with 0', () => {
    const unexpected: TestResult = { ...failing, message: 'Unexpected success' };
    assert.equal(contradictionsOf(run({}, unexpected), 'unittest').length, 1);
    assert.deepEqual(contradictionsOf(run({}, unexpected), 'django'), []);
  });

  it('are a passed test in a log without a session', () => {
    const log = `PASSED ${test}\n`;
    assert.deepEqual(contradictionsOf(run({ log, trace: { sessions: [] } }), 'pytest'), [
      `the log reports ${test} as passed, but no test runner recorded it`,
    ]);
    assert.deepEqual(contradictionsOf(run({ log }), 'pytest'), []);
  });

  it('are looked for on both sides, and named by theirs', () => {
    const [good, bad] = [run({}), run({ trace: { contradictions: ['why'] } })];
    const both = contradictionsOfBoth({ base: bad, fixed: bad }, 'pytest');
    assert.deepEqual(both, ['on R: why', 'on R∘X*: why']);
    assert.deepEqual(contradictionsOfBoth({ base: good, fixed: bad }, 'pytest'), ['on R∘X*: why']);
    assert.deepEqual(contradictionsOfBoth(undefined, 'pytest'), []);
  });
});
