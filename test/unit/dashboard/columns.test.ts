import assert from 'node:assert/strict';
import { cellState, columnCell, kindWords, symbols } from '../../../src/dashboard/page/cellState';
import {
  columnsOf,
  instancesOfRuns,
  isShown,
  mayHaveTrajectory,
  ordered,
} from '../../../src/dashboard/page/columns';
import { entryReasons } from '../../../src/domain/verdict';
import type { RunData, RunEntry } from '../../../src/study/entry';
import { simulatedRuns } from './simulated';

const [sample] = simulatedRuns({ instances: 1, methods: 1 })[0]?.entries ?? [];
assert.ok(sample);
const template: RunEntry = {
  ...sample,
  ...{ evaluated: true, wellFormed: true, success: false, reason: 'passes on R' },
  ...{ failToPass: 0, failToFail: 0, passToPass: 2, passToFail: 0, failToAny: 0, anyToFail: 0 },
};

describe('cells of the matrix', () => {
  it('say by sign and word what colour says', () => {
    assert.equal(new Set(Object.values(symbols)).size, Object.keys(kindWords).length);
    for (const reason of entryReasons) {
      const state = cellState({ ...template, reason, passToPass: 0 });
      assert.notEqual(state.text, '');
      assert.equal(state.words, reason);
    }
  });

  it('show the transitions of tests that ran, with their counts for the details', () => {
    const success = { ...template, reason: 'success', success: true, failToPass: 1 } as const;
    assert.deepEqual(cellState(success), {
      kind: 'success',
      symbol: '✓',
      text: 'F→P P→P',
      words: 'success; 1 F→P, 2 P→P',
      hasFindings: false,
    });
    const findings = [
      { kind: 'no changed line ran', evidence: ['a'] },
      { kind: 'edits what runs tests', evidence: ['b'] },
    ] as const;
    const told = cellState({ ...success, findings });
    assert.equal(told.kind, 'success', 'a success with findings stays one');
    assert.equal(told.hasFindings, true);
    assert.equal(
      told.words,
      'success; 1 F→P, 2 P→P; findings: no changed line ran, edits what runs tests',
    );
    assert.equal(cellState(template).kind, 'failure');
    const step = { kind: 'history', step: 2, text: 'git log' } as const;
    const noted = cellState({ ...success, trajectoryFindings: [{ ...step, severity: 'note' }] });
    assert.equal(noted.words, 'success; 1 F→P, 2 P→P; notes on the trajectory: history');
    assert.equal(noted.hasFindings, false, 'a note is usual work');
    const warned = cellState({
      ...success,
      trajectoryFindings: [{ ...step, severity: 'warning' }],
    });
    assert.equal(warned.words, 'success; 1 F→P, 2 P→P; findings in the trajectory: history');
    assert.equal(warned.hasFindings, true);
  });

  it('tell what was stopped, never ran or is not evaluated apart', () => {
    const kind = (reason: RunEntry['reason'], evaluated = true): string =>
      cellState({ ...template, reason, evaluated }).kind;
    assert.equal(kind('timed out'), 'stopped');
    assert.equal(kind('unsound'), 'unsound');
    assert.equal(kind('does not apply'), 'unusable');
    assert.equal(kind('environment failed', false), 'unknown');
  });

  it('say no prediction once a run has ended, and not run yet only while it can go on', () => {
    const words = (run: RunData, id: string): readonly [string, string] => {
      const [column] = columnsOf([run]);
      assert.ok(column);
      const cell = columnCell(column, id);
      return [cell.kind, cell.words];
    };
    const facts = (id: string): RunData['instances'][number] => ({
      ...{ id, repo: 'a/b', created: '', issueLength: 1 },
    });
    const run = {
      label: 'one',
      instances: [facts(sample.instance), facts('other')],
      entries: [sample],
    };
    assert.deepEqual(words(run, 'other'), ['unknown', 'no prediction']);
    assert.deepEqual(words({ ...run, unfinished: true }, 'other'), ['pending', 'not run yet']);
    assert.deepEqual(words(run, 'elsewhere'), ['left-out', 'not selected in this run']);
    assert.notEqual(words(run, sample.instance)[1], 'no prediction');
  });
});

