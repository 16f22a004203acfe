import assert from 'node:assert/strict';
import type { UnrelatedReason } from '../../../../src/domain/outcome';
import { type TestHint, adviceOn, hintInWords } from '../../../../src/editor/testing/testHints';

const unrelated = (reason: UnrelatedReason, both: boolean, missing?: string): string =>
  hintInWords({
    kind: 'unrelated failure',
    both,
    failure: { reason, missing },
  } as TestHint);

describe('hints on tests', () => {
  it('name the environment where another file of R cannot import something', () => {
    const failure = { reason: 'import error', missing: 'werkzeug', importedBy: 'src/flask/app.py' };
    assert.match(
      hintInWords({ kind: 'unrelated failure', both: true, failure } as TestHint),
      /^Fails on both sides because werkzeug, which src\/flask\/app\.py needs, is not installed\. The test is not the cause/,
    );
  });

  it('say what is wrong and what to do', () => {
    const say = (kind: 'passes on R' | 'fails on both sides' | 'fails on R∘X* only'): string =>
      hintInWords({ kind });
    assert.equal(
      say('passes on R'),
      'Passes on R: does not reproduce the issue. Assert what the issue says should happen, so that the test fails on R.',
    );
    assert.equal(
      say('fails on both sides'),
      'Fails on both sides: it expects something that the fix does not do. Compare the test output of both sides, and assert only what the issue asks for.',
    );
    assert.equal(
      say('fails on R∘X* only'),
      'Fails on R∘X* only: it depends on behaviour that the fix changes. Assert what the issue asks for.',
    );
  });

  it('call out a test that is broken on both sides', () => {
    assert.equal(
      unrelated('import error', true, 'cats.purr'),
      'Fails on both sides with an import error that is probably not this issue: cats.purr cannot be imported. Import something that R has.',
    );
    assert.equal(
      unrelated('syntax error', true),
      'Fails on both sides with a syntax error that is probably not this issue. Fix the syntax of the test file.',
    );
    assert.equal(
      unrelated('fixture error', true, 'cat'),
      'Fails on both sides during setup, which is probably not this issue: cat is missing or fails. Fix the fixture, or use one that R has.',
    );
    assert.equal(
      unrelated('undefined name', true),
      'Fails on both sides because of an undefined name, which is probably not this issue: something that it uses. Define or import it, or use something that R has.',
    );
  });

  it('call out a test that fails on R for want of what the fix brings', () => {
    const guessed =
      'Fails on R because R has no purr. Keep the test only if the issue names purr. Otherwise it guesses the fix; use something that R has.';
    assert.equal(unrelated('import error', false, 'purr'), guessed);
    assert.equal(unrelated('undefined name', false, 'purr'), guessed);
    assert.equal(
      unrelated('syntax error', false),
      'Fails on R with a syntax error. Keep the test only if the issue is about that. Otherwise fix the syntax.',
    );
    assert.equal(
      unrelated('fixture error', false),
      'Fails on R during setup: something that it uses is missing or fails. Keep the test only if the issue is about that. Otherwise move the code that shows the issue into the test.',
    );
  });

  it('do not repeat what the words above them say', () => {
    assert.equal(
      adviceOn({ kind: 'passes on R' }),
      'Assert what the issue says should happen, so that the test fails on R.',
    );
    const both: TestHint = { kind: 'fails on both sides' };
    assert.equal(adviceOn(both), hintInWords(both));
  });
});
