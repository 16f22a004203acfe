import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isNamedByIssue } from '../../../src/domain/outcome';

describe('what the issue names', () => {
  const named = (issue: string, message: string, test = 't.py::test_x'): boolean =>
    isNamedByIssue(issue, { test, message });

  it('is what a failure says is missing, as a whole word', () => {
    const message = "name 'allocate' is not defined";
    assert.equal(named('Money.allocate loses a cent', message), true);
    assert.equal(named('Money.reallocate loses a cent', message), false);
    assert.equal(named('allocate_all loses a cent', message), false);
    assert.equal(named('', message), false);
  });

  it('is the missing name, not its owner', () => {
    const attribute = "'Money' object has no attribute 'split'";
    assert.equal(named('Money is wrong', attribute), false);
    assert.equal(named('Money.split is wrong', attribute), true);
    const argument = "purr() got an unexpected keyword argument 'loud'";
    assert.equal(named('purr is silent', argument), false);
    assert.equal(named('purr(loud=True) is silent', argument), true);
    assert.equal(named('cats are silent', "cannot import name 'purr' from 'cats'"), false);
  });

  it('is the value of a parameter, unless any text may have it by chance', () => {
    assert.equal(named('A name with a.dot fails', '', 't.py::test_x[a.dot]'), true);
    assert.equal(named('A name with a.dot fails', '', 't.py::test_x[1-a.dot]'), true);
    assert.equal(named('None of 10 fails', '', 't.py::test_x[10-None]'), false);
    assert.equal(named('nothing', '', 't.py::test_x[a.dot]'), false);
    assert.equal(named('test_x fails', ''), false);
  });

  it('is found wherever a word may stand, and never within another', () => {
    const letters = fc
      .stringMatching(/^[a-z]{3,8}$/)
      .filter((each) => !/^(none|null|nan|true|false)$/.test(each));
    fc.assert(
      fc.property(letters, fc.constantFrom('', ' ', '.', '(', '`', '\n'), (word, edge) => {
        const message = `name '${word}' is not defined`;
        assert.equal(named(`${edge}${word}${edge}`, message), true);
        assert.equal(named(`x${word}`, message), false);
        assert.equal(named(`${word}_`, message), false);
      }),
    );
  });
});