describe('columns of the matrix', () => {
  const runs = simulatedRuns({ instances: 30, methods: 2, samples: 2 });

  it('are one for each model and sample, named by what tells them apart', () => {
    assert.deepEqual(
      columnsOf(runs).map(({ label }) => label),
      ['method-1 @1', 'method-1 @2', 'method-2 @1', 'method-2 @2'],
    );
    const [first] = runs;
    assert.ok(first);
    const twice = columnsOf([first, { ...first, label: 'again' }]).map(({ label }) => label);
    assert.deepEqual(twice.slice(1, 3), ['method-1 (run-1) @2', 'method-1 (again) @1']);
  });

  it('are marked where a candidate is made with the answer', () => {
    const [first] = runs;
    assert.ok(first);
    const entries = first.entries.map((entry, index) => ({
      ...entry,
      ...(index === 0 && { oracle: true as const }),
    }));
    assert.deepEqual(
      columnsOf([{ ...first, entries }]).map(({ label }) => label),
      ['method-1 @1 (oracle)', 'method-1 @2'],
    );
  });

  it('are there for models of which nothing is done yet', () => {
    const [first] = runs;
    assert.ok(first);
    const begun: RunData = { ...first, entries: [], models: ['a', 'b'] };
    assert.deepEqual(
      columnsOf([begun]).map(({ label, entries }) => [label, entries.size]),
      [
        ['a', 0],
        ['b', 0],
      ],
    );
  });

  it('decide which rows are shown', () => {
    const columns = columnsOf(runs);
    const solved = (id: string): number =>
      columns.filter((column) => column.entries.get(id)?.success === true).length;
    for (const { id } of instancesOfRuns(runs)) {
      const count = solved(id);
      assert.equal(isShown('all', id, columns), true);
      assert.equal(isShown('none', id, columns), count === 0);
      assert.equal(isShown('every', id, columns), count === 4);
      assert.equal(isShown('differ', id, columns), count > 0 && count < 4);
      assert.equal(
        isShown('reason does not apply', id, columns),
        columns.some((column) => column.entries.get(id)?.reason === 'does not apply'),
      );
      assert.equal(isShown('finding', id, columns), false);
    }
    const [first, ...others] = runs[0]?.entries ?? [];
    assert.ok(first && runs[0]);
    const finding = { kind: 'inconsistent records', evidence: [] } as const;
    const found = columnsOf([
      { ...runs[0], entries: [{ ...first, findings: [finding] }, ...others] },
    ]);
    for (const { id } of instancesOfRuns(runs)) {
      const has: boolean = id === first.instance;
      assert.equal(isShown('finding', id, found), has);
      assert.equal(isShown('finding inconsistent records', id, found), has);
      assert.equal(isShown('finding inspects source', id, found), false);
    }
    const step = { kind: 'network', severity: 'warning', step: 1, text: 'curl' } as const;
    const warned = columnsOf([
      { ...runs[0], entries: [{ ...first, trajectoryFindings: [step] }, ...others] },
    ]);
    for (const { id } of instancesOfRuns(runs)) {
      const has: boolean = id === first.instance;
      assert.equal(isShown('finding', id, warned), has);
      assert.equal(isShown('trajectory network', id, warned), has);
      assert.equal(isShown('trajectory history', id, warned), false);
    }
    const [other] = others;
    const [[column], [untold]] = [warned, columnsOf(runs)];
    assert.ok(column && untold && other);
    assert.equal(mayHaveTrajectory(column, { trajectoryFindings: [step] }), true);
    assert.equal(mayHaveTrajectory(column, other), false);
    assert.equal(mayHaveTrajectory(untold, other), true);
  });

  it('order rows by what was chosen, and leave the list as it was', () => {
    const columns = columnsOf(runs);
    const instances = instancesOfRuns(runs);
    const before = instances.map(({ id }) => id);
    const lengths = ordered(instances, 'length', columns).map(({ issueLength }) => issueLength);
    assert.deepEqual(
      lengths,
      [...lengths].sort((a, b) => a - b),
    );
    const dates = ordered(instances, 'created', columns).map(({ created }) => created);
    assert.deepEqual(dates, [...dates].sort());
    assert.deepEqual(
      instances.map(({ id }) => id),
      before,
    );
  });
});
