import assert from 'node:assert/strict';
import { filteredDocument, filteredRepairsSchema } from '../../../src/repair/filteredRepairsSchema';
import { simulatedEngine } from '../../processes/simulatedEngine';
import { assertPublished } from '../results/publishedSchema';

describe('the published schema of filtered code patches', () => {
  it('is the one in media/schema (UPDATE_SCHEMAS=1 writes it)', async () => {
    const { value: version } = filteredRepairsSchema.shape.version;
    await assertPublished(
      'repairs.schema.json',
      {
        title: `Code patches filtered with generated tests, version ${version}`,
        description: 'What `swt-bench filter-repairs --json` prints. Shares are from 0 to 1.',
      },
      filteredRepairsSchema,
    );
  });

  it('allows every kind of result, with nothing that it does not name', () => {
    const document = filteredDocument(
      {
        tested: [
          {
            instance: 'a',
            name: 'm',
            resolved: true,
            base: { t: 'fails' },
            standings: { t: 'passes' },
          },
          { instance: 'a', name: 'm@2', base: { t: 'fails' }, failure: 'it does not apply' },
          { instance: 'b', name: 'm', hindrance: 'environment failed', failure: 'no disk' },
        ],
        reused: 1,
      },
      { run: 'run', tests: 't', engine: simulatedEngine(), problems: ['line 3 is not JSON'] },
    );
    assert.deepEqual(filteredRepairsSchema.strict().parse(document), document);
    assert.deepEqual(
      document.repairs.map(({ reason }) => reason),
      ['kept', 'tests could not run on the patch', 'not evaluated'],
    );
    const nothing = filteredDocument(
      { tested: [], reused: 0 },
      { run: 'run', tests: '', engine: simulatedEngine(), problems: [] },
    );
    assert.deepEqual(filteredRepairsSchema.parse(nothing), nothing);
  });
});
