import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { harnessUnapplied } from '../../../src/domain/harness';
import { ungraded } from '../../../src/domain/verdict';
import { entryOf, type BatchEntry } from '../../../src/results/entry';
import { ratesOf, toReport, writeReport, writeSummaries } from '../../../src/results/report';
import { modelFolderName } from '../../../src/results/runFolder';
import { candidateResult } from '../evaluation/examples';

const own = 'tests/test_cat.py::test_purr';

const entry = (instanceId = 'octo__cat-1', model = 'some/model'): BatchEntry => ({
  prediction: { instanceId, model, patch: 'the patch as handed in' },
  result: candidateResult({ instance: instanceId, model }),
});

const failed = (instanceId: string, model = 'some/model'): BatchEntry => ({
  prediction: { instanceId, model, patch: 'p' },
  failure: 'no such commit',
});

const unresolved = (instanceId: string, model = 'some/model'): BatchEntry => ({
  prediction: { instanceId, model, patch: 'p' },
  result: candidateResult({
    instance: instanceId,
    model,
    strict: ungraded('does not apply', 'hunk 1', false),
    harness: harnessUnapplied(true),
  }),
});

const parsed = (value: unknown): Record<string, unknown> =>
  JSON.parse(JSON.stringify(value)) as Record<string, unknown>;

/** The keys in the order of the reference harness's own report. */
const harnessKeys = [
  'patch_is_None',
  'patch_exists',
  'patch_successfully_applied',
  'resolved',
  'coverage_pred',
  'coverage_gold',
  'coverage_base',
  'coverage_delta_pred',
  'coverage_delta_gold',
  'added_f2p',
  'tests_base',
  'tests_pred',
  'tests_gold',
];

describe('the report of one instance', () => {
  const report = parsed(toReport(entry()));

  it('has the keys of the harness at the top, with values of the same kind', () => {
    for (const key of harnessKeys) assert.ok(key in report, key);
    for (const key of harnessKeys.slice(0, 4)) assert.equal(typeof report[key], 'boolean', key);
    for (const key of harnessKeys.slice(4, 9)) assert.ok(report[key] === null, key);
    assert.equal(report['added_f2p'], 1);
    for (const key of harnessKeys.slice(10)) {
      assert.deepEqual(Object.keys(report[key] as object), [
        'FAIL_TO_PASS',
        'PASS_TO_PASS',
        'FAIL_TO_FAIL',
        'PASS_TO_FAIL',
        'UNMATCHED',
      ]);
    }
    assert.deepEqual(report['tests_pred'], {
      FAIL_TO_PASS: [own],
      PASS_TO_PASS: [],
      FAIL_TO_FAIL: [],
      PASS_TO_FAIL: [],
      UNMATCHED: [],
    });
  });

  it('has the strict grade in a block of its own', () => {
    const strict = report['strict'] as Record<string, unknown>;
    assert.equal(strict['success'], true);
    assert.equal(strict['reason'], 'success');
    assert.equal(strict['well_formed'], true);
    assert.deepEqual(strict['FAIL_TO_PASS'], [own]);
    assert.deepEqual(strict['candidate_tests'], [own]);
    assert.deepEqual((strict['tests'] as unknown[])[0], {
      test: own,
      transition: 'F→P',
      base: { outcome: 'failed', exception: 'AssertionError', message: '1 != 2' },
      fixed: { outcome: 'passed', seconds: 0.5 },
    });
    const coverage = strict['change_coverage'] as Record<string, unknown>;
    assert.deepEqual([coverage['covered'], coverage['executable'], coverage['delta']], [1, 2, 0.5]);
    assert.deepEqual(coverage['states'], {
      'newly covered': 1,
      'already covered': 0,
      missed: 1,
      'not executable': 1,
    });
    assert.deepEqual((coverage['lines'] as unknown[])[1], {
      path: 'cat.py',
      line: 2,
      change: 'added',
      state: 'newly covered',
      counts: { base: 0, candidate: 3, golden: 3 },
      covered_by: [own],
    });
  });

  it('says where the tree came from, and leaves the output to a file of its own', () => {
    assert.deepEqual(report['source'], { kind: 'snapshot', from: '/cat-1.0' });
    assert.deepEqual(report['notes'], ['edits outside tests: setup.py']);
    assert.equal(report['gradings_differ'], null);
    const runs = report['runs'] as Record<string, Record<string, unknown>>;
    assert.equal(runs['base']?.['exit_code'], 1);
    assert.equal('log' in (runs['base'] ?? {}), false);
  });

  it('of an instance that could not be evaluated: the same keys, and why', () => {
    const of = parsed(toReport(failed('octo__cat-2')));
    for (const key of harnessKeys.slice(0, 9)) assert.ok(key in of, key);
    assert.equal(of['error'], 'no such commit');
    assert.equal(of['resolved'], false);
    assert.equal(of['strict'], null);
    assert.equal(of['patch_exists'], true);
  });

  it('writes null, never nothing, for what is not known', () => {
    const of = parsed(
      toReport({
        prediction: { instanceId: 'i', model: 'm', patch: '' },
        result: candidateResult({
          changeCoverage: undefined,
          goldenCoverage: undefined,
          runs: {},
        }),
      }),
    );
    const strict = of['strict'] as Record<string, unknown>;
    assert.equal(strict['change_coverage'], null);
    assert.equal(strict['golden_change_coverage'], null);
    assert.deepEqual(of['runs'], { base: null, fixed: null });
  });
});

