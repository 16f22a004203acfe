import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  commandIds,
  inlineCommandIds,
  internalCommandIds,
} from '../../../../src/editor/shell/names';
import {
  inlineLook,
  lensLooks,
  lostTestsLens,
  type TestUnderWay,
} from '../../../../src/editor/testing/inlineLook';
import { strictGrade } from './shownVerdicts';
import { failed, testCase, unread } from './testCases';

const id = 'tests/test_cat.py::test_purr';
const test = (name: string, status: 'added' | 'changed' | 'kept', startLine: number) => ({
  id: name,
  status,
  text: 'def test_purr(): …',
  basis: undefined,
  range: { start: 0, end: 1, startLine, endLine: startLine + 3 },
});
const purr = test(id, 'added', 5);
const known = (text: string, ...cases: ReturnType<typeof testCase>[]) => ({
  cases,
  source: { text, basis: undefined },
});
const notRun = { casesOf: () => known(''), underWay: () => undefined };
const looks = (
  of: typeof purr,
  cases: ReturnType<typeof known>,
  underWay?: TestUnderWay,
): ReturnType<typeof lensLooks> =>
  lensLooks([of], { casesOf: () => cases, underWay: () => underWay });

describe('lenses above tests', () => {
  const at = { line: 5, test: id };
  const actions = [
    {
      ...at,
      title: 'Reproduce',
      tooltip: 'Run this test on R and on R∘X*',
      command: inlineCommandIds.reproduce,
    },
    { ...at, title: 'R', tooltip: 'Run this test on R', command: inlineCommandIds.runOnR },
    {
      ...at,
      title: 'R∘X*',
      tooltip: 'Run this test on R∘X*',
      command: inlineCommandIds.runOnFixed,
    },
    { ...at, title: 'Debug', tooltip: 'Debug this test on R', command: inlineCommandIds.debugOnR },
  ];

  it('run a test of the candidate in four ways, in this order', () => {
    assert.deepEqual(lensLooks([purr], notRun), actions);
  });

  it('say above a file that the candidate removes tests of R there', () => {
    const lost = {
      kind: 'removes or disables tests',
      evidence: ['removed from tests/test_cat.py: test_a'],
    } as const;
    assert.deepEqual(lostTestsLens('tests/test_cat.py', [lost]), {
      line: 1,
      title: '⚠ Last run: tests of R removed or disabled',
      tooltip: 'removed from tests/test_cat.py: test_a\nClick to show the verdict',
      command: commandIds.showVerdict,
    });
    assert.equal(lostTestsLens('tests/test_tom.py', [lost]), undefined);
    assert.equal(lostTestsLens('tests/test_cat.py', []), undefined);
  });

  it('begin with the verdict, which compares the outputs', () => {
    assert.deepEqual(looks(purr, known(purr.text, testCase(failed, {}))), [
      {
        ...at,
        title: '✓ F→P',
        tooltip:
          '✓ F→P  on R: AssertionError: 1 != 2 · reproduces the issue\nClick to show the test output of both sides',
        command: inlineCommandIds.showOutputs,
      },
      ...actions,
    ]);
  });

  it('call a verdict on an earlier text what it was', () => {
    const [first] = looks(purr, known('def test_purr(): pass', testCase({}, {})));
    assert.equal(first?.title, '$(history)\u00a0was ○ P→P');
    assert.match(first?.tooltip ?? '', /^out of date, run again · was ○ P→P/);
  });

  it('say that a test waits or runs, and cancel then', () => {
    const done = known(purr.text, testCase(failed, {}));
    const title = (now: TestUnderWay): string | undefined => looks(purr, done, now)[0]?.title;
    assert.equal(title({ on: undefined, seen: {} }), '$(clock)\u00a0queued');
    assert.equal(title({ on: 'R', seen: {} }), '$(loading~spin)\u00a0running on R');
    assert.equal(
      title({ on: 'R and R∘X*', seen: { base: 'failed' } }),
      '$(loading~spin)\u00a0F→…  running on R and R∘X*',
    );
    assert.equal(
      looks(purr, done, { on: 'R', seen: {} })[0]?.command,
      internalCommandIds.cancelRuns,
    );
  });

  it('stand above changed tests too, and not above those of R', () => {
    const tests = [test('a', 'kept', 1), test('b', 'changed', 9), test('c', 'added', 20)];
    assert.deepEqual(
      [...new Set(lensLooks(tests, notRun).map((each) => `${each.line} ${each.test}`))],
      ['9 b', '20 c'],
    );
    assert.deepEqual(lensLooks([], notRun), []);
  });
});

