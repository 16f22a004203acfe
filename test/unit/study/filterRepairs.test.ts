import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  filterRepairs,
  type FilterReason,
  type Standings,
  type TestedRepair,
} from '../../../src/study/resolution/filterRepairs';

const decided = (base: Standings | undefined, standings: Standings | undefined): FilterReason => {
  const { repairs } = filterRepairs([
    {
      instance: 'a',
      name: 'x',
      ...(base === undefined ? {} : { base }),
      ...(standings === undefined ? {} : { standings }),
    },
  ]);
  return repairs[0]?.reason ?? 'no tests';
};

describe('filtering repairs with generated tests', () => {
  it('keeps a patch on which what failed on R passes, and nothing fails', () => {
    assert.equal(decided({ t: 'fails', u: 'passes' }, { t: 'passes', u: 'passes' }), 'kept');
    assert.equal(decided({ t: 'fails', u: 'neither' }, { t: 'passes', u: 'neither' }), 'kept');
  });

  it('says why a patch is not kept', () => {
    assert.equal(decided(undefined, undefined), 'no tests');
    assert.equal(decided({ t: 'passes' }, { t: 'passes' }), 'no test fails on R');
    assert.equal(decided({}, {}), 'no test fails on R');
    assert.equal(decided({ t: 'fails' }, undefined), 'tests could not run on the patch');
    assert.equal(decided({ t: 'fails' }, { t: 'fails' }), 'a test still fails');
    assert.equal(decided({ t: 'fails' }, { t: 'neither' }), 'a test still fails');
    assert.equal(decided({ t: 'fails' }, {}), 'a test still fails');
    assert.equal(
      decided({ t: 'fails', u: 'passes' }, { t: 'passes', u: 'fails' }),
      'a test fails that passed on R',
    );
    assert.equal(
      decided({ t: 'fails', u: 'passes' }, { t: 'passes' }),
      'a test fails that passed on R',
    );
  });

  it('blames neither tests nor patch where nothing could be run', () => {
    const [repair] = filterRepairs([
      { instance: 'a', name: 'x', hindrance: 'environment failed', failure: 'no disk' },
    ]).repairs;
    assert.deepEqual(
      [repair?.reason, repair?.detail],
      ['not evaluated', 'environment failed: no disk'],
    );
  });

  it('has what each test did on R and on the patch', () => {
    const [repair] = filterRepairs([
      { instance: 'a', name: 'x', base: { t: 'fails' }, standings: { u: 'neither' } },
    ]).repairs;
    assert.deepEqual(repair?.tests, [
      { test: 't', base: 'fails', patched: 'missing' },
      { test: 'u', base: 'missing', patched: 'neither' },
    ]);
  });

  it('gives precision and recall of the patches whose correctness is known', () => {
    const fails: Standings = { t: 'fails' };
    const passes: Standings = { t: 'passes' };
    const of = (
      name: string,
      resolved: boolean | undefined,
      [base, standings]: readonly [Standings, Standings],
    ): TestedRepair => ({
      instance: 'a',
      name,
      ...(resolved === undefined ? {} : { resolved }),
      base,
      standings,
    });
    const tested: TestedRepair[] = [
      of('right and kept', true, [fails, passes]),
      of('wrong and kept', false, [fails, passes]),
      of('wrong', false, [fails, fails]),
      of('unknown', undefined, [fails, passes]),
      of('right, without a test that fails on R', true, [passes, passes]),
      { instance: 'b', name: 'not run', resolved: true, hindrance: 'environment failed' },
    ];
    assert.deepEqual(filterRepairs(tested).quality, {
      known: 4,
      right: 2,
      kept: 2,
      keptRight: 1,
      precision: 0.5,
      recall: 0.5,
      precisionBefore: 0.5,
    });
    const nothing = filterRepairs([]).quality;
    assert.deepEqual([nothing.precision, nothing.recall], [undefined, undefined]);
  });

  it('keeps exactly the patches on which all tests are F→P or P→P and one is F→P', () => {
    const standing = fc.constantFrom('passes', 'fails', undefined);
    const tests = fc.array(fc.tuple(standing, standing), { maxLength: 5 });
    fc.assert(
      fc.property(tests, (list) => {
        const side = (index: 0 | 1): Standings =>
          Object.fromEntries(
            list.flatMap((each, test) => {
              const what = each[index];
              return what === undefined ? [] : [[`t${test}`, what]];
            }),
          );
        const transitions = list
          .filter(([before, after]) => before !== undefined || after !== undefined)
          .map(([before, after]) => `${before ?? '-'} ${after ?? '-'}`);
        const good = ['fails passes', 'passes passes', '- passes'];
        const expected =
          transitions.every((each) => good.includes(each)) && transitions.includes('fails passes');
        assert.equal(decided(side(0), side(1)) === 'kept', expected);
      }),
    );
  });
});
