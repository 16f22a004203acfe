import assert from 'node:assert/strict';
import { printedByTests } from '../../../src/method/tools/printedByTests';

const failure = [
  '='.repeat(70),
  'FAIL: test_a (tests.test_q.A)',
  '-'.repeat(70),
  'Traceback (most recent call last):',
  'AssertionError: False is not true',
  '',
];
const summary = ['-'.repeat(70), 'Ran 3 tests in …s', '', 'FAILED (failures=1, skipped=1)'];
const outcomes = [
  'test_a (tests.test_q.A.test_a) ... FAIL',
  'test_b (tests.test_q.A)',
  'What it is about. ... ok',
  "test_c (tests.test_q.A.test_c) ... skipped 'why'",
  'test_d (tests.test_q.A.test_d) ... ',
  '  test_d (tests.test_q.A.test_d) (i=1) ... FAIL',
  '',
];

describe('what tests print', () => {
  it('is found wherever unittest leaves it', () => {
    const first = 'test_a (tests.test_q.A.test_a) ... seen here\nFAIL';
    const before = [first, ...outcomes.slice(1), ...failure, ...summary].join('\n');
    assert.equal(printedByTests(before), 'seen here');
    const after = [...outcomes, ...failure, ...summary, 'seen here', 'and there'].join('\n');
    assert.equal(printedByTests(after), 'seen here\nand there');
    assert.equal(printedByTests([...outcomes, ...failure, ...summary].join('\n')), '');
  });

  it('is what pytest captures, under the names of the tests', () => {
    const log = `${'='.repeat(20)} test session starts ${'='.repeat(20)}
collected 2 items

=================================== FAILURES ===================================
____________________________________ test_a ____________________________________

    def test_a():
>       assert a == 4
----------------------------- Captured stdout call -----------------------------
=== a heading of its own ===
hello
----------------------------- Captured stderr call -----------------------------
oops
==================================== PASSES ====================================
____________________________________ test_b ____________________________________
----------------------------- Captured stdout setup ----------------------------
made
=========================== short test summary info ============================
FAILED tests/test_q.py::test_a
========================= 1 failed, 1 passed in …s ==========================`;
    assert.equal(
      printedByTests(log),
      [
        ...['test_a (stdout call):', '=== a heading of its own ===', 'hello'],
        ...['test_a (stderr call):', 'oops', 'test_b (stdout setup):', 'made'],
      ].join('\n'),
    );
  });

  it('takes no longer than its length, whatever is printed', () => {
    for (const part of [`${'='.repeat(70)}\nFAIL: `, '_ (_) ', ' (a) (b)', '___ ', '\n\n ']) {
      const began = performance.now();
      printedByTests(part.repeat(1_000_000 / part.length));
      assert.ok(performance.now() - began < 5000, JSON.stringify(part));
    }
  });
});
