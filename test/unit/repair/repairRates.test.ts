import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JudgedRepair, RepairRun } from '../../../src/study/resolution/judgedRepair';
import { repairRates, repairResultsOf } from '../../../src/study/resolution/repairRates';
import { studyReport, reportCsv, reportMarkdown, reportText } from '../../../src/study/reportText';
import { readJudgedRuns } from '../../../src/results/judged/readJudgedRuns';
import { readRuns } from '../../../src/results/readRuns';
import { studyDocument } from '../../../src/study/document/studyDocument';

const facts = (id: string) => ({ id, repo: 'a/b', created: '', issueLength: 1 });
const judged = (
  instance: string,
  model: string,
  status: JudgedRepair['status'],
  more: Partial<JudgedRepair> = {},
): JudgedRepair => ({
  ...{ instance, model, sample: 1, status, seconds: 0 },
  strict: { resolved: status === 'resolved', reason: 'resolved', explanation: '' },
  ...more,
});
const edits = (file: boolean, inside: boolean, line: boolean) => ({
  location: { file, function: inside, line },
});

const run: RepairRun = {
  label: 'run',
  instances: ['i1', 'i2', 'i3', 'i4'].map(facts),
  judged: [
    judged('i1', 'a/x', 'resolved', {
      ...edits(true, true, true),
      madeBy: { method: 'a', model: 'x' },
      cost: { dollars: 1, inputTokens: 100, outputTokens: 10 },
    }),
    judged('i2', 'a/x', 'unresolved', {
      ...edits(true, false, false),
      difference: 'so',
      strict: { resolved: true, reason: 'resolved', explanation: '' },
      cost: { dollars: 0.5 },
    }),
    judged('i3', 'a/x', 'error', { hindrance: 'environment failed' }),
    // Not selected any more.
    judged('i9', 'a/x', 'resolved', edits(true, true, true)),
    judged('i1', 'b', 'empty patch'),
    judged('i1', 'b', 'resolved', { sample: 2, ...edits(true, true, false) }),
    judged('i2', 'b', 'error', { failure: 'no' }),
    judged('i2', 'b', 'error', { failure: 'no', sample: 2 }),
  ],
};

describe('rates of code patches', () => {
  it('are shares of the selected instances, by the first sample, with a row for the best', () => {
    const rows = repairRates([run]);
    assert.deepEqual(
      rows.map(({ name, oracle, samples, selected, tried, resolved, strictlyResolved }) => [
        ...[name, oracle, samples, selected],
        ...[tried.join(), resolved.join(), strictlyResolved.join()],
      ]),
      [
        ['a/x', false, 1, 4, 'i1,i2', 'i1', 'i1,i2'],
        ['b', false, 1, 4, 'i1,i2', '', ''],
        ['b, best of 2 (oracle)', true, 2, 4, 'i1,i2', 'i1', 'i1'],
      ],
    );
    const [first, second, best] = rows;
    assert.deepEqual(first?.correctLocation, { file: 2, function: 1, line: 1 });
    assert.deepEqual(first.dollars, { sum: 1.5, known: 2, mean: 0.75 });
    assert.deepEqual(first.inputTokens, { sum: 100, known: 1, mean: 100 });
    assert.deepEqual([first.differing, first.errors], [1, 1]);
    assert.deepEqual([second?.emptyPatches, second?.errors, second?.dollars], [1, 1, undefined]);
    assert.deepEqual([best?.emptyPatches, best?.errors], [0, 1]);
    assert.deepEqual(best?.correctLocation, { file: 1, function: 1, line: 0 });
  });

  it('are marked where patches were made with the answer', () => {
    const marked = {
      ...run,
      judged: run.judged.map((each) => ({ ...each, oracle: true as const })),
    };
    assert.deepEqual(
      repairRates([marked]).map(({ name, oracle }) => [name, oracle]),
      [
        ['a/x (oracle)', true],
        ['b (oracle)', true],
        ['b, best of 2 (oracle)', true],
      ],
    );
    assert.equal(repairResultsOf([marked]).length, 2);
  });

  it('name the run of a model that several runs have, and give the instances for table 6', () => {
    const again = { ...run, label: 'again', judged: run.judged.slice(0, 1) };
    assert.deepEqual(repairResultsOf([run, again]), [
      { name: 'a/x [run]', resolved: ['i1'], attempted: ['i1', 'i2'] },
      { name: 'b', resolved: [], attempted: ['i1', 'i2'] },
      { name: 'a/x [again]', resolved: ['i1'], attempted: ['i1'] },
    ]);
  });

  it('stand in the report in every format', () => {
    const report = studyReport(studyDocument({ runs: [], repairRuns: [run] }));
    const text = reportText(report);
    assert.match(
      text,
      /^Code repair in % of all selected instances \(Agentless paper, Table 1\)$/m,
    );
    assert.match(
      text,
      /^a +x +4 +25\.0 \(1\) +50\.0 \(2\) +0\.75 +100 +10 +25\.0 +25\.0 +50\.0 +0 +1$/m,
    );
    assert.match(text, /^- a\/x: 2 of 4 instances have patches with a known cost\.$/m);
    assert.match(reportMarkdown(report), /^\| a \| x \| 4 \| 25\.0 \(1\) \|/m);
    const [head = '', row = ''] = reportCsv(report).split('\r\n');
    const cells = new Map(head.split(',').map((name, at) => [name, row.split(',')[at]]));
    assert.deepEqual(
      ['method', 'selected', 'repair_resolved', 'repair_correct_file', 'repair_dollars_mean'].map(
        (name) => cells.get(name),
      ),
      ['a/x', '4', '0.25', '0.5', '0.75'],
    );
  });
});

describe('reading runs over code patches', () => {
  let folder = '';
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'judged-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  it('takes results folders and single runs, and names what is damaged', async () => {
    const place = join(folder, 'resolutions', 'r');
    await mkdir(place, { recursive: true });
    const manifest = {
      ...{ version: 1, run: 'r', created: '2026-01-01T00:00:00Z', product: '0', dataset: 'd' },
      ...{ mode: 'unit-test', format: 'auto', testsOnly: false, timeoutSeconds: 1, engine: 'e' },
      ...{ instances: run.instances, models: ['m'], predictions: [], candidates: 2 },
      ...{ same: {}, digest: '' },
    };
    await writeFile(join(place, 'run.json'), JSON.stringify(manifest));
    const line = { ...judged('i1', 'm', 'resolved'), key: 'k', finished: 'now' };
    await writeFile(join(place, 'entries.jsonl'), `${JSON.stringify(line)}\n{"a":1}\n{"instance"`);
    for (const dir of [folder, place, join(folder, 'resolutions')]) {
      const { runs, problems } = await readJudgedRuns([dir, folder]);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /line 2 is not an entry of a run/);
      assert.deepEqual(
        runs.map(({ label, unfinished, judged: all }) => [label, unfinished, all]),
        [['r', true, [judged('i1', 'm', 'resolved')]]],
      );
      assert.deepEqual(await readRuns([dir]), { runs: [], problems: [] });
    }
    await writeFile(join(place, 'run.json'), '{');
    const { runs, problems } = await readJudgedRuns([folder]);
    assert.deepEqual([runs.length, problems.length], [0, 1]);
    assert.match(problems[0] ?? '', /run\.json is damaged/);
  });
});
