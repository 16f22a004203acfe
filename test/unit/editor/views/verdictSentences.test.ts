import assert from 'node:assert/strict';
import { limits, verdictReasons, type VerdictReason } from '../../../../src/domain/verdict';
import {
  findingsInWords,
  verdictInWords,
  verdictMarkdown,
  verdictSentences,
} from '../../../../src/editor/verdict/verdictSentences';
import { candidateResult } from '../../evaluation/examples';
import { shown, strictGrade } from './shownVerdicts';

const sentences = (...about: Parameters<typeof shown>): string[] =>
  verdictSentences(shown(...about));

/** What each reason reports as missing; empty where the reason itself says it. */
const missing: Readonly<Record<Exclude<VerdictReason, 'success'>, string>> = {
  'no candidate': 'an added or changed test in a test file',
  'no test found': 'an added or changed test in a test file',
  'syntax error': 'a test file with valid Python syntax',
  'does not apply': 'a candidate that applies to R and to R∘X*',
  'could not run':
    'an environment that can run the tests (see the log, or create one for this instance)',
  'timed out': 'a run that finishes',
  'too many processes': 'a run that finishes',
  'too much output': 'a run that finishes',
  'out of memory': 'a run that finishes',
  'disk full': 'a run that finishes',
  unsound: 'a run with consistent records (the verdict lists the contradictions)',
  'breaks a test': 'no test that fails because of these changes with the fix',
  'unrelated failure': 'a failure on R caused by the issue, not by the test itself',
  'fails on both sides': 'a test that passes with the fix (assert only what the issue says)',
  'passes on R': 'a test that fails on R because of the issue',
  'no test ran': 'a test that runs on both sides without being skipped',
};

describe('the sentences of a verdict', () => {
  it('begin with the success', () => {
    assert.deepEqual(sentences(), [
      '✓ 1 test reproduces the issue; none fail with the fix.',
      'Harness grading agrees: resolved.',
      'Patch applies cleanly (W).',
      'Your tests: 1 F→P.',
      'ΔC 50 % (1/2); golden tests 50 % (1/2).',
      'Ran for 2.3 s at 14:30.',
    ]);
  });

  it('say everything in order of its weight', () => {
    const all = sentences(
      {
        findings: [{ kind: 'no changed line ran', evidence: ['it ran none'] }],
        notes: ['a note'],
      },
      { current: false, environment: 'docker', revealed: true, wasRevealed: true },
    );
    assert.deepEqual(all, [
      'Out of date: edited after this run. Run the tests again.',
      '✓ 1 test reproduces the issue; none fail with the fix.',
      '⚠ Finding: No F→P test executed a changed line.',
      'it ran none',
      'Harness grading agrees: resolved.',
      'Patch applies cleanly (W).',
      'Your tests: 1 F→P.',
      'ΔC 50 % (1/2); golden tests 50 % (1/2).',
      'Ran for 2.3 s at 14:30.',
      'a note',
      'docker',
      'The fix, golden tests and hints of this instance were revealed.',
    ]);
  });

  for (const [reason, what] of Object.entries(missing)) {
    it(`say what is missing: ${reason}`, () => {
      const strict = strictGrade({
        success: false,
        reason: reason as VerdictReason,
        explanation: 'so it is',
      });
      assert.deepEqual(sentences({ strict }, { environment: 'docker' }).slice(0, 2), [
        '✗ Not a reproduction: so it is.',
        `Still needed: ${what}.`,
      ]);
    });
  }

  it('say first that nothing has run with the environment that is chosen now', () => {
    const strict = strictGrade({ success: false, reason: 'could not run' });
    assert.equal(
      sentences({ strict }, { environment: undefined })[0],
      'Not run with the selected environment yet. Run the tests again.',
    );
  });

  it('know every reason', () => {
    assert.deepEqual(
      Object.keys(missing).sort(),
      verdictReasons.filter((reason) => reason !== 'success').sort(),
    );
    assert.ok(limits.every((limit) => missing[limit] === 'a run that finishes'));
  });

  it('show three sentences of the evidence of a finding, and count the rest', () => {
    const finding = (evidence: string[]) =>
      sentences({ findings: [{ kind: 'edits what runs tests', evidence }] }).slice(1, -5);
    const says =
      '⚠ Finding: The candidate changes the test runner, its configuration or its fixtures.';
    assert.deepEqual(finding([]), [says]);
    assert.deepEqual(finding(['a', 'b', 'c']), [says, 'a', 'b', 'c']);
    assert.deepEqual(finding(['a', 'b', 'c', 'd', 'e']), [
      says,
      ...['a', 'b', 'c'],
      'And 2 more. Click to show the verdict.',
    ]);
  });

  it('compare the gradings', () => {
    const { harness } = candidateResult();
    const { tests_pred: _, ...without } = harness;
    const strict = strictGrade({ success: false, reason: 'passes on R' });
    const compared = (...about: Parameters<typeof shown>): string | undefined =>
      sentences(...about).find((each) => /grading/i.test(each));
    assert.equal(
      compared({ harness: { ...harness, resolved: false } }),
      'Harness grading agrees: not resolved.',
    );
    assert.equal(compared({ harness: without }), 'Harness grading: not available.');
    assert.equal(
      compared({ difference: 'harness not resolved: tests/x.py was not collected' }),
      'The gradings differ. Strict: reproduces the issue; harness not resolved: tests/x.py was not collected.',
    );
    assert.equal(
      compared({ strict, difference: 'harness resolved' }),
      'The gradings differ. Strict: not a reproduction; harness resolved.',
    );
    assert.equal(
      compared({ affected: { ran: 1, kept: 2 } }),
      'Harness grading: unknown until all tests have run.',
    );
  });

  it('say that a candidate is not W', () => {
    const all = sentences({ strict: strictGrade({ wellFormed: false }) });
    assert.ok(all.includes('Patch does not apply to R (not W).'));
    assert.ok(!all.includes('Patch applies cleanly (W).'));
  });

  it('count the transitions of the own tests only, and F→P also where there is none', () => {
    const counts = (ownTests: readonly string[]): string | undefined =>
      sentences({ ownTests }).find((each) => each.startsWith('Your tests'));
    const [purr, twice] = candidateResult().tests.map(({ test }) => test);
    assert.ok(purr !== undefined && twice !== undefined);
    assert.equal(counts([purr, twice]), 'Your tests: 1 F→P, 1 P→P.');
    assert.equal(counts([twice]), 'Your tests: 0 F→P, 1 P→P.');
    assert.equal(counts([]), 'Your tests: 0 F→P.');
  });

  it('say that ΔC is not known or not defined', () => {
    const none = { lines: [], covered: 0, executable: 0, delta: undefined };
    assert.ok(
      sentences({ changeCoverage: undefined, goldenCoverage: none }).includes(
        'ΔC unknown; golden tests undefined (no changed line is executable).',
      ),
    );
  });

  it('say when and how long it ran, in the language of the window', () => {
    const last = (...about: Parameters<typeof shown>): string[] => sentences(...about).slice(5);
    const affected = { ran: 1, kept: 4 };
    const reusedFrom = new Date(2026, 0, 2, 14, 5);
    assert.match(last({}, { language: 'en-US' })[0] ?? '', /^Ran for 2\.3 s at 02:30\sPM\.$/);
    assert.deepEqual(last({}, { evaluated: { restored: 'before the reload' } }), [
      'Ran for 2.3 s at 14:30, before the window reloaded.',
    ]);
    assert.deepEqual(last({ affected }), [
      'Ran for 2.3 s at 14:30.',
      'Tests run now: 1. Reused from the previous run: 4.',
    ]);
    assert.deepEqual(last({ affected }, { evaluated: { reusedFrom } }), [
      'Ran for 2.3 s at 14:30.',
      'Tests run now: 1. Reused from the run at 14:05: 4.',
    ]);
  });

  it('leave out notes that name a file of the golden patch until it is revealed', () => {
    const notes = ['cat.py is compiled', 'another'];
    assert.deepEqual(sentences({ notes }).slice(6), ['another']);
    assert.deepEqual(sentences({ notes }, { revealed: true }).slice(6), notes);
  });
});

