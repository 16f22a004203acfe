import assert from 'node:assert/strict';
import { withoutPaths, type RunData } from '../../../src/study/entry';
import { studyOrigin, studyTitle } from '../../../src/study/document/studyTitle';

const run = (label: string, rest: Partial<RunData> = {}): RunData => ({
  label,
  instances: [],
  entries: [],
  ...rest,
});
const created = '2026-11-25T20:10:00.000Z';
const lite = { dataset: '/home/jane/data/lite.jsonl', created: '2026-11-20T01:00:00.000Z' };

describe('what a page says about itself', () => {
  it('is titled by run, dataset and day', () => {
    assert.equal(
      studyTitle({ runs: [run('night', lite)], created }),
      'night · lite.jsonl · 2026-11-25',
    );
    assert.equal(studyTitle({ runs: [run('a'), run('b')], created }), '2 runs · 2026-11-25');
  });

  it('names each dataset once, the days of the runs, and when it was made', () => {
    const later = { ...lite, created: '2026-11-23T01:00:00.000Z' };
    const other = { dataset: 'hf:princeton-nlp/SWE-bench_Lite' };
    const about = { created, product: '0.1.0' };
    assert.equal(
      studyOrigin({ ...about, runs: [run('a', later), run('b', lite), run('c', other)] }),
      'Datasets lite.jsonl, hf:princeton-nlp/SWE-bench_Lite · ' +
        'Evaluated 2026-11-20 to 2026-11-23 · Created 2026-11-25 with SWT-Bench 0.1.0',
    );
    assert.equal(
      studyOrigin({ ...about, runs: [run('a')] }),
      'Created 2026-11-25 with SWT-Bench 0.1.0',
    );
  });

  it('holds no path of the machine', () => {
    const shared = withoutPaths(run('a', { ...lite, folder: '/home/jane', place: '/home/jane/r' }));
    assert.doesNotMatch(JSON.stringify(shared), /jane/);
    assert.equal(shared.dataset, 'lite.jsonl');
  });
});