describe('the text after the definition of a test', () => {
  const look = (
    cases: ReturnType<typeof known>,
    {
      of = purr,
      strict = strictGrade({ failToPass: [id] }),
      underWay,
      lensesAreShown = true,
      column = 40,
    }: {
      readonly of?: typeof purr;
      readonly strict?: ReturnType<typeof strictGrade>;
      readonly underWay?: TestUnderWay;
      readonly lensesAreShown?: boolean;
      readonly column?: number;
    } = {},
  ) => inlineLook(of, { known: cases, strict, underWay, lensesAreShown, column });
  const reproduces = known(purr.text, testCase(failed, {}));

  it('says of a syntax error where it is, and only at tests of the candidate', () => {
    const of = known(purr.text, testCase(unread, unread));
    const text = '✗ did not run: syntax error at line 9';
    assert.equal(look(of)?.text, text);
    assert.equal(look(of, { of: { ...purr, status: 'kept' } }), undefined);
  });

  it('is the cause alone below a lens that has the mark, and both without lenses', () => {
    const cause = 'on R: AssertionError: 1 != 2';
    const whole = `${cause} · reproduces the issue`;
    assert.deepEqual(look(reproduces, { column: 60 }), { text: whole, tone: 'good' });
    assert.deepEqual(look(reproduces, { column: 50, lensesAreShown: false }), {
      text: `✓ F→P  ${whole}`,
      tone: 'good',
    });
  });

  it('fits where the line leaves little room: words go first, then the cause is cut', () => {
    assert.equal(look(reproduces, { column: 80 })?.text, 'on R: AssertionError: 1 != 2');
    const message = 'the sum of the parts differs from the whole by one cent, which nobody wants';
    const long = known(purr.text, testCase({ ...failed, message }, {}));
    assert.equal(look(long, { column: 76 })?.text, 'on R: AssertionError: the sum of the pa…');
    fc.assert(
      fc.property(fc.string(), fc.nat(200), fc.boolean(), (said, column, lensesAreShown) => {
        const cases = known(purr.text, testCase({ ...failed, message: said }, {}));
        const { text = '' } = look(cases, { column, lensesAreShown }) ?? {};
        assert.ok(text.length <= Math.max(40, Math.min(100, 116 - column)), text);
      }),
    );
  });

  it('says what is prepared before the test runs', () => {
    const preparing = 'installing werkzeug';
    const underWay: TestUnderWay = { on: 'R', preparing, seen: {} };
    assert.equal(
      look(reproduces, { underWay, lensesAreShown: false })?.text,
      'preparing: installing werkzeug',
    );
    const waits: TestUnderWay = { on: undefined, preparing, seen: {} };
    assert.equal(look(reproduces, { underWay: waits, lensesAreShown: false })?.text, 'queued');
    const long: TestUnderWay = { on: 'R', preparing: 'x'.repeat(99), seen: {} };
    assert.equal(
      look(reproduces, { underWay: long, lensesAreShown: false })?.text,
      `preparing: ${'x'.repeat(59)}…`,
    );
  });

  it('is not there before the test ran', () => {
    assert.equal(look(known('')), undefined);
  });

  it('has the tone of the verdict: a P→P is bad only where nothing reproduces', () => {
    const passes = known(purr.text, testCase({}, {}));
    const none = strictGrade({ success: false, reason: 'passes on R', failToPass: [] });
    assert.equal(look(passes)?.tone, 'neutral');
    assert.equal(look(passes, { strict: none })?.tone, 'bad');
  });

  it('says that the test runs where no lens does', () => {
    const underWay: TestUnderWay = { on: 'R', seen: {} };
    assert.equal(look(reproduces, { underWay }), undefined);
    assert.deepEqual(look(reproduces, { underWay, lensesAreShown: false }), {
      text: 'running on R',
      tone: 'stale',
    });
  });

  it('is stale after an edit, with the mark', () => {
    assert.deepEqual(look(known('x', testCase({}, {}))), {
      text: 'out of date, run again · was ○ P→P',
      tone: 'stale',
    });
  });

  it('of a test of R is there only where the candidate changes its result', () => {
    const kept = test(id, 'kept', 5);
    const fails = known(kept.text, testCase(failed, failed));
    assert.equal(look(fails, { of: kept }), undefined, 'it failed without the candidate too');
    assert.equal(look(known(kept.text, testCase({}, {})), { of: kept }), undefined);
    const strict = strictGrade({ success: false, anyToFail: [id] });
    assert.deepEqual(look(fails, { of: kept, strict }), {
      text: '✗ F→F  on R: AssertionError: 1 != 2 · fails on both sides',
      tone: 'bad',
    });
  });
});
