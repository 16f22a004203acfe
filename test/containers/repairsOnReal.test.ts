import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { judgedRepairsSchema } from '../../src/repair/judging/judgedRepairsSchema';
import { cli, root } from '../commandLine/cli';
import { sourceRelease } from '../environments';
import { baseImage, needDocker, removeImagesOf } from './dockerForTests';

const data =
  process.env['SWT_BENCH_DATA'] ??
  resolve(root, '..', 'shared', 'data', 'swe-bench-lite.dev.jsonl');

interface Case {
  readonly id: string;
  readonly release: readonly [string, string];
}

/** Instances whose listed tests are all in a source release, with the log parsers of SWE-bench. */
const cases: readonly Case[] = [
  { id: 'pallets__flask-4992', release: ['flask', '2.2.5'] },
  { id: 'django__django-15814', release: ['django', '4.1a1'] },
  { id: 'sympy__sympy-24152', release: ['sympy', '1.11.1'] },
];

describe('judging code patches of real instances, in containers @full', () => {
  let storage = '';
  before(async function () {
    await needDocker(this, ['3.9', '3.11']);
    if (!existsSync(data)) {
      this.test?.parent?.eachTest((test) => {
        (test as Mocha.Test & { skipReason?: string }).skipReason =
          `${test.fullTitle()}: no dataset at ${data} (set SWT_BENCH_DATA)`;
      });
      return this.skip();
    }
    storage = await mkdtemp(join(tmpdir(), 'swt-repairs-real-'));
  });
  after(async () => {
    if (storage === '') return;
    for (const { id } of cases) await removeImagesOf(id);
    await rm(storage, { recursive: true, force: true });
  });

  for (const { id, release } of cases) {
    it(`resolves ${id} by X*, and not by nothing`, async function () {
      const archive = await sourceRelease(this, ...release);
      const out = join(storage, `out-${id}`);
      const { status, stdout, stderr } = await cli([
        ...['evaluate', '--kind', 'repair', '--json', '--predictions', 'gold', 'none'],
        ...['--dataset', data, '--ids', id, '--source', archive, '--storage', storage],
        ...['--engine', 'docker', '--base-image', baseImage, '--prebuilt', '', '--out', out],
      ]);
      assert.equal(status, 0, stderr);
      const { results } = judgedRepairsSchema.parse(JSON.parse(stdout));
      const [gold, none] = results;
      assert.equal(none?.status, 'empty patch');
      const log = join(out, 'logs', 'run_evaluation', 'run', 'gold', id, 'test_output.txt');
      const text = await readFile(log, 'utf8');
      const why = JSON.stringify(gold, null, 2);
      assert.equal(gold?.resolution, 'RESOLVED_FULL', `${why}\n${text.slice(-3000)}`);
      assert.equal(gold.lists, 'dataset');
      assert.equal(gold.notes, undefined, why);
      assert.equal(gold.strict?.resolved, true, why);
      assert.deepEqual(gold.location, { file: true, function: true, line: true });
    });
  }
});
