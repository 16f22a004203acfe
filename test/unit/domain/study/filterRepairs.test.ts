import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  filterRepairs,
  type FilterReason,
  type InstanceRepairs,
  type Standings,
} from '../../../../src/domain/study/filterRepairs';

const decided = (base: Standings | undefined, standings: Standings | undefined): FilterReason => {
  const { repairs } = filterRepairs([
    {
      instance: 'a',
      ...(base === undefined ? {} : { base }),
      repairs: [{ name: 'x', ...(standings === undefined ? {} : { standings }) }],
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

  it('gives precision and recall of the patches whose correctness is known', () => {
    const fails: Standings = { t: 'fails' };
    const passes: Standings = { t: 'passes' };
    const instances: InstanceRepairs[] = [
      {
        instance: 'a',
        base: fails,
        repairs: [
          { name: 'right and kept', resolved: true, standings: passes },
          { name: 'wrong and kept', resolved: false, standings: passes },
          { name: 'wrong', resolved: false, standings: fails },
          { name: 'unknown', standings: passes },
        ],
      },
      {
        instance: 'b',
        base: passes,
        repairs: [{ name: 'right', resolved: true, standings: passes }],
      },
    ];
    assert.deepEqual(filterRepairs(instances).quality, {
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
