import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  outcomes,
  type Outcome,
  type TestResult,
  transitions,
  transitionWords,
  type TestTransition,
  type Transition,
} from '../../../../src/domain/outcome';
import { transitionLook } from '../../../../src/editor/testing/transitionLook';
import {
  failureText,
  causeOnSide,
  causeText,
  inlineText,
  markText,
  outcomeInWords,
  staleText,
  transitionInWords,
  transitionLabel,
} from '../../../../src/editor/testing/transitionTexts';
import { failed, testCase } from './testCases';

const inline = (...cases: TestTransition[]): string | undefined => inlineText(cases);

describe('a transition in words', () => {
  it('is in the editor what it is everywhere', () => {
    for (const each of transitions) {
      assert.equal(transitionInWords(each), transitionWords[each]);
    }
  });

  it('has a sign that tells good from bad without its colour', () => {
    const sign = (each: Transition): string => transitionLook[each].symbol;
    assert.deepEqual(
      transitions.filter((each) => sign(each) === '✓'),
      ['F→P'],
    );
    assert.deepEqual(
      transitions.filter((each) => sign(each) === '✗'),
      ['F→F', 'P→F', 'F→-', '-→F'],
    );
    assert.deepEqual(
      transitions.filter((each) => sign(each) === '○'),
      ['P→P'],
    );
    assert.deepEqual(
      transitions.filter((each) => sign(each) === '–'),
      ['P→-', '-→P', '-→-'],
    );
  });
});

describe('the line of text after a test', () => {
  const missing: Partial<TestResult> = { outcome: 'missing' };
  const skipped: Partial<TestResult> = { outcome: 'skipped' };
  const bare: Partial<TestResult> = { outcome: 'failed' };
  for (const [text, base, fixed] of [
    ['✓ F→P  reproduces the issue', bare, {}],
    ['✓ F→P  on R: AssertionError: 1 != 2 · reproduces the issue', failed, {}],
    ['✗ F→F  on R: AssertionError: 1 != 2 · fails on both sides', failed, failed],
    ['✗ F→F  on R∘X*: AssertionError: 1 != 2 · fails on both sides', bare, failed],
    ['○ P→P  passes on R: does not reproduce', {}, {}],
    ['✗ P→F  on R∘X*: AssertionError: 1 != 2 · fails on R∘X* only', {}, failed],
    ['✗ F→-  fails on R, did not run on R∘X*', bare, missing],
    ['– P→-  passes on R, did not run on R∘X*', {}, missing],
    ['– -→P  did not run on R, passes on R∘X*', missing, {}],
    ['✗ -→F  did not run on R, fails on R∘X*', missing, bare],
    ['– -→-  ran on neither side', skipped, missing],
  ] as const) {
    it(`tells ${text}`, () => {
      const cases = [testCase(base, fixed)];
      assert.equal(inlineText(cases), text);
      assert.equal(`${markText(cases)}  ${causeText(cases)}`, text);
    });
  }

  it('says that a failure is probably not this issue', () => {
    const broken: Partial<TestResult> = {
      outcome: 'error',
      exception: 'ImportError',
      message: 'no cat',
    };
    assert.equal(
      inline(testCase(broken, broken)),
      '✗ F→F  probably not this issue · on R: ImportError: no cat · fails on both sides',
    );
    const short = inlineText([testCase({ ...broken, message: 'no cat here' }, broken)], {}, 40);
    assert.equal(short, '✗ F→F  probably not this issue · on R: ImportError: no c…');
  });

  it('never says that of a test that reproduces the issue, or of what the issue names', () => {
    const message = "cannot import name 'purr' from 'cats'";
    const broken: Partial<TestResult> = { outcome: 'error', exception: 'ImportError', message };
    const fails = { success: false };
    const line = (fixed: Partial<TestResult>, issue?: string): string =>
      inlineText([testCase(broken, fixed)], { issue, ...fails }) ?? '';
    assert.match(line({}), /^✓ F→P {2}on R: .* · reproduces the issue$/);
    assert.match(line(broken), /probably not this issue/);
    assert.match(line(broken, 'cats cannot miaow'), /probably not this issue/);
    assert.doesNotMatch(line(broken, 'Add purr() to cats'), /probably not this issue/);
  });

  it('counts the cases of a parametrised test, and tells of the one that says most', () => {
    const first = testCase({}, {}, 'a.py::t[1]');
    const second = testCase(failed, {}, 'a.py::t[2]');
    const third = testCase({}, failed, 'a.py::t[3]');
    assert.equal(
      inline(first, second),
      '✓ 1 P→P, 1 F→P  on R: AssertionError: 1 != 2 · reproduces the issue',
    );
    assert.equal(
      inline(first, second, third),
      '✗ 1 P→P, 1 F→P, 1 P→F  on R∘X*: AssertionError: 1 != 2 · fails on R∘X* only',
    );
    assert.equal(transitionLabel([second, second]), 'F→P');
  });

  it('is not there before the test ran', () => {
    assert.equal(inline(), undefined);
    assert.equal(transitionLabel([]), undefined);
    assert.equal(markText([]), undefined);
    assert.equal(causeText([]), undefined);
  });

  it('is called stale in front, where a long line still shows it', () => {
    assert.equal(staleText('✓ F→P'), 'out of date, run again · was ✓ F→P');
  });
});

