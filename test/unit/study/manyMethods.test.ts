import assert from 'node:assert/strict';
import { groupsByRepository } from '../../../src/study/measures/groups';
import { methodsOf } from '../../../src/study/measures/methods';
import { resamplesFor, studyReport, reportJson, reportText } from '../../../src/study/reportText';
import { studyDocument } from '../../../src/study/document/studyDocument';
import { entry, facts, run, solved } from './examples';

describe('a report of very many methods or instances', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `o__p-${index}`);

  it('draws no more resamples for 200,000 entries than for a few thousand', () => {
    const draws = (methods: number, instances: number): number => {
      const selected = ids(instances).map((id) => facts(id));
      return resamplesFor(Array.from({ length: methods }, () => ({ selected }))) * methods;
    };
    assert.equal(draws(10, 2294) / 10, 1000);
    for (const [methods, instances] of [
      [1, 200_000],
      [100, 2000],
      [2000, 100],
      [20_000, 10],
      [200_000, 1],
    ] as const) {
      const drawn = draws(methods, instances);
      assert.ok(drawn * instances <= 2e8, `${methods} × ${instances}: ${drawn}`);
    }
  });

  it('looks at the instances of a method once, whatever the number of groups', () => {
    let looks = 0;
    const looked = (repositories: number): number => {
      const instances = ids(60).map((id, index) => {
        const known = facts(id, { repo: `o/${index % repositories}` });
        return Object.defineProperty({ ...known }, 'id', {
          enumerable: true,
          get: () => (looks++, id),
        });
      });
      const methods = methodsOf([run([], [], { instances, models: ids(30) })]);
      looks = 0;
      groupsByRepository(methods);
      return looks;
    };
    assert.equal(looked(60), looked(2));
  });

  it('has no table of pairs and groups that would have a cell for each two of them', () => {
    const runs = ids(400).map((id) =>
      run([id], [solved(id, { model: `m ${id}` })], {
        label: id,
        instances: [facts(id, { repo: id })],
      }),
    );
    const report = studyReport(studyDocument({ runs }));
    assert.deepEqual([report.overlap?.pairs, report.byRepository], [undefined, []]);
    assert.deepEqual([report.overlap?.union, report.overlap?.regions.length], [400, 400]);
    assert.ok(!reportText(report).includes('each pair'));
  });

  it('takes more entries of a method, and more samples, than arguments fit on a stack', () => {
    const many = ids(150_000);
    const [of] = methodsOf([
      run(
        many,
        many.map((id) => entry(id)),
      ),
    ]);
    assert.equal(of?.sampleCount, 1);
    const samples = many.map((_, index) => solved('o__p-0', { sample: index + 1 }));
    const report = studyReport(studyDocument({ runs: [run(['o__p-0'], samples)] }));
    assert.equal(report.passAtK[0]?.values.length, samples.length);
    assert.equal(report.passAtK[0]?.values.at(-1)?.mean, 1);
    assert.ok(reportText(report).includes('k=100'));
  });

  it('is written as JSON in pieces', () => {
    const runs = [run(ids(3), [solved('o__p-0'), entry('o__p-1', { model: 'n\n"' })])];
    for (const of of [runs, []]) {
      const report = studyReport(studyDocument({ runs: of }));
      assert.equal([...reportJson(report)].join(''), `${JSON.stringify(report, null, 2)}\n`);
    }
  });
});
