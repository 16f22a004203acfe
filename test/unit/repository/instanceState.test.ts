import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { statusWords, type InstanceStatus, type Validation } from '../../../src/domain/soundness';
import {
  readStates,
  statusOf,
  updateState,
  type InstanceState,
  type KeptVerdict,
} from '../../../src/repository/instanceState';

const validation: Validation = {
  id: 'octo__cat-1',
  reasons: [{ kind: 'flaky', explanation: 'now and then', tests: ['t.py::a'] }],
  repetitions: 2,
  date: '2024-03-01T10:00:00.000Z',
  engine: 'local',
  environment: 'CPython 3.11.7',
  source: 'snapshot /cat-1.0',
  flaky: [{ test: 't.py::a', tests: 'golden', side: 'fixed', outcomes: ['passed', 'failed'] }],
  golden: { 'F→P': 1, 'P→P': 2 },
  base: { 'P→P': 2 },
  added: 1,
  removed: 0,
  baseCoverage: 0.5,
  failToPass: ['t.py::b'],
  disagreement: { listedOnly: ['x'], seenOnly: [] },
  remarks: ['something'],
  seconds: 3.5,
};
const sound: Validation = { ...validation, reasons: [] };
const verdict: KeptVerdict = {
  success: false,
  reason: 'passes on R',
  failToPass: 0,
  date: '2024-03-02T10:00:00.000Z',
  digest: 'f00',
};

describe('the kept state of an instance', () => {
  let storage = '';
  const id = 'octo__cat-1';
  const path = (of = id): string => join(storage, 'instances', of, 'state.json');
  const put = async (text: string, of = id): Promise<void> => {
    await mkdir(dirname(path(of)), { recursive: true });
    await writeFile(path(of), text);
  };
  const stateOf = async (): Promise<InstanceState | undefined> =>
    (await readStates(storage)).get(id);
  beforeEach(async () => (storage = await mkdtemp(join(tmpdir(), 'states-test-'))));
  afterEach(() => rm(storage, { recursive: true, force: true }));

  it('is empty where nothing is kept', async () => {
    assert.deepEqual(await readStates(storage), new Map());
  });

  it('is read as it was kept, and nothing lies beside it', async () => {
    await updateState(storage, id, () => ({ validation }));
    await updateState(storage, id, (kept) => ({ ...kept, verdict }));
    await updateState(storage, id, (kept) => ({ ...kept, openedAt: verdict.date }));
    const state = { validation, verdict, openedAt: verdict.date, treesReady: false };
    assert.deepEqual(await stateOf(), state);
    assert.deepEqual(await readStates(storage), new Map([[id, state]]));
    assert.deepEqual(await readdir(dirname(path())), ['state.json']);
  });

  it('loses no change of many at once', async () => {
    const one = (name: 'a' | 'b') =>
      updateState(storage, id, (kept) => ({
        ...kept,
        ...(name === 'a'
          ? { openedAt: `${kept.openedAt ?? ''}a` }
          : { verdict: { ...verdict, failToPass: (kept.verdict?.failToPass ?? 0) + 1 } }),
      }));
    await Promise.all(Array.from({ length: 6 }, () => [one('a'), one('b')]).flat());
    const state = await stateOf();
    assert.equal(state?.openedAt, 'aaaaaa');
    assert.equal(state?.verdict?.failToPass, 6);
  });

  it('keeps what there was when the change fails', async () => {
    await updateState(storage, id, () => ({ verdict }));
    await assert.rejects(
      updateState(storage, id, () => {
        throw new Error('no');
      }),
      /no/,
    );
    assert.deepEqual((await stateOf())?.verdict, verdict);
    await updateState(storage, id, (kept) => kept);
  });

  it('does without a broken file, and leaves the others alone', async () => {
    await put('{"format": 1, "verd');
    await put('[]', 'octo__cat-2');
    await put('', 'octo__cat-3');
    await mkdir(path('octo__cat-4'), { recursive: true });
    await updateState(storage, 'octo__cat-5', () => ({ verdict }));
    assert.deepEqual([...(await readStates(storage)).keys()], ['octo__cat-5']);
    await updateState(storage, id, (kept) => ({ ...kept, verdict }));
    assert.deepEqual((await stateOf())?.verdict, verdict);
  });

  it('does without a broken field alone', async () => {
    await put(JSON.stringify({ format: 1, validation: { ...validation, flaky: 7 }, verdict }));
    assert.deepEqual(await stateOf(), { verdict, treesReady: false });
  });

  it('is not overwritten when a newer version wrote it', async () => {
    const text = JSON.stringify({ format: 2, verdict: 'in new words' });
    await put(text);
    assert.equal(await stateOf(), undefined);
    await assert.rejects(
      updateState(storage, id, (kept) => kept),
      /newer version/,
    );
    assert.equal(await readFile(path(), 'utf8'), text);
  });

  it('is read or empty, whatever the file holds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc
            .record({ format: fc.constant(1), validation: fc.jsonValue(), verdict: fc.jsonValue() })
            .map((each) => JSON.stringify(each)),
        ),
        async (text) => {
          await put(text);
          await stateOf();
        },
      ),
      { numRuns: 50 },
    );
  });

  it('refuses ids that would leave the folder', async () => {
    for (const bad of ['../x', 'a/b', '', '.']) {
      await assert.rejects(
        updateState(storage, bad, () => ({})),
        /is not a valid instance ID/,
      );
    }
  });

  it('knows trees that are made from those that are being made', async () => {
    const trees = join(storage, 'instances', id, 'trees');
    await mkdir(join(trees, '0123456789abcdef.11111111-2222-3333-4444-555555555555'), {
      recursive: true,
    });
    await mkdir(join(trees, '0123456789abcdef.in-use'));
    assert.deepEqual(await readStates(storage), new Map());
    await mkdir(join(trees, '0123456789abcdef'));
    assert.deepEqual(await readStates(storage), new Map([[id, { treesReady: true }]]));
  });
});

