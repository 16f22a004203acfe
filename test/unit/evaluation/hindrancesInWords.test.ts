import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hindrancesInWords } from '../../../src/evaluation/hindrancesInWords';

describe('hindrances of several runs in words', () => {
  const cause = "ModuleNotFoundError: No module named 'cat' (of zoo)";
  const all = ['golden tests', 'base tests beside the golden tests', 'base tests'].flatMap(
    (tests) =>
      ['R', 'R∘X*'].map(
        (side) => `the ${tests} cannot be run on ${side} with what is installed (${cause})`,
      ),
  );

  it('share a sentence where tests and sides have the same one, with the cause once', () => {
    assert.equal(
      hindrancesInWords(all),
      'the golden tests, the base tests beside the golden tests and the base tests cannot be run ' +
        `on R and R∘X* with what is installed (${cause})`,
    );
  });

  it('do not give a hidden cause away, nor repeat one that stands beside', () => {
    const hidden = 'the golden tests cannot be run on R with what is installed';
    assert.equal(
      hindrancesInWords([hidden, all[4] ?? '', all[5] ?? '']),
      `${hidden}; the base tests cannot be run on R and R∘X* with what is installed (${cause})`,
    );
    assert.equal(
      hindrancesInWords(all.slice(4), `the environment lacks cat (${cause})`),
      'the base tests cannot be run on R and R∘X* with what is installed',
    );
  });

  it('stay as they are where they differ', () => {
    for (const each of [
      ['T* touches no Python test file'],
      [
        'the base tests broke off on R (stopped by the time limit)',
        'the base tests cannot all be run here (no pytest)',
      ],
      ['the records of the base tests contradict each other on R: two ends'],
    ]) {
      assert.equal(hindrancesInWords(each), each.join('; '));
    }
    assert.equal(hindrancesInWords([]), '');
  });

  it('have each cause exactly once, whatever fails', () => {
    const subject = fc.constantFrom('the golden tests', 'the base tests');
    const side = fc.constantFrom('R', 'R∘X*');
    const why = fc.constantFrom('first <1>', 'second <2>', 'third <3>');
    fc.assert(
      fc.property(fc.array(fc.tuple(subject, side, why)), (given) => {
        const text = hindrancesInWords(
          given.map(([tests, on, said]) => `${tests} cannot be run on ${on} (${said})`),
        );
        for (const said of new Set(given.map(([, , each]) => each))) {
          assert.equal(text.split(said).length, 2, text);
        }
      }),
    );
  });
});
