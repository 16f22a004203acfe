import assert from 'node:assert/strict';
import { soundnessOf, type UnsoundReason, type Validation } from '../../../../src/domain/soundness';
import {
  environmentSummary,
  withoutSource,
  validationLine,
  validationSummary,
} from '../../../../src/editor/instances/validationTexts';

const validation = (
  id: string,
  ...reasons: readonly Omit<UnsoundReason, 'tests'>[]
): Validation => ({
  ...{ id, repetitions: 5, date: '2024-03-01T10:00:00.000Z', engine: 'local' },
  ...{ environment: 'CPython 3.11.7', flaky: [], golden: {}, base: {}, added: 0, removed: 0 },
  reasons: reasons.map((each) => ({ ...each, tests: [] })),
  seconds: 3.25,
});

const sound = validation('octo__cat-1');
const flaky = validation('octo__cat-2', { kind: 'flaky', explanation: 'now and then' });
const gone = validation('octo__cat-3', {
  kind: 'source not available',
  explanation: 'Nothing is there. Give --source octo/cat=PATH_OR_URL of a repository that has it',
});

const broken = validation('octo__cat-4', {
  kind: 'environment failed',
  explanation: 'the environment lacks six; tests ran with CPython 3.12.1, /venv/bin/python',
});

describe('a validation in words', () => {
  it('judges nothing where R could not be had', () => {
    assert.deepEqual([sound, flaky, gone].map(soundnessOf), [
      'sound',
      'not sound',
      'not validated',
    ]);
  });

  it('is one line of the log, in terms of settings', () => {
    assert.deepEqual(
      [sound, flaky, gone].map((each) => validationLine(each)),
      [
        'octo__cat-1 is valid (5 repetitions in 3.3 s)',
        'octo__cat-2 is not valid. flaky: now and then',
        'Could not validate octo__cat-3. source not available: Nothing is there. ' +
          'Give octo/cat in the setting swt-bench.repositorySources the path or address of a repository that has it',
      ],
    );
  });

  it('counts as unsound only what was judged', () => {
    const says = (...all: Validation[]) => validationSummary(all);
    assert.equal(says(gone), undefined);
    assert.deepEqual(says(sound, gone), { text: 'Valid: octo__cat-1', isSound: true });
    assert.deepEqual(says(sound, sound), { text: 'Valid: 2 instances', isSound: true });
    assert.deepEqual(says(flaky), {
      text: 'Not valid: octo__cat-2: now and then',
      isSound: false,
    });
    assert.deepEqual(says(sound, flaky, gone), {
      text: '1 of 2 not valid. octo__cat-2: now and then',
      isSound: false,
    });
    assert.equal(says(broken), undefined);
    assert.equal(
      withoutSource('octo__cat-3', 'octo/cat'),
      'octo__cat-3 is not validated: could not fetch octo/cat',
    );
  });

  it('says nothing of an instance whose tests cannot run in the environment, but what is wrong there', () => {
    assert.equal(soundnessOf(broken), 'not validated');
    const says = (...all: Validation[]) => environmentSummary(all);
    assert.equal(says(sound, flaky, gone), undefined);
    assert.equal(
      says(broken),
      'octo__cat-4 is not validated: the environment lacks six; tests ran with CPython 3.12.1, /venv/bin/python',
    );
    assert.equal(
      says(sound, broken),
      '1 of 2 not validated, since the environment failed. octo__cat-4: the environment lacks six; tests ran with CPython 3.12.1, /venv/bin/python',
    );
  });
});
