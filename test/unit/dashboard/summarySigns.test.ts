import assert from 'node:assert/strict';
import { summaryCaption, summarySigns } from '../../../src/dashboard/summarySigns';
import { deltaKeys, deltaTitles, shareKeys, shareTitles } from '../../../src/study/summary';

describe('the signs of the summary', () => {
  it('have one meaning each, in the order of the columns', () => {
    const signs = summarySigns.map(([sign]) => sign);
    assert.equal(new Set(signs).size, signs.length);
    const columns = [
      ...shareKeys.map((key) => shareTitles[key]),
      ...deltaKeys.map((key) => deltaTitles[key]),
    ];
    assert.deepEqual(
      signs.filter((sign) => columns.includes(sign)),
      columns,
    );
    assert.ok(summarySigns.every(([, meaning]) => meaning.length > 0));
  });
});

describe('the caption of the summary', () => {
  it('says what the figures are shares of, with a filter too', () => {
    const rest = ', with 95 % bootstrap intervals over the instances';
    assert.equal(summaryCaption(undefined), `In percent of all selected instances${rest}`);
    assert.equal(summaryCaption(0), 'The filter keeps no instance');
    assert.equal(summaryCaption(1), `In percent of the 1 instance that the filter keeps${rest}`);
    assert.equal(summaryCaption(14), `In percent of the 14 instances that the filter keeps${rest}`);
  });
});
