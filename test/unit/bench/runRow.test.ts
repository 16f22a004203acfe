import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Instance } from '../../../src/domain/instance';
import { dockerSettings } from '../../../src/engine/docker/dockerSettings';
import type { GoldenPlan, GoldenResult } from '../../bench/fidelity/goldenResult';
import { runRow, type RowOptions, type RowPlan, type RowWork } from '../../bench/fidelity/runRow';

const instance: Instance = {
  ...{ id: 'octo__cat-1', repo: 'octo/cat', version: '1', baseCommit: 'b', issue: '', hints: '' },
  ...{ goldenPatch: '', goldenTests: '', createdAt: '2020-01-01T00:00:00Z' },
  ...{ failToPass: ['t.py::test_a'], passToPass: ['t.py::test_b'] },
};

const lists = (failToPass: string[], passToPass: string[]): GoldenResult['lists'] => ({
  ...{ FAIL_TO_PASS: failToPass, PASS_TO_PASS: passToPass },
  ...{ FAIL_TO_FAIL: [], PASS_TO_FAIL: [], UNMATCHED: [] },
});

const result = (found: GoldenResult['lists'], interpreter = '/own/python'): GoldenResult => ({
  ...{ environment: { description: 'CPython 3.9', interpreter }, lists: found },
  ...{ resolved: true, strictSuccess: true, logs: { base: '', fixed: '' } },
});
const asListed = lists(['t.py::test_a'], ['t.py::test_b']);
const withMore = lists(['t.py::test_a'], ['t.py::test_b', 't.py::test_c']);

describe('a row of the fidelity bench', () => {
  let scratch: string;
  beforeEach(async () => (scratch = await mkdtemp(join(tmpdir(), 'swt-row-'))));
  afterEach(() => rm(scratch, { recursive: true, force: true }));

  const options = (more: Partial<RowOptions> = {}): RowOptions => ({
    ...{ root: scratch, storage: scratch, scratch, timeoutSeconds: 1 },
    docker: dockerSettings.read(),
    ...{ isFresh: false, isQuick: false, byHand: {}, ...more },
  });
  const plan = (more: Partial<RowPlan> = {}): RowPlan => ({
    ...{ instance, engine: 'local', source: '/r', isRelease: false, key: 'k', ...more },
  });

  /** Answers in place of an engine, and notes with which Python each was asked for. */
  function answering(
    answers: Readonly<Record<string, GoldenResult>>,
    furtherRuns: RowWork['furtherRuns'] = [],
  ): RowWork & { readonly asked: string[] } {
    const asked: string[] = [];
    const goldenResult = ({ python }: GoldenPlan): Promise<GoldenResult> => {
      asked.push(python);
      const answer = answers[python];
      return answer === undefined ? Promise.reject(new Error('no wheel')) : Promise.resolve(answer);
    };
    return { goldenResult, furtherRuns, asked };
  }
  const further = (
    what: string,
    shown: Awaited<ReturnType<RowWork['furtherRuns'][number]>>['shown'],
  ) => Object.assign(() => Promise.resolve({ what, shown }), { what });

  it('makes no further run where the lists are equal', async () => {
    const row = await runRow(
      plan(),
      options(),
      answering({ auto: result(asListed) }, [() => assert.fail('a further run')]),
    );
    const { resolved, strictSuccess, differing, tried, interpreter } = row;
    assert.deepEqual(
      { resolved, strictSuccess, differing, tried, interpreter },
      { resolved: true, strictSuccess: true, differing: [], tried: [], interpreter: '/own/python' },
    );
  });

  it('counts the bytes of an environment that was made for rows, and of no other', async () => {
    const folder = join(scratch, 'virtualenvs', 'octo-cat-1');
    await mkdir(join(folder, 'bin'), { recursive: true });
    await writeFile(join(folder, 'library'), 'x'.repeat(2 ** 16));
    const python = join(folder, 'bin', 'python');
    const made = await runRow(plan(), options(), answering({ auto: result(asListed, python) }));
    assert.ok((made.environmentBytes ?? 0) >= 2 ** 16);
    const other = plan({ key: 'other' });
    const own = await runRow(other, options(), answering({ auto: result(asListed) }));
    assert.equal(own.environmentBytes, undefined);
  });

  it('makes further runs, the cheapest first, until all differences are explained', async () => {
    const runs = [further('seeds', { again: [asListed ?? assert.fail()] }), further('harness', {})];
    const row = await runRow(plan(), options(), answering({ auto: result(withMore) }, runs));
    assert.deepEqual(row.tried, ['seeds']);
    assert.deepEqual(
      row.differing?.map(({ test, cause }) => [test, cause]),
      [['t.py::test_c', 'flaky']],
    );
  });

  it('leaves differences unexplained with what was tried, and tries nothing when it is quick', async () => {
    const work = () =>
      answering({ auto: result(withMore) }, [further('seeds', {}), further('harness', {})]);
    const row = await runRow(plan(), options(), work());
    assert.deepEqual([row.tried, row.differing?.[0]?.cause], [['seeds', 'harness'], 'unexplained']);
    const quick = await runRow(plan(), options({ isQuick: true }), work());
    assert.deepEqual([quick.tried, quick.differing?.[0]?.cause], [[], 'unexplained']);
  });

  it('takes a cause that was found by hand', async () => {
    const known = { cause: 'needs the network', detail: 'it asks a host' } as const;
    const byHand = { [instance.id]: { 't.py::test_c': known } };
    const row = await runRow(plan(), options({ byHand }), answering({ auto: result(withMore) }));
    assert.equal(row.differing?.[0]?.cause, 'needs the network');
  });

  it('shares the environment of another row of the version where it gives the lists', async () => {
    const work = answering({ '/shared': result(asListed, '/shared'), auto: result(withMore) });
    const row = await runRow(plan({ shared: '/shared' }), options(), work);
    assert.deepEqual([work.asked, row.interpreter], [['/shared'], '/shared']);
  });

  it('gets an environment of its own where the shared one differs or does not run', async () => {
    for (const shared of [result(withMore), { notRun: 'no runner' }, undefined]) {
      const answers = { auto: result(asListed), ...(shared && { '/shared': shared }) };
      const work = answering(answers);
      const row = await runRow(plan({ shared: '/shared' }), options({ isFresh: true }), work);
      assert.deepEqual([work.asked, row.differing], [['/shared', 'auto'], []]);
    }
  });

  it('keeps what ran, unless it is asked to run again or depends on something else', async () => {
    const work = answering({ auto: result(asListed) });
    const times = async (more: Partial<RowPlan>, asked: Partial<RowOptions> = {}) => {
      const before = work.asked.length;
      await runRow(plan(more), options(asked), work);
      return work.asked.length - before;
    };
    assert.equal(await times({}), 1);
    assert.equal(await times({}), 0);
    assert.equal(await times({}, { isFresh: true }), 1);
    assert.equal(await times({ key: 'other' }), 1);
  });

  it('says why it did not run, and tries that again', async () => {
    const work = answering({ auto: { notRun: 'no test passes on R∘X*' } });
    assert.equal((await runRow(plan(), options(), work)).notRun, 'no test passes on R∘X*');
    await runRow(plan(), options(), work);
    assert.deepEqual(work.asked, ['auto', 'auto']);
  });
});