describe('an outcome in words', () => {
  const words: Readonly<Record<Outcome, string>> = {
    passed: 'passed on R',
    failed: 'failed on R',
    error: 'error on R',
    skipped: 'skipped on R',
    xfailed: 'failed as expected on R',
    xpassed: 'passed on R, though it was expected to fail',
    missing: 'did not run on R',
  };
  for (const outcome of outcomes) {
    it(`is ${words[outcome]}`, () => {
      assert.equal(outcomeInWords('base', { test: 't', outcome }), words[outcome]);
      assert.equal(
        outcomeInWords('fixed', { test: 't', outcome }),
        words[outcome].replace(/R/, 'R∘X*'),
      );
    });
  }

  it('has how long it took', () => {
    const took = (seconds: number): string =>
      outcomeInWords('base', { test: 't', outcome: 'passed', seconds });
    assert.equal(took(0.004), 'passed on R in less than 0.01 s');
    assert.equal(took(0.005), 'passed on R in 0.01 s');
    assert.equal(took(12.345), 'passed on R in 12.35 s');
  });
});

describe('the cause of a failure', () => {
  it('comes after its side', () => {
    const cause = (side: 'base' | 'fixed', more: Partial<TestResult>): string =>
      causeOnSide(side, { test: 't', outcome: 'failed', ...more });
    assert.equal(cause('base', failed), 'on R: AssertionError: 1 != 2');
    assert.equal(cause('fixed', failed), 'on R∘X*: AssertionError: 1 != 2');
    assert.equal(cause('base', { exception: 'KeyError' }), 'on R: KeyError');
    assert.equal(cause('base', {}), 'on R: failed');
    assert.equal(cause('fixed', { outcome: 'error' }), 'on R∘X*: error');
  });
});

describe('the first line of a failure', () => {
  const line = (more: Partial<TestResult>): string | undefined =>
    failureText({ test: 't', outcome: 'failed', ...more });

  it('names the exception once', () => {
    assert.equal(line({ message: '\n  odd \nmore', exception: 'ValueError' }), 'ValueError: odd');
    assert.equal(line({ message: 'ValueError: odd', exception: 'ValueError' }), 'ValueError: odd');
    assert.equal(line({ message: 'odd' }), 'odd');
  });

  it('is what is wrong with the syntax, not the file that Python names before it', () => {
    const message =
      'E     File "/tree/tests/test_a.py", line 6\nE       assert x\nE   IndentationError: unexpected indent';
    assert.equal(
      line({ message, exception: 'IndentationError' }),
      'IndentationError: unexpected indent',
    );
    assert.equal(line({ message, outcome: 'error' }), 'IndentationError: unexpected indent');
  });

  it('is cut where it is long', () => {
    assert.equal(line({ message: 'x'.repeat(120) }), 'x'.repeat(120));
    assert.equal(line({ message: 'x'.repeat(121) }), `${'x'.repeat(119)}…`);
  });

  it('is what was expected and what came, where both are known', () => {
    const comparison = { expected: "{'a': 1}", actual: "{'a':\n 2}" };
    const message = 'AssertionError: Lists differ: a long story';
    assert.equal(line({ message, comparison }), "expected {'a': 1}, got {'a': 2}");
  });

  it('shows long values where they begin to differ, in the room that there is', () => {
    const same = 'the sum of the parts is the whole, but for ';
    const comparison = { expected: `${same}one cent`, actual: `${same}two cents, and more` };
    const said = failureText({ test: 't', outcome: 'failed', comparison }, 50) ?? '';
    assert.equal(said, 'expected …t for one cent, got …t for two cents, a…');
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.integer({ min: 40, max: 90 }),
        (one, other, room) => {
          const values = { expected: one, actual: other };
          const text = failureText({ test: 't', outcome: 'failed', comparison: values }, room);
          assert.ok((text ?? '').length <= room, text);
        },
      ),
    );
  });

  it('is not there without a message', () => {
    assert.equal(line({ exception: 'ValueError' }), undefined);
    assert.equal(line({ message: ' \n ' }), undefined);
  });
});
