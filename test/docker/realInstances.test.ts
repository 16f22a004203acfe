import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cli, root, type Evaluation } from '../commandLine/cli';
import { sourceRelease } from '../environments';
import { baseImage, needDocker, removeImagesOf } from './dockerForTests';

const data =
  process.env['SWT_BENCH_DATA'] ??
  resolve(root, '..', 'shared', 'data', 'swe-bench-lite.dev.jsonl');

interface Case {
  readonly id: string;
  readonly release: readonly [string, string];
  /** Tests of the row's PASS_TO_PASS that do not pass on both sides of this release. */
  readonly lacking?: readonly string[];
  /** Tests that pass on both sides of this release and are not in the row's PASS_TO_PASS. */
  readonly beside?: readonly string[];
}

/** SymPy's lists hold bare function names. */
const bare = (test: string): string =>
  test.startsWith('sympy/') ? (test.split('::').at(-1) ?? test) : test;

/** Django's lists hold the first line of the description of a test that has one, not its name. */
const isDescribed = (test: string): boolean => test.includes(' ') && !/^\w+ \([\w.]+\)$/.test(test);

/**
 * Instances whose golden patch applies to a source release, which has its tests. All of them take a
 * quarter of an hour: `SWT_BENCH_ALL_INSTANCES=1`; else one of each Python.
 */
const all: readonly Case[] = [
  { id: 'django__django-15814', release: ['django', '4.1'] },
  { id: 'django__django-15819', release: ['django', '4.1'] },
  { id: 'django__django-16229', release: ['django', '4.1'] },
  { id: 'django__django-16400', release: ['django', '4.1'] },
  { id: 'django__django-17087', release: ['django', '4.2'] },
  { id: 'pallets__flask-4992', release: ['flask', '2.2.5'] },
  {
    id: 'sympy__sympy-24152',
    release: ['sympy', '1.11.1'],
    // The last test of a file has `[OK]` on its line, by which the lists were made without it.
    beside: ['test_eval_trace'],
  },
  { id: 'sympy__sympy-24066', release: ['sympy', '1.11.1'] },
  { id: 'sympy__sympy-24102', release: ['sympy', '1.11.1'] },
];

const few = new Set(['pallets__flask-4992', 'sympy__sympy-24152']);
const cases =
  (process.env['SWT_BENCH_ALL_INSTANCES'] ?? '') === '' ? all.filter(({ id }) => few.has(id)) : all;

interface Row {
  readonly instance_id: string;
  readonly FAIL_TO_PASS: string;
  readonly PASS_TO_PASS: string;
}

describe('real instances from source releases, in containers', function () {
  this.timeout(900_000);
  let storage = '';
  let rows: readonly Row[] = [];
  before(async function () {
    await needDocker(this, ['3.9', '3.11']);
    if (!existsSync(data)) {
      this.test?.parent?.eachTest((test) => {
        (test as Mocha.Test & { skipReason?: string }).skipReason =
          `${test.fullTitle()}: no dataset at ${data} (set SWT_BENCH_DATA)`;
      });
      return this.skip();
    }
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-real-'));
    rows = (await readFile(data, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  });
  after(async () => {
    for (const { id } of cases) if (storage !== '') await removeImagesOf(id);
    if (storage !== '') await rm(storage, { recursive: true, force: true });
  });

  for (const { id, release, lacking = [], beside = [] } of cases) {
    it(`${id}: gold is resolved, with the tests of the row's lists`, async function () {
      const archive = await sourceRelease(this, ...release);
      const answer = await cli([
        ...['evaluate', '--json', '--engine', 'docker', '--base-image', baseImage],
        ...['--prebuilt', '', '--dataset', data, '--ids', id, '--predictions', 'gold'],
        ...['--source', archive, '--storage', storage],
      ]);
      assert.equal(answer.status, 0, answer.stderr);
      const result = (JSON.parse(answer.stdout) as Evaluation).results[0];
      assert.ok(result?.strict, result?.error);
      assert.equal(result.strict.success, true, result.strict.explanation);
      assert.equal(result.resolved, true);
      const row = rows.find((each) => each.instance_id === id);
      assert.ok(row);
      const listed = (text: string): string[] => (JSON.parse(text) as string[]).sort();
      const found = (name: string): string[] => [...(result.tests_pred?.[name] ?? [])].sort();
      assert.deepEqual(found('FAIL_TO_PASS').map(bare), listed(row.FAIL_TO_PASS), 'FAIL_TO_PASS');
      const passing = found('PASS_TO_PASS').map(bare);
      const wanted = listed(row.PASS_TO_PASS).map(bare);
      const named = wanted.filter((test) => !isDescribed(test));
      const others = passing.filter((test) => !named.includes(test));
      const described = wanted.length - named.length;
      assert.deepEqual(
        {
          lacking: named.filter((test) => !passing.includes(test)),
          // As many of them as the row has under their descriptions.
          beside: others.length === described ? [] : others,
        },
        { lacking, beside },
        'PASS_TO_PASS',
      );
    });
  }
});