describe('the status of an instance', () => {
  const status = (state: Parameters<typeof statusOf>[0]): InstanceStatus => statusOf(state);
  const later = (of: { readonly date: string }) => of.date.replace('2024', '2025');

  it('without validation and verdict is whether its trees are made', () => {
    assert.deepEqual(status(undefined), { kind: 'not opened' });
    assert.deepEqual(status({ treesReady: false, openedAt: 'then' }), { kind: 'not opened' });
    assert.deepEqual(status({ treesReady: true }), { kind: 'opened' });
  });

  it('is that of the validation, with the kinds of all reasons', () => {
    assert.deepEqual(status({ treesReady: true, validation: sound }), { kind: 'golden valid' });
    const two = [
      ...validation.reasons,
      { kind: 'no F→P' as const, explanation: 'it timed out', tests: [] },
    ];
    assert.deepEqual(status({ treesReady: false, validation: { ...validation, reasons: two } }), {
      kind: 'golden invalid',
      reason: 'flaky, no F→P',
    });
  });

  it('is neither valid nor invalid where R could not be had', () => {
    const kind = 'source not available';
    const reasons = [{ kind, explanation: 'no such commit', tests: [] }] as const;
    const unjudged = status({ treesReady: false, validation: { ...validation, reasons } });
    assert.deepEqual(unjudged, { kind: 'not validated', reason: kind });
    assert.deepEqual(
      (['valid', 'invalid', 'not-validated'] as const).map((word) => statusWords[word](unjudged)),
      [false, false, true],
    );
  });

  it('is that of the later of validation and verdict, and keeps the other', () => {
    const candidate = { kind: 'candidate', success: false, reason: 'passes on R' };
    const golden = { kind: 'golden valid' };
    const first = { ...candidate, golden };
    assert.deepEqual(status({ treesReady: true, verdict }), candidate);
    assert.deepEqual(status({ treesReady: true, validation: sound, verdict }), first);
    const newer = { ...sound, date: later(sound) };
    const second = { ...golden, candidate };
    assert.deepEqual(status({ treesReady: true, validation: newer, verdict }), second);
    const same = { ...sound, date: verdict.date };
    assert.deepEqual(status({ treesReady: true, validation: same, verdict }), first);
    const unreadable = { ...verdict, date: 'yesterday' };
    assert.deepEqual(status({ treesReady: true, validation: sound, verdict: unreadable }), second);
  });

  it('matches the filters of both, whichever is later', () => {
    const keeps = (word: keyof typeof statusWords, date: string): boolean =>
      statusWords[word](status({ treesReady: true, validation: { ...sound, date }, verdict }));
    for (const date of [sound.date, later(verdict)]) {
      assert.deepEqual(
        (['valid', 'invalid', 'candidate', 'success', 'failure'] as const).map((word) =>
          keeps(word, date),
        ),
        [true, false, true, false, true],
      );
    }
  });
});
