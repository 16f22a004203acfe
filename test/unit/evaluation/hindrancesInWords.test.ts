import assert from 'node:assert/strict';
import fc from 'fast-check';
import { sides } from '../../../src/domain/outcome';
import { hindrancesInWords, type Hindrance } from '../../../src/evaluation/results';

describe('hindrances of several runs in words', () => {
  const cause = "ModuleNotFoundError: No module named 'cat' (of zoo)";
  const lacking = { what: 'cannot be run', how: 'in this environment' };
  const all = [
    'the golden tests',
    'the base tests of the golden test files',
    'the base tests',
  ].flatMap((subject) => sides.map((side): Hindrance => ({ ...lacking, subject, side, cause })));

  it('share a sentence where tests and sides have the same one, with the cause once', () => {
    assert.equal(
      hindrancesInWords(all),
      'the golden tests, the base tests of the golden test files and the base tests cannot be run ' +
        `on R and R∘X* in this environment (${cause})`,
    );
  });

  it('do not give a hidden cause away, nor repeat one that stands beside', () => {
    const hidden: Hindrance = { ...lacking, subject: 'the golden tests', side: 'base' };
    const text = 'cannot be run on R in this environment';
    assert.equal(
      hindrancesInWords([hidden, ...all.slice(4)]),
      `the golden tests ${text}; the base tests cannot be run on R and R∘X* in this environment (${cause})`,
    );
    assert.equal(
      hindrancesInWords(all.slice(4, 5), `the environment lacks cat (${cause})`),
      `the base tests ${text}`,
    );
  });

  it('stay apart where they differ', () => {
    const subject = 'the base tests';
    assert.equal(hindrancesInWords([]), '');
    assert.equal(
      hindrancesInWords([{ what: 'T* changes no Python test file' }]),
      'T* changes no Python test file',
    );
    assert.equal(
      hindrancesInWords([
        { subject, what: 'did not finish', side: 'base', cause: 'stopped at the time limit' },
        { subject, what: 'cannot all run here', cause: 'no pytest' },
      ]),
      'the base tests did not finish on R (stopped at the time limit); ' +
        'the base tests cannot all run here (no pytest)',
    );
  });

  it('have each cause exactly once, whatever fails', () => {
    const hindrance = fc.record({
      subject: fc.constantFrom('the golden tests', 'the base tests'),
      what: fc.constant('cannot be run'),
      side: fc.constantFrom(...sides),
      cause: fc.constantFrom('first <1>', 'second <2>', 'third <3>'),
    });
    fc.assert(
      fc.property(fc.array(hindrance), (given) => {
        const text = hindrancesInWords(given);
        for (const said of new Set(given.map((each) => each.cause))) {
          assert.equal(text.split(said).length, 2, text);
        }
      }),
    );
  });
});
