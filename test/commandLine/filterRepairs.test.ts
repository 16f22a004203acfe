import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filteredRepairsSchema } from '../../src/repair/filteredRepairsSchema';
import { cli, sample, scratch } from './cli';
import { strayPatch } from './strayPatch';

describe('swt-bench filter-repairs @full', function () {
  const here = scratch();

  it('keeps the patch on which the tests that fail on R pass, and no other', async () => {
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Record<
      'instance_id' | 'patch' | 'test_patch',
      string
    >;
    const line = (name: string, patch: string): string =>
      JSON.stringify({
        instance_id: row.instance_id,
        model_name_or_path: name,
        model_patch: patch,
      });
    const tests = await here.file('tests.jsonl', line('tests', row.test_patch));
    const code = await here.file(
      'code.jsonl',
      [
        line('right', row.patch + row.test_patch),
        line('wrong', strayPatch),
        line('empty', ''),
      ].join('\n'),
    );
    const command = [
      ...['filter-repairs', '--dataset', 'bundled', '--storage', join(here.path, 'storage')],
      ...['--predictions', tests, '--repairs', code, '--json'],
      ...['--workers', '2', '--out', join(here.path, 'out'), '--run-id', 'filtered'],
    ];
    const { status, stdout } = await cli(command);
    const { repairs, quality } = filteredRepairsSchema.strict().parse(JSON.parse(stdout));
    assert.deepEqual(
      repairs.map(({ name, reason }) => [name, reason]),
      [
        ['right', 'kept'],
        ['wrong', 'a test still fails'],
        ['empty', 'tests could not run on the patch'],
      ],
    );
    assert.deepEqual([quality.precision, quality.recall], [1, 1]);
    assert.equal(status, 1, 'the tests could not run on one');
    const kept = join(here.path, 'out', 'repairs', 'filtered', 'result.json');
    assert.equal(await readFile(kept, 'utf8'), stdout);
    const again = filteredRepairsSchema.parse(JSON.parse((await cli(command)).stdout));
    assert.deepEqual([again.reused, again.repairs], [3, repairs]);
  });
});
