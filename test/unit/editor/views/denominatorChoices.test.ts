import assert from 'node:assert/strict';
import {
  datasetsInQuestion,
  denominatorChoices,
  denominatorInWords,
  denominatorQuestion,
} from '../../../../src/editor/runs/denominatorChoices';

const all = Array.from({ length: 100 }, (_, index) => `a__a-${index}`);
const [first = '', second = '', third = ''] = all;
const six = [first, first, first, second, second, second];

describe('the question which instances rates are shares of', () => {
  it('offers the instances of few predictions before the whole dataset, and says what follows', () => {
    const choices = denominatorChoices({ all, predicted: six });
    assert.deepEqual(
      choices.map(({ label, detail }) => [label, detail]),
      [
        ['Instances with a prediction: 2', 'Each has a prediction. Rates are relative to 2.'],
        [
          'All instances of the dataset: 100',
          '98 have no prediction and count as failures. Rates are relative to 100.',
        ],
      ],
    );
    assert.deepEqual(choices[0]?.ids, [first, second]);
    assert.deepEqual(choices[0]?.denominator, { of: 'predicted', dataset: 100 });
    assert.equal(
      denominatorQuestion({ all, predicted: six }),
      '6 predictions of 2 instances. Select what rates are relative to',
    );
  });

  it('asks nothing where only one answer is possible', () => {
    for (const possible of [{ all }, { all, predicted: all }, { all, predicted: [] }]) {
      const choices = denominatorChoices(possible);
      assert.deepEqual(
        choices.map(({ denominator }) => denominator.of),
        ['dataset'],
      );
    }
  });

  it('tells the filter, the predictions in it, all predictions and the dataset apart', () => {
    const choices = denominatorChoices({
      all,
      listed: [second, third],
      predicted: six,
    });
    assert.deepEqual(
      choices.map(({ denominator, ids }) => [denominator.of, ids.length]),
      [
        ['predicted and filtered', 1],
        ['predicted', 2],
        ['filtered', 2],
        ['dataset', 100],
      ],
    );
  });

  it('leaves out a filter in which nothing has a prediction', () => {
    const choices = denominatorChoices({ all, listed: [third], predicted: six });
    assert.deepEqual(
      choices.map(({ denominator }) => denominator.of),
      ['predicted', 'dataset'],
    );
  });

  it('is told again after the rates', () => {
    const run = { instances: [1, 2], denominator: { of: 'predicted', dataset: 100 } } as const;
    assert.equal(
      denominatorInWords(run),
      'of instances with a prediction (2 of 100 in the dataset)',
    );
    assert.equal(denominatorInWords({ instances: [1] }), '');
  });
});

describe('the datasets that predictions can be about', () => {
  const own = { name: 'mine.jsonl', predicted: 3 };
  const set = { name: 'lite.jsonl', predicted: 2 };

  it('are those that have an instance of them', () => {
    assert.deepEqual(datasetsInQuestion([own, { ...set, predicted: 0 }]), [own]);
    assert.deepEqual(datasetsInQuestion([{ ...own, predicted: 0 }, set]), [set]);
    assert.deepEqual(datasetsInQuestion([own, set]), [own, set]);
  });

  it('are all where T* or no candidate stands for predictions, and the set one where none fits', () => {
    const any = [own, set].map((each) => ({ ...each, predicted: undefined }));
    assert.deepEqual(datasetsInQuestion(any), any);
    const none = [own, set].map((each) => ({ ...each, predicted: 0 }));
    assert.deepEqual(datasetsInQuestion(none), [none[1]]);
  });
});