describe('reports on disk', () => {
  let out = '';
  beforeEach(async () => (out = await mkdtemp(join(tmpdir(), 'report-test-'))));
  afterEach(() => rm(out, { recursive: true, force: true }));
  const read = async (...path: string[]): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(join(out, ...path), 'utf8')) as Record<string, unknown>;

  it('lie where the harness puts them', async () => {
    await writeReport(out, 'run/1', entry());
    const logs = join('run_instance_swt_logs', 'run__1');
    const folder = join(logs, 'some__model', 'octo__cat-1');
    const report = await read(folder, 'report.json');
    assert.deepEqual(Object.keys(report), ['octo__cat-1']);
    assert.deepEqual(report['octo__cat-1'], parsed(toReport(entry())));
    assert.equal(
      await readFile(join(out, folder, 'model_patch.diff'), 'utf8'),
      'the patch as handed in',
    );
    const log = (side: string): Promise<string> =>
      readFile(join(out, logs, `${side}some__model`, 'octo__cat-1', 'test_output.txt'), 'utf8');
    assert.equal(await log('pred_pre__'), `FAILED ${own}`);
    assert.equal(await log('pred_post__'), 'PASSED');
  });

  it('a summary for each model has exactly the keys of the harness, and ours', async () => {
    const written = await writeSummaries(out, 'run', [
      ...[entry('b'), unresolved('c'), entry('a'), failed('d')].map(entryOf),
      entryOf(failed('x', 'other')),
    ]);
    assert.deepEqual(
      written.map((path) => path.slice(out.length + 1)),
      [
        join('evaluation_results', 'some__model.run.json'),
        join('evaluation_results', 'other.run.json'),
      ],
    );
    const { strict, ...summary } = await read('evaluation_results', 'some__model.run.json');
    assert.deepEqual(summary, {
      total_instances: 4,
      completed_instances: 3,
      resolved_instances: 2,
      unresolved_instances: 1,
      error_instances: 1,
      unstopped_instances: 0,
      'Mean coverage': 0,
      'Mean coverage delta': 0,
      completed_ids: ['a', 'b', 'c'],
      resolved_ids: ['a', 'b'],
      unresolved_ids: ['c'],
      error_ids: ['d'],
      unstopped_containers: [],
      unremoved_images: [],
    });
    assert.equal((strict as { selected: number }).selected, 4);
  });

  it('means are of the instances whose coverage is known', async () => {
    const covering = (instanceId: string, share: number | null): BatchEntry => {
      const result = candidateResult({ instance: instanceId });
      const harness = { ...result.harness, coverage_pred: share, coverage_delta_pred: share };
      return {
        prediction: { instanceId, model: 'm', patch: 'p' },
        result: { ...result, harness },
      };
    };
    const entries = [covering('a', 1), covering('b', 0.5), covering('c', null)];
    await writeSummaries(out, 'r', entries.map(entryOf));
    const summary = await read('evaluation_results', 'm.r.json');
    assert.equal(summary['Mean coverage'], 0.75);
    assert.equal(summary['Mean coverage delta'], 0.75);
  });

  it('leave nothing half-written beside them, and can be written twice', async () => {
    for (let time = 0; time < 2; time++) {
      await writeReport(out, 'r', entry());
      await writeSummaries(out, 'r', [entryOf(entry())]);
    }
    const names = await readdir(out, { recursive: true, withFileTypes: true });
    assert.deepEqual(
      names
        .filter((name) => name.isFile())
        .map((name) => name.name)
        .sort(),
      [
        'model_patch.diff',
        'report.json',
        'some__model.r.json',
        'test_output.txt',
        'test_output.txt',
      ],
    );
  });

  it('of a model with an impossible name', async () => {
    for (const model of ['../../x', '/', '..', '', `${'long/'.repeat(200)}`, 'a\0b\n']) {
      await writeReport(out, model, entry('octo__cat-1', model));
      const [path = ''] = await writeSummaries(out, model, [entryOf(entry('octo__cat-1', model))]);
      assert.equal(dirname(path), join(out, 'evaluation_results'));
    }
  });
});

