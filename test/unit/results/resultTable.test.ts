import assert from 'node:assert/strict';
import fc from 'fast-check';
import { changeCoverageOf } from '../../../src/domain/changeCoverage';
import { rates } from '../../../src/study/rates';
import { nothingKnown } from '../../../src/study/entry';
import { ungraded } from '../../../src/domain/verdict';
import type { BatchEntry } from '../../../src/results/entry';
import { toReport } from '../../../src/results/report';
import { layOut } from '../../../src/domain/text';
import { coverageCell, ratesText, resultLine, resultTable } from '../../../src/results/resultTable';
import { candidateResult } from '../evaluation/examples';

const tableOf = (entries: readonly BatchEntry[]): string =>
  resultTable(entries.map(toReport).map(resultLine));

const entry = (model: string, instanceId = 'octo__cat-1'): BatchEntry => ({
  prediction: { instanceId, model, patch: 'p' },
  result: candidateResult({ model, instance: instanceId }),
});

const refused: BatchEntry = {
  prediction: { instanceId: 'octo__cat-1', model: 'refused', patch: 'p' },
  result: candidateResult({
    model: 'refused',
    tests: [],
    ownTests: [],
    strict: ungraded('does not apply', 'hunk 1 does not fit', false),
    changeCoverage: undefined,
  }),
};

const failed: BatchEntry = {
  prediction: { instanceId: 'octo__cat-1', model: 'failed', patch: 'p' },
  failure: 'git fetch failed: fatal:\nno such\tcommit',
};

describe('the table of results', () => {
  it('says whole and once for each cause why candidates could not run', () => {
    const why =
      "the environment lacks werkzeug or has an incompatible version (ModuleNotFoundError: No module named 'werkzeug'), which R's src/flask/app.py needs; tests ran with Python 3.11.9, pytest 7.3.0, /venv/bin/python: install R's requirements there, or create an environment for this instance by setting Python to auto";
    const lacking = (model: string): BatchEntry => ({
      prediction: { instanceId: 'octo__cat-1', model, patch: 'p' },
      result: candidateResult({ model, strict: ungraded('could not run', why, true) }),
    });
    const lines = tableOf(['a', 'b', 'c', 'd', 'e'].map(lacking)).split('\n');
    assert.deepEqual(
      lines.filter((line) => line.startsWith('- ')),
      [`- could not run octo__cat-1 (a), octo__cat-1 (b), octo__cat-1 (c) and 2 more: ${why}`],
    );
  });

  it('has a line for each candidate, and a verdict in words beside the symbol', () => {
    assert.equal(
      tableOf([entry('by hand'), refused, failed]),
      [
        'Candidate  Applies  On R      On R∘X*   Verdict                                                 ΔC',
        '─'.repeat(106),
        'by hand    yes      1 failed  1 passed  ✓ reproduces the issue (F→P)                             50 %  1/2',
        'refused    no       –         –         ✗ does not apply                                        –',
        'failed     ?                            not evaluated: git fetch failed: fatal: no such commit',
      ].join('\n'),
    );
  });

  it('names the instance where there are several', () => {
    const lines = tableOf([entry('m', 'a'), entry('m', 'b')]).split('\n');
    assert.match(lines[0] ?? '', /^Instance {2}Candidate/);
    assert.match(lines[2] ?? '', /^a {9}m /);
    assert.equal(lines.length, 4);
  });

  it('counts the outcomes of the candidate’s own tests only', () => {
    const own = ['t.py::a'];
    const result = (test: string, outcome: 'failed' | 'passed' | 'skipped') => ({ test, outcome });
    const tests = (['failed', 'skipped', 'failed'] as const).map((outcome, index) => {
      const test = `t.py::a[${index}]`;
      return {
        test,
        transition: 'F→P' as const,
        base: result(test, outcome),
        fixed: result(test, 'passed'),
      };
    });
    const other = {
      test: 't.py::b',
      transition: 'F→F' as const,
      base: result('t.py::b', 'failed'),
      fixed: result('t.py::b', 'failed'),
    };
    const line = tableOf([
      {
        prediction: { instanceId: 'i', model: 'm', patch: '' },
        result: candidateResult({ ownTests: own, tests: [...tests, other] }),
      },
    ]).split('\n')[2];
    assert.match(line ?? '', /2 failed, 1 skipped {2}3 passed/);
  });

  it('does not let a name or a message drive the terminal', () => {
    const text = tableOf([entry('\u001b[2J\nx\u009b'), failed]);
    assert.equal(text.split('\n').length, 4);
    // oxlint-disable-next-line no-control-regex -- the text must not contain these
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

describe('cells', () => {
  it('ΔC as a share with its fraction; a dash when undefined, not 0', () => {
    const of = (covered: number, executable: number) => ({
      lines: [],
      covered,
      executable,
      delta: executable === 0 ? undefined : covered / executable,
    });
    assert.equal(coverageCell(of(2, 3)), ' 67 %  2/3');
    assert.equal(coverageCell(of(6, 6)), '100 %  6/6');
    assert.equal(coverageCell(of(0, 6)), '  0 %  0/6');
    assert.equal(coverageCell(of(0, 0)), '–');
    assert.equal(coverageCell(changeCoverageOf([])), '–');
    assert.equal(coverageCell(undefined), '–');
  });

  it('rates with their denominator and what could not be evaluated', () => {
    const graded = (success: boolean) => ({
      ...nothingKnown,
      ...{ instance: 'i', explanation: '', evaluated: true, wellFormed: true, success },
    });
    assert.equal(
      ratesText(
        rates([
          graded(true),
          graded(false),
          { ...nothingKnown, instance: 'x', explanation: 'no prediction' },
        ]),
      ),
      'W 67 %   S 33 %   F→× 0 %   F→P 0 %   P→P 0 %   ΔC –   (of 3, 1 not evaluated)',
    );
    assert.match(ratesText(rates([])), /^W 0 % .*\(of 0, 0 not evaluated\)$/);
  });
});

describe('columns', () => {
  it('begin at the same place in every line, whatever the cells', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '∘', '😀', '→', ' '), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1 }), (rows) => {
        const lines = layOut(rows).split('\n');
        assert.equal(lines.length, rows.length + 1);
        const widths = [0, 1].map((column) =>
          Math.max(...rows.map((row) => [...(row[column] ?? '')].length)),
        );
        for (const [index, row] of rows.entries()) {
          const line = [...(lines[index === 0 ? 0 : index + 1] ?? '')];
          let start = 0;
          for (const [column, width] of widths.entries()) {
            const shown = line.slice(start, start + width).join('');
            assert.equal(shown.trimEnd(), (row[column] ?? '').trimEnd());
            start += width + 2;
          }
          assert.equal(line.slice(start).join(''), row[2].trimEnd());
        }
      }),
    );
  });

  it('of nothing are nothing', () => assert.equal(layOut([]), ''));
});
