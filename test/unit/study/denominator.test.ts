import assert from 'node:assert/strict';
import { denominatorText } from '../../../src/study/measures/denominator';

const instances = ['a', 'b', 'c'].map((id) => ({ id }));
const entries = [{ instance: 'a' }, { instance: 'a' }];

describe('the denominator of a run in words', () => {
  it('names what was chosen, and how many instances have no prediction', () => {
    const text = (of: 'dataset' | 'predicted', among = instances): string =>
      denominatorText({
        ...{ label: 'run', instances: among, entries },
        denominator: { of, dataset: 3 },
      });
    assert.equal(
      text('dataset'),
      'run: shares of all 3 instances of the dataset; 2 have no prediction',
    );
    assert.equal(
      text('predicted', instances.slice(0, 1)),
      'run: shares of the 1 instance with a prediction, of 3 in the dataset',
    );
    assert.equal(
      denominatorText({ label: 'run', instances, entries }),
      'run: shares of the 3 instances of the run; 2 have no prediction',
    );
  });

  it('says nothing is missing while a run goes on', () => {
    assert.equal(
      denominatorText({ label: 'run', instances, entries, unfinished: true }),
      'run: shares of the 3 instances of the run',
    );
  });
});
