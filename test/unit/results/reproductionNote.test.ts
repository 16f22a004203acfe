import assert from 'node:assert/strict';
import fc from 'fast-check';
import { changeCoverageOf, type CoveredLine } from '../../../src/domain/changeCoverage';
import { pairResults } from '../../../src/domain/outcome';
import { gradeStrict } from '../../../src/domain/verdict';
import {
  harnessGrade,
  isReproduction,
  type CandidateResult,
} from '../../../src/evaluation/candidateResult';
import {
  compareCoverage,
  comparisonText,
  coverageInWords,
} from '../../../src/evaluation/compareCoverage';
import { markdownCode, markdownProse } from '../../../src/domain/text';
import {
  reproductionNote,
  type Reproduction,
} from '../../../src/results/reproduction/reproductionNote';
import { withoutMachinePaths } from '../../../src/results/reproduction/withoutMachinePaths';
import { candidateResult } from '../evaluation/examples';

const own = 'tests/test_cat.py::test_purr';

function reproduction(
  result: CandidateResult = candidateResult(),
  more: Partial<Reproduction> = {},
): Reproduction {
  return {
    result,
    repo: 'octo/cat',
    baseCommit: 'a'.repeat(40),
    evaluatedAt: new Date('2026-11-21T16:00:00Z'),
    milliseconds: 1840,
    environment: 'local engine, Python 3.11',
    revealed: false,
    wasRevealed: false,
    folders: [],
    ...more,
  };
}

/** A candidate that passes on R. */
function passesOnR(): CandidateResult {
  const tests = pairResults([{ test: own, outcome: 'passed' }], [{ test: own, outcome: 'passed' }]);
  const strict = gradeStrict({ candidate: tests, base: [], ownFunctions: new Set([own]) });
  return candidateResult({ tests, strict });
}

const line = (more: Partial<CoveredLine>): CoveredLine => ({
  path: 'cat.py',
  line: 1,
  text: '    purr()',
  change: 'added',
  state: 'missed',
  counts: { base: 0, candidate: 0, golden: 1 },
  executions: {},
  coveredBy: [],
  ...more,
});

