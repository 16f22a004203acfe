import assert from 'node:assert/strict';
import { denominatorTexts } from '../../../src/study/measures/denominator';

const instances = ['a', 'b', 'c'].map((id) => ({ id }));
const entries = [{ instance: 'a' }, { instance: 'a' }];

describe('the denominator of a run in words', () => {
  it('names what was chosen, and how many instances have no prediction', () => {
    const text = (of: 'dataset' | 'predicted', among = instances): string =>
      denominatorTexts([
        { ...{ label: 'run', instances: among, entries }, denominator: { of, dataset: 3 } },
      ]).join();
    assert.equal(
      text('dataset'),
      'run: shares of all 3 instances of the dataset; 2 have no prediction',
    );
    assert.equal(
      text('predicted', instances.slice(0, 1)),
      'run: shares of the 1 instance with a prediction, of 3 in the dataset',
    );
    assert.equal(
      denominatorTexts([{ label: 'run', instances, entries }]).join(),
      'run: shares of the 3 selected instances; 2 have no prediction',
    );
  });

  it('says nothing is missing while a run goes on', () => {
    assert.equal(
      denominatorTexts([{ label: 'run', instances, entries, unfinished: true }]).join(),
      'run: shares of the 3 selected instances',
    );
  });

  it('says once what is true of several runs', () => {
    const run = (
      label: string,
      among = instances,
    ): Parameters<typeof denominatorTexts>[0][number] => ({
      label,
      instances: among,
      entries: among.map(({ id }) => ({ instance: id })),
    });
    assert.deepEqual(denominatorTexts([run('one'), run('two')]), [
      'All runs: shares of the 3 selected instances',
    ]);
    assert.deepEqual(denominatorTexts([run('one'), run('two'), run('few', instances.slice(1))]), [
      'one, two: shares of the 3 selected instances',
      'few: shares of the 2 selected instances',
    ]);
  });
});
