import assert from 'node:assert/strict';
import fc from 'fast-check';
import { methodsOf } from '../../../src/study/measures/methods';
import { chancesOf, passAtK } from '../../../src/study/measures/passAtK';
import { entry, run, solved } from './examples';
import type { StudyDocument } from '../../../src/study/document';
import type { RunData } from '../../../src/study/entry';
import { studyReport } from '../../../src/study/reportText';

const studyOf = (runs: readonly RunData[]): StudyDocument => ({
  version: 1,
  created: '2024-06-18T00:00:00Z',
  product: '0',
  runs,
  published: [],
  repairs: [],
  asked: {},
  problems: [],
});

describe('methods of runs', () => {
  it('are one for each model of a run, named by the model where that is enough', () => {
    const methods = methodsOf([
      run(['a'], [entry('a', { model: 'x' }), entry('a', { model: 'y' })], { label: 'one' }),
      run(['a'], [entry('a', { model: 'x' })], { label: 'two', models: ['x', 'z'] }),
    ]);
    assert.deepEqual(
      methods.map((method) => method.name),
      ['x (one)', 'y', 'x (two)', 'z'],
    );
    assert.equal(new Set(methods.map((method) => method.id)).size, 4);
    assert.equal(methods[3]?.chosen.size, 0);
  });

  it('leave out what a filter leaves out, of the denominator too', () => {
    const [method] = methodsOf([run(['a', 'b'], [solved('a'), solved('b')])], {
      instances: new Set(['b']),
    });
    assert.deepEqual(
      method?.selected.map(({ id }) => id),
      ['b'],
    );
    assert.deepEqual([...(method?.chosen.keys() ?? [])], ['b']);
  });

  it('stand for their first sample, and with an oracle for the best', () => {
    const delta = (covered: number) => ({ delta: { covered, executable: 4 } });
    const samples = [
      entry('solved', { sample: 1, failToPass: 5 }),
      solved('solved', { sample: 2 }),
      entry('tests', { sample: 1, failToPass: 1, ...delta(4) }),
      entry('tests', { sample: 2, failToPass: 2 }),
      entry('lines', { sample: 1, ...delta(1) }),
      entry('lines', { sample: 2, ...delta(2) }),
      entry('applied', { sample: 1, wellFormed: false }),
      entry('applied', { sample: 2 }),
      entry('equal', { sample: 1 }),
      entry('equal', { sample: 2 }),
    ];
    const names = ['solved', 'tests', 'lines', 'applied', 'equal'];
    const [first, oracle] = methodsOf([run(names, samples)], { oracle: true });
    assert.equal(oracle?.name, 'm Pass@2 (oracle)');
    assert.ok(names.every((id) => first?.chosen.get(id)?.sample === 1));
    assert.deepEqual(
      names.map((id) => oracle.chosen.get(id)?.sample),
      [2, 2, 2, 2, 1],
    );
  });
});

describe('candidates made with the answer', () => {
  const oracle = true as const;
  const runs = [
    run(
      ['a', 'b'],
      [
        ...[entry('a', { model: 'honest' }), solved('b', { model: 'honest' })],
        ...[entry('a', { model: 'golden' }), solved('b', { model: 'golden', oracle })],
        ...[entry('a', { model: 'other' }), solved('a', { model: 'golden', sample: 2, oracle })],
      ],
    ),
  ];

  it('mark their method, also where only one of them says so, and its best sample once', () => {
    assert.deepEqual(
      methodsOf(runs, { oracle: true }).map((method) => [method.name, method.oracle]),
      [
        ['honest', false],
        ['golden (oracle)', true],
        ['golden Pass@2 (oracle)', true],
        ['other', false],
      ],
    );
    const [, again] = methodsOf([...runs, run(['a'], [entry('a', { model: 'golden' })])]);
    assert.equal(again?.name, 'golden (run) (oracle)');
  });

  it('are listed, but neither compared nor counted unless a person names them', () => {
    const report = studyReport(studyOf(runs));
    assert.deepEqual(
      report.methods.map(({ oracle: isMarked }) => isMarked),
      [false, true, true, false],
    );
    assert.deepEqual(
      report.comparisons.map(({ first }) => first),
      ['["run","other"]'],
    );
    assert.deepEqual(report.overlap?.names, ['honest', 'other']);
    const compare = ['honest', 'golden (oracle)'];
    const asked = studyReport({ ...studyOf(runs), asked: { compare } });
    assert.deepEqual(
      asked.comparisons.map(({ first }) => first),
      ['["run","golden"]'],
    );
    assert.deepEqual(asked.overlap?.names, compare);
  });
});

describe('a method with several samples', () => {
  it('is the first sample of every instance, also where an instance has only another one', () => {
    const runs = [
      run(['a', 'b'], [entry('a'), solved('a', { sample: 2 }), solved('b', { sample: 2 })]),
    ];
    const [method] = methodsOf(runs);
    assert.deepEqual([...(method?.chosen.keys() ?? [])], ['a']);
    const [later] = methodsOf([run(['b'], [solved('b', { sample: 3 })])]);
    assert.equal(later?.chosen.get('b')?.sample, 3);
  });

  it('is picked from by the grading that is asked for', () => {
    const resolved = { resolved: true, addedFailToPass: 1, coverageDelta: null };
    const runs = [run(['a'], [solved('a'), entry('a', { sample: 2, harness: resolved })])];
    const shares = (grading: 'strict' | 'harness') =>
      studyReport(studyOf(runs), { grading }).methods.map((each) => each.success.count);
    assert.deepEqual(shares('strict'), [1, 1]);
    assert.deepEqual(shares('harness'), [0, 1]);
  });
});

describe('Pass@k', () => {
  it('is the share of all choices of k samples that hold a successful one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(9), fc.nat(8), (n, rawC, rawK) => {
        const c = Math.min(rawC, n);
        const k = 1 + Math.min(rawK, n - 1);
        let choices = 0;
        let hits = 0;
        for (let chosen = 0; chosen < 2 ** n; chosen++) {
          const members = Array.from({ length: n }, (_, bit) => bit).filter(
            (bit) => (chosen >> bit) & 1,
          );
          if (members.length !== k) continue;
          choices++;
          if (members.some((member) => member < c)) hits++;
        }
        assert.ok(Math.abs((chancesOf(n, c)[k - 1] ?? NaN) - hits / choices) < 1e-12);
      }),
    );
  });

  it('counts a sample that was not produced as no success', () => {
    const [method] = methodsOf([
      run(['a', 'b', 'c'], [solved('a'), entry('a', { sample: 2 }), solved('b')]),
    ]);
    assert.ok(method);
    const [one, two] = passAtK(method);
    assert.equal(one?.mean.toFixed(9), ((0.5 + 0.5 + 0) / 3).toFixed(9));
    assert.equal(two?.mean.toFixed(9), ((1 + 1 + 0) / 3).toFixed(9));
  });
});