describe('the hover of a verdict', () => {
  it('has no markup of tests and files, and ends with what a click does', () => {
    const strict = strictGrade({
      explanation: 'a [link](command:x) in tests/a.py::test_*b* and more',
    });
    const markdown = verdictMarkdown(shown({ strict })).split('\n\n');
    assert.equal(markdown[0], '✓ a \\[link\\](command:x) in `tests/a.py::test_*b*` and more.');
    assert.equal(markdown.at(-1), 'Click for the next steps.');
  });
});

describe('a verdict in few words', () => {
  it('is the number of tests that reproduce, or the reason', () => {
    const say = (more: Parameters<typeof strictGrade>[0], ...ownTests: string[]): string =>
      verdictInWords({ strict: strictGrade(more), ownTests });
    assert.equal(say({ failToPass: ['a', 'b'] }), '2 F→P');
    assert.equal(say({ success: false, reason: 'unsound' }), 'unsound');
    const breaks = { success: false, reason: 'breaks a test' } as const;
    const words = (failToPass: string[], anyToFail: string[]): string =>
      say({ ...breaks, failToPass, anyToFail });
    assert.equal(words([], ['a']), 'breaks a test');
    assert.equal(words(['b', 'c'], ['a']), 'breaks a test · 2 F→P');
    assert.equal(words(['b'], ['a', 'd', 'e']), 'breaks 3 tests · 1 F→P');
    const own = { failToFail: ['t::a[1]', 't::c'], anyToFail: ['t::a[1]'], failToPass: ['t::b'] };
    const both = { ...own, success: false, reason: 'fails on both sides' } as const;
    assert.equal(say(both, 't::a', 't::b'), '1 of its own tests fails on both sides · 1 F→P');
    assert.equal(say({ ...both, failToPass: [] }, 't::a'), 'fails on both sides');
    assert.equal(
      say({ ...own, ...breaks, anyToFail: ['t::a[1]', 't::c'] }, 't::a', 't::b'),
      'breaks a test · 1 of its own tests fails on both sides · 1 F→P',
    );
  });

  it('names its one finding, and counts several', () => {
    const stray = { kind: 'edits outside tests', evidence: ['cat.py'] } as const;
    assert.equal(findingsInWords([stray]), '⚠ edits outside tests');
    assert.equal(findingsInWords([stray, stray, stray]), '⚠ 3 findings');
  });
});
