import { studyReportSchema } from '../../src/study/studyReportSchema';
import { judgedRepairsSchema } from '../../src/repair/judgedRepairsSchema';
import { sharedStorage } from '../sharedStorage';
import { cli, sample, scratch } from './cli';
import { strayPatch } from './strayPatch';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Row {
  readonly instance_id: string;
  readonly patch: string;
  readonly test_patch: string;
}

describe('swt-bench evaluate --kind repair', function () {
  const here = scratch();
  let row: Row;
  before(async () => {
    row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Row;
  });
  const line = (model: string, patch: string, more: object = {}): string =>
    JSON.stringify({
      instance_id: row.instance_id,
      model_name_or_path: model,
      model_patch: patch,
      ...more,
    });
  const command = (predictions: readonly string[], ...more: string[]): string[] => [
    ...['evaluate', '--kind', 'repair', '--dataset', 'bundled', '--predictions', ...predictions],
    ...['--storage', sharedStorage(), ...more],
  ];

  it('resolves by the golden patch, and by none that is wrong, and resumes', async () => {
    const file = await here.file(
      'patches.jsonl',
      [
        line('right', row.patch + row.test_patch, { dollars: 0.5, input_tokens: 10 }),
        line('wrong', strayPatch),
        line('wrong', row.patch, { sample: 2 }),
        line('empty', ''),
        line('unfit', row.patch.replace(/^-( .+)$/m, '-$1 not so')),
        line('tests', row.test_patch),
      ].join('\n'),
    );
    const out = join(here.path, 'out');
    const asked = command([file, 'gold', 'none'], '--json', '--out', out, '--run-id', 'judged');
    const { status, stdout, stderr } = await cli(asked);
    assert.equal(status, 0, stderr);
    const document = judgedRepairsSchema.strict().parse(JSON.parse(stdout));
    assert.deepEqual(
      document.results.map(({ model, sample: number, status: judged, resolution, strict }) => [
        `${model} ${number}`,
        judged,
        resolution,
        strict?.reason,
      ]),
      [
        ['right 1', 'resolved', 'RESOLVED_FULL', 'resolved'],
        ['wrong 1', 'unresolved', 'RESOLVED_NO', 'still fails'],
        ['wrong 2', 'resolved', 'RESOLVED_FULL', 'resolved'],
        ['empty 1', 'empty patch', undefined, 'empty patch'],
        ['unfit 1', 'error', undefined, 'does not apply'],
        ['tests 1', 'unresolved', 'RESOLVED_NO', 'edits only tests'],
        ['gold 1', 'resolved', 'RESOLVED_FULL', 'resolved'],
        ['none 1', 'empty patch', undefined, 'empty patch'],
      ],
    );
    const [right, wrong] = document.results;
    assert.deepEqual(right?.tests, {
      FAIL_TO_PASS: { success: 5, failure: 0 },
      PASS_TO_PASS: { success: 18, failure: 0 },
    });
    assert.deepEqual(right.location, { file: true, function: true, line: true });
    assert.deepEqual(wrong?.location, { file: false, function: false, line: false });
    assert.deepEqual(
      document.rates.map(({ name, resolved, dollars }) => [name, resolved.length, dollars?.sum]),
      [
        ['right', 1, 0.5],
        ['wrong', 0, undefined],
        ['wrong, best of 2 (oracle)', 1, undefined],
        ['empty', 0, undefined],
        ['unfit', 0, undefined],
        ['tests', 0, undefined],
        ['gold', 1, undefined],
        ['none', 0, undefined],
      ],
    );

    // The layout of SWE-bench.
    const text = (path: string): Promise<string> => readFile(join(out, path), 'utf8');
    const logs = join('logs', 'run_evaluation', 'judged');
    const report = JSON.parse(
      await text(join(logs, 'right', row.instance_id, 'report.json')),
    ) as Record<
      string,
      { resolved: boolean; tests_status: { FAIL_TO_PASS: { success: string[] } } }
    >;
    assert.equal(report[row.instance_id]?.resolved, true);
    assert.equal(report[row.instance_id]?.tests_status.FAIL_TO_PASS.success.length, 5);
    await assert.rejects(text(join(logs, 'unfit', row.instance_id, 'report.json')), /ENOENT/);
    assert.match(
      await text(join(logs, 'unfit', row.instance_id, 'run_instance.log')),
      /^>>>>> Patch Apply Failed: /,
    );
    const summary = JSON.parse(await text('unfit.judged.json')) as Record<string, unknown>;
    assert.deepEqual(
      [summary['error_ids'], summary['completed_instances'], summary['schema_version']],
      [[row.instance_id], 0, 2],
    );
    assert.equal(await text(join('resolutions', 'judged', 'result.json')), stdout);

    const again = judgedRepairsSchema.parse(JSON.parse((await cli(asked)).stdout));
    assert.deepEqual([again.reused, again.results], [8, document.results]);

    // Beside tests of the same instance: the overlap of both.
    const tests = await cli([
      ...['evaluate', '--dataset', 'bundled', '--predictions', 'gold', '--out', out],
      ...['--storage', sharedStorage()],
    ]);
    assert.equal(tests.status, 0, tests.stderr);
    const reported = await cli(['report', out, '--format', 'json']);
    assert.equal(reported.status, 0, reported.stderr);
    const study = studyReportSchema.strict().parse(JSON.parse(reported.stdout));
    assert.deepEqual(study.repairRates, document.rates);
    const overlap = new Map(study.repairs.map((each) => [each.repairs, each]));
    assert.deepEqual(
      ['gold', 'wrong'].map((name) => {
        const { tests: successful, fixes, overlap: both } = overlap.get(name) ?? {};
        return [successful, fixes, both];
      }),
      [
        [1, 1, [row.instance_id]],
        [1, 0, []],
      ],
    );
    const alone = await cli(['report', join(out, 'resolutions', 'judged')]);
    assert.equal(alone.status, 0, alone.stderr);
    assert.match(alone.stdout, /^gold +– +1 +100\.0 \(1\)/m);
  });

  it('takes the lists from the golden runs where a row has none, and says so @full', async () => {
    const { FAIL_TO_PASS: _, PASS_TO_PASS: __, ...rest } = row as Row & Record<string, unknown>;
    const dataset = await here.file('unlisted.jsonl', JSON.stringify(rest));
    const { status, stdout, stderr } = await cli([
      ...['evaluate', '--kind', 'repair', '--dataset', dataset, '--predictions', 'gold'],
      ...['--source', join(sample, 'repository'), '--storage', sharedStorage()],
    ]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /✓ resolved +5\/5 +18\/18 +resolved +lines/);
    assert.match(stdout, /the row lists no tests; .* come from the golden runs/);
  });

  it('refuses options that are about tests', async () => {
    for (const more of [['--tests-only'], ['--mode', 'reproduction-script']]) {
      const { status, stderr } = await cli(command(['gold'], ...more));
      assert.equal(status, 2);
      assert.match(stderr, /applies to tests, not to code patches/);
    }
    const { status, stderr } = await cli(command(['bundled']));
    assert.deepEqual([status, /--predictions bundled applies to tests/.test(stderr)], [2, true]);
  });
});