describe('the note on a reproduction', () => {
  it('tells its findings before what rests on them, and calls it what it is', () => {
    const findings = [
      {
        kind: 'inspects source',
        evidence: ['tests/test_cat.py:3 runs git: subprocess.run(["git", "log"])  # <b>[x](y)</b>'],
      },
    ] as const;
    const note = reproductionNote(reproduction(candidateResult({ findings })));
    assert.match(note, /^# Reference reproduction of/);
    assert.match(
      note,
      /## Findings\n\n.*\n\n- ⚠ The tests inspect source files, .*\n {2}- tests\/test_cat/,
    );
    assert.ok(note.indexOf('## Findings') < note.indexOf('## Tests'));
    assert.ok(!note.includes('<b>') && !note.includes('[x](y)'));
    assert.ok(!reproductionNote(reproduction()).includes('Findings'));
  });

  it('tells verdict, both gradings, transitions and ΔC beside that of the golden tests', () => {
    const note = reproductionNote(reproduction());
    assert.match(note, /^# Reference reproduction of `octo__cat-1`\n/);
    assert.match(note, /✓ 1 test reproduces the issue; none fail with the fix/);
    assert.match(note, /\| Strict grading \| success/);
    assert.match(note, /\| Harness grading \| resolved \|/);
    assert.match(note, /\| Well-formed \(applies to R\) \| yes \|/);
    assert.match(note, /\| ΔC \| 50 % \(1\/2\) \|/);
    assert.match(note, /\| ΔC of the golden tests \| 50 % \(1\/2\) \|/);
    assert.match(note, /2026-11-21 16:00 UTC, in 1\.8 s/);
    assert.match(
      note,
      /\| F→P \| `tests\/test_cat\.py::test_purr` \| candidate \| failed \| passed, 0\.50 s \| `AssertionError: 1 != 2` \|/,
    );
    assert.match(note, /pass on both sides: 1\./);
  });

  it('calls nothing else a reproduction: no failure, and no run of a part of the tests', () => {
    const partial = candidateResult({ affected: { ran: 1, kept: 3 } });
    for (const result of [passesOnR(), partial]) {
      const note = reproductionNote(reproduction(result));
      assert.equal(isReproduction(result), false);
      assert.match(note, /^# Not a reproduction of/);
      assert.match(note, /Not a reproduction:/);
      assert.doesNotMatch(note, /Reference reproduction/);
    }
    assert.match(reproductionNote(reproduction(partial)), /1 in this run, 3 from an earlier run/);
  });

  it('gives nothing of X* or T* away before they are revealed', () => {
    const secret = 'def the_fix(): pass';
    const golden = 'tests/test_cat.py::test_golden';
    const lines = [
      line({ text: secret, line: 71, state: 'newly covered', coveredBy: [own] }),
      line({ text: secret, line: 72 }),
    ];
    const changeCoverage = changeCoverageOf(lines);
    const goldenCoverage = changeCoverageOf(
      lines.map((each) => ({ ...each, state: 'newly covered' as const, coveredBy: [golden] })),
    );
    const notes = ['cat.py was counted with sys.settrace', 'edits outside tests: setup.cfg'];
    const result = candidateResult({ changeCoverage, goldenCoverage, notes });
    const hidden = reproductionNote(reproduction(result));
    assert.match(hidden, /setup\.cfg/);
    for (const part of [secret, golden, 'cat.py`', 'settrace', '71', '72']) {
      assert.ok(!hidden.includes(part), part);
    }
    assert.match(hidden, /\| newly covered \| 1 \|/);
    assert.match(hidden, /Lines are not listed/);

    const revealed = reproductionNote(reproduction(result, { revealed: true, wasRevealed: true }));
    assert.match(
      revealed,
      /\| 71, added in R∘X\\\* \| newly covered \|.*\| `def the_fix\(\): pass` \|/,
    );
    assert.match(
      revealed,
      /## Covered only by the golden tests\n\n.*\n.*\n\| `cat\.py` \| 72, .* missed \| `tests\/test_cat\.py::test_golden` \| `def the_fix\(\): pass` \|\n/,
    );
    assert.match(revealed, /The author had revealed/);
    assert.match(revealed, /settrace/);
  });

  it('says why the gradings differ, and when ΔC is not known', () => {
    const result = candidateResult({
      difference: 'harness grading: not resolved; it reads only the log (tests/a.py::test_b)',
      harness: { ...candidateResult().harness, resolved: false },
      changeCoverage: undefined,
      notes: ['ΔC and harness coverage are unknown: no pytest'],
    });
    const note = reproductionNote(reproduction(result));
    assert.match(
      note,
      /\| Harness grading \| not resolved: harness grading: not resolved; it reads/,
    );
    assert.match(note, /\| ΔC \| unknown \|/);
    assert.match(note, /- ΔC and harness coverage are unknown: no pytest/);
  });

  it('tells how a test fails that the candidate breaks', () => {
    const tests = pairResults(
      [{ test: own, outcome: 'passed' }],
      [{ test: own, outcome: 'failed', message: 'no | more' }],
    );
    const strict = gradeStrict({ candidate: tests, base: [], ownFunctions: new Set([own]) });
    const note = reproductionNote(reproduction(candidateResult({ tests, strict })));
    assert.match(
      note,
      /\| P→F \|.*\| passed \| failed \| on R∘X\\\*: <code>no &#124; more<\/code> \|/,
    );
  });

  it('tells a harness grade that nobody gave from a negative one', () => {
    const { harness } = candidateResult();
    const { tests_pred, ...ungraded } = harness;
    assert.ok(tests_pred);
    assert.equal(harnessGrade(candidateResult()), 'resolved');
    assert.equal(harnessGrade(candidateResult({ harness: ungraded })), 'not available');
    assert.equal(harnessGrade(candidateResult({ affected: { ran: 1, kept: 0 } })), 'not available');
    assert.equal(
      harnessGrade(candidateResult({ harness: { ...harness, resolved: false } })),
      'not resolved',
    );
  });

  it('keeps ΔC that is undefined apart from 0', () => {
    assert.match(
      coverageInWords(changeCoverageOf([line({ state: 'not executable' })])),
      /^undefined/,
    );
    assert.equal(coverageInWords(changeCoverageOf([line({})])), '0 % (0/1)');
  });
});

describe('candidate and golden tests side by side', () => {
  it('tells for each line who covers it', () => {
    const states = ['newly covered', 'missed', 'already covered', 'not executable'] as const;
    const candidate = changeCoverageOf(states.map((state, at) => line({ line: at, state })));
    const golden = changeCoverageOf(
      (['newly covered', 'newly covered', 'already covered', 'not executable'] as const).map(
        (state, at) => line({ line: at, state, coveredBy: ['tests/t.py::test_g[1]'] }),
      ),
    );
    assert.deepEqual(
      compareCoverage(candidate, golden).map(({ by }) => by),
      ['both', 'golden tests only', 'neither', 'not executable'],
    );
    assert.deepEqual(
      compareCoverage(golden, candidate).map(({ by }) => by),
      ['both', 'candidate only', 'neither', 'not executable'],
    );
    const text = comparisonText({ instance: 'octo__cat-1', candidate, golden, about: 'At noon.' });
    assert.match(text, /^# Candidate and golden tests of `octo__cat-1`\n\nAt noon\.\n\n\|/);
    assert.match(text, /\| Changed lines covered only by these tests \| 0 \| 1 \|/);
    assert.match(
      text,
      /\| Changed lines \| Golden tests in `tests\/t\.py` \|\n.*\n\| 2\/3 \| `test_g` \|/,
    );
    assert.match(text, /Candidate: no test covers a changed line/);
    assert.match(text, /\| ✗ \| ✓ \| 1, /);
    assert.match(text, /\| = \| = \| 2, /);
    assert.match(text, /\| · \| · \| 3, /);
  });

  it('takes the same number on R and on R∘X* for two lines', () => {
    const candidate = changeCoverageOf([
      line({ change: 'removed', state: 'newly covered' }),
      line({ change: 'added' }),
    ]);
    const golden = changeCoverageOf([
      line({ change: 'added', state: 'newly covered' }),
      line({ change: 'removed' }),
    ]);
    assert.deepEqual(
      compareCoverage(candidate, golden).map(({ by }) => by),
      ['candidate only', 'golden tests only'],
    );
  });
});

describe('paths of this machine', () => {
  const folders = [
    { path: '/home/ada', name: '~' },
    { path: '/home/ada/work/cat', name: '' },
  ];
  const clean = (text: string): string => withoutMachinePaths(text, folders);

  it('are told from the workspace, or by what the folder is', () => {
    assert.equal(clean('no file /home/ada/work/cat/a.py'), 'no file a.py');
    assert.equal(clean('in /home/ada/work/cat, not /home/ada.'), 'in ., not ~.');
    assert.equal(clean("'/home/ada/.cache/x'"), "'~/.cache/x'");
    assert.equal(clean('/home/adam/work'), '/home/adam/work', 'another folder');
    assert.equal(clean('/etc/passwd'), '/etc/passwd');
  });

  it('are in no text of a note, whatever fails', () => {
    const path = '/home/ada/work/cat/purr.txt';
    const failed = { test: own, outcome: 'failed', message: `No such file: ${path}` } as const;
    const tests = pairResults([failed], [{ test: own, outcome: 'passed' }]);
    const result = candidateResult({
      tests,
      notes: [`the log is ${path}`],
      source: { kind: 'snapshot', from: '/home/ada/snapshots/cat-1.0' },
    });
    const note = reproductionNote(reproduction(result, { folders }));
    assert.doesNotMatch(note, /home|ada/);
    assert.match(note, /No such file: purr\.txt/);
    assert.match(note, /a snapshot, `cat-1\.0`/);
  });
});

describe('texts of others in Markdown', () => {
  it('makes code of ids in a sentence, and leaves no markup in the rest', () => {
    assert.equal(
      markdownProse('tests/a.py::test_x[1-2] fails on R∘X* (P→F)'),
      '`tests/a.py::test_x[1-2]` fails on R∘X\\* (P→F)',
    );
    assert.equal(
      markdownProse('[x](command:y) <b> __z__'),
      '\\[x\\](command:y) \\<b\\> \\_\\_z\\_\\_',
    );
    assert.doesNotMatch(markdownProse('see https://example.org'), /:\/\//);
  });

  it('keeps a code span closed, on one line and in one cell, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('`', '|', '\n', '\\', ' ', 'a', '<', '\u202e', '\t') }),
        (text) => {
          const span = markdownCode(text);
          assert.doesNotMatch(span, /[\n\t\u202e]/);
          if (span === '') return;
          if (text.includes('|')) {
            assert.match(span, /^<code>[^<>`|\\\n]*<\/code>$/);
            return;
          }
          const fence = /^`+/.exec(span)?.[0] ?? '';
          assert.ok(span.endsWith(fence) && span.length > 2 * fence.length, span);
          const inside = span.slice(fence.length, -fence.length);
          for (const [run] of inside.matchAll(/`+/g)) assert.notEqual(run, fence);
          assert.doesNotMatch(inside, /^`|`$/);
        },
      ),
    );
  });

  it('spells out what cannot be seen', () => {
    assert.equal(markdownCode('a\u202eb\u0007'), '`a\\u202eb\\u0007`');
    assert.equal(markdownCode('caf\udce9'), '`caf\\udce9`');
  });
});