const anyCharacter = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code));

describe('names of folders', () => {
  it('are those of the harness for usual models', () => {
    assert.equal(modelFolderName('some/model'), 'some__model');
    assert.equal(modelFolderName('gpt-4.1_x+y@1=2, z'), 'gpt-4.1_x+y@1=2, z');
    assert.equal(modelFolderName('model'), 'model');
    assert.equal(modelFolderName(''), 'unnamed');
    assert.match(modelFolderName('modèle ∘ 模'), /^modèle _ 模-[0-9a-f]{12}$/);
  });

  it('tell apart names that differ in signs only', () => {
    assert.notEqual(modelFolderName('a:b'), modelFolderName('a?b'));
  });

  it('tell long names apart', () => {
    const long = 'checkpoints/'.repeat(30);
    assert.notEqual(modelFolderName(`${long}a`), modelFolderName(`${long}b`));
    assert.equal(modelFolderName(`${long}a`), modelFolderName(`${long}a`));
  });

  it('never leave their folder, and fit into a file system', () => {
    const part = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 120 }),
      fc.constantFrom('..', '.', '/', '\\', '~', 'C:', '\0', '模', '👩‍🔬', '\ud800'),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
        (model) => {
          const name = modelFolderName(model);
          assert.equal(dirname(resolve('/logs', name)), '/logs');
          assert.notEqual(name, '');
          assert.doesNotMatch(name, /^\.|[/\\:\0]/);
          assert.ok(Buffer.byteLength(name) <= 100);
          assert.equal(Buffer.from(name).toString(), name, 'no half characters');
        },
      ),
    );
  });
});

describe('rates of entries', () => {
  it('count selected instances without a prediction as not evaluated', () => {
    const rates = ratesOf([entryOf(entry('a'))], ['a', 'd']);
    assert.deepEqual(rates.success, { count: 1, of: 2 });
    assert.deepEqual(rates.notEvaluated, [{ instance: 'd', reason: 'no prediction' }]);
  });

  it('count what could not be evaluated among all', () => {
    const rates = ratesOf([entry('a'), unresolved('b'), failed('c')].map(entryOf));
    assert.deepEqual(rates.success, { count: 1, of: 3 });
    assert.deepEqual(rates.wellFormed, { count: 1, of: 3 });
    assert.deepEqual(rates.notEvaluated, [{ instance: 'c', reason: 'no such commit' }]);
    assert.equal(rates.deltaAll.of, 2);
  });
});
