import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { changeCoverageOf } from '../../../src/domain/changeCoverage';
import { harnessUnapplied } from '../../../src/domain/harness';
import { type Verdict, ungraded } from '../../../src/domain/verdict';
import { type BatchEntry, entryOf } from '../../../src/results/entry';
import { writeReport } from '../../../src/results/report';
import { candidateResult } from '../evaluation/examples';
import { studyReport, reportCsv, reportMarkdown, reportText } from '../../../src/study/reportText';
import type { RunData } from '../../../src/study/entry';
import { methodsOf } from '../../../src/study/measures/methods';
import { summariseMethod } from '../../../src/study/measures/summary';
import { HumanError } from '../../../src/domain/work';
import { readRuns } from '../../../src/results/readRuns';
import { reportCommand, type ReportOptions } from '../../../src/commands/report';
import { readRepairResults } from '../../../src/study/repairResults';
import { studyDocument, studyRequest } from '../../../src/study/document/studyDocument';
import { studyReportSchema } from '../../../src/study/studyReportSchema';
import { publishedRows } from '../../../src/study/measures/published';
import { assertPublished } from './publishedSchema';
import { simulatedRuns, writeHarnessRun, writeSimulatedRun } from '../../bench/manyRuns';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swt-bench-runs-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A small run, written as `evaluate --out` does. */
async function written(out: string, label = 'run-1', instances = 12): Promise<RunData> {
  const [run] = simulatedRuns(instances, 1);
  assert.ok(run);
  const named = { ...run, label };
  await writeSimulatedRun(out, named);
  return named;
}

const journalOf = (out: string, run = 'run-1'): string => join(out, 'runs', run, 'entries.jsonl');

describe('reading saved runs', () => {
  it('finds them in a results folder, its `runs`, and the folder of one run', async () => {
    const run = await written(folder);
    for (const dir of [folder, join(folder, 'runs'), join(folder, 'runs', 'run-1')]) {
      const { runs, problems } = await readRuns([dir]);
      assert.deepEqual(problems, []);
      const [read] = runs;
      assert.equal(read?.label, 'run-1');
      assert.equal(read?.folder, folder);
      assert.deepEqual(read?.instances, run.instances);
      assert.equal(read?.entries.length, run.entries.length);
      assert.equal(read?.unfinished, undefined);
      for (const [index, { report, ...entry }] of (read?.entries ?? []).entries()) {
        assert.deepEqual(entry, run.entries[index]);
        assert.match(report ?? '', /^run_instance_swt_logs\/run-1\/.*\/report\.json$/);
      }
    }
    assert.equal((await readRuns([folder, join(folder, 'runs', 'run-1')])).runs.length, 1);
  });

  it('goes on after damaged, torn and foreign files, and names them', async () => {
    const run = await written(folder);
    await written(folder, 'damaged');
    await writeFile(join(folder, 'runs', 'damaged', 'run.json'), '{"version": 1,');
    await written(folder, 'newer');
    await writeFile(join(folder, 'runs', 'newer', 'run.json'), '{"version": 99}');
    await mkdir(join(folder, 'runs', 'lost'));
    await writeFile(join(folder, 'runs', 'lost', 'entries.jsonl'), '');
    const lines = (await readFile(journalOf(folder), 'utf8')).trimEnd().split('\n');
    lines[3] = '{"instance": 3}';
    lines[5] = 'not JSON';
    await writeFile(
      journalOf(folder),
      `${lines.slice(0, -1).join('\n')}\n${lines.at(-1)?.slice(0, 40)}`,
    );
    const { runs, problems } = await readRuns([folder, join(folder, 'nowhere')]);
    assert.deepEqual(
      runs.map(({ label }) => label),
      ['run-1'],
    );
    assert.equal(runs[0]?.entries.length, run.entries.length - 3);
    assert.equal(runs[0]?.unfinished, true);
    for (const part of ['line 4', 'line 6', 'damaged', 'newer', 'lost', 'nowhere']) {
      assert.equal(problems.filter((problem) => problem.includes(part)).length, 1, part);
    }
  });

  it('tells runs of one name apart', async () => {
    await written(join(folder, 'one'));
    await written(join(folder, 'two'));
    const { runs } = await readRuns([join(folder, 'one'), join(folder, 'two')]);
    assert.deepEqual(
      runs.map(({ label }) => label),
      ['one/run-1', 'two/run-1'],
    );
  });

  it('reads folders of the reference harness alone, marked as harness grading', async () => {
    const [run] = simulatedRuns(30, 1);
    assert.ok(run);
    await writeHarnessRun(folder, run);
    // Logs beside the reports, a folder of an interrupted run, and a foreign report.
    const logs = join(folder, 'run_instance_swt_logs', 'run-1');
    await mkdir(join(logs, 'pred_pre__method-1', 'x__x-1'), { recursive: true });
    await mkdir(join(logs, 'method-1', 'x__x-2'));
    await mkdir(join(logs, 'method-1', 'x__x-3'));
    await writeFile(
      join(logs, 'method-1', 'x__x-3', 'report.json'),
      '{"x__x-3": {"resolved": "yes"}}',
    );
    // The logs of golden and base runs that the harness keeps for all runs.
    for (const kept of ['gold_pre', 'gold_post', 'base_pre', 'base_post']) {
      const place = join(folder, 'run_instance_swt_logs', kept, 'x__x-1', 'f00');
      await mkdir(place, { recursive: true });
      await writeFile(join(place, 'test_output.txt'), 'PASSED a');
    }
    const places = [folder, join(folder, 'run_instance_swt_logs'), logs];
    for (const place of places) {
      const { runs, problems } = await readRuns([place]);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /x__x-3/);
      const [method] = methodsOf(runs);
      assert.ok(method);
      assert.equal(method.grading, 'harness');
      const summary = summariseMethod(method);
      const solved: number = run.entries.filter((entry) => entry.success).length;
      assert.equal(summary.success.count, solved);
      assert.equal(summary.wellFormed.count, run.entries.filter((each) => each.wellFormed).length);
      assert.equal(summary.selected, 30);
      const deltas: number[] = run.entries.flatMap((each) => each.harness?.coverageDelta ?? []);
      assert.equal(
        summary.deltaAll.mean?.toFixed(9),
        (deltas.reduce((a, b) => a + b) / deltas.length).toFixed(9),
      );
    }
    const more = [...run.instances, { id: 'x__x-9', repo: 'x/x', created: '', issueLength: 5 }];
    const { runs } = await readRuns([folder], { instances: more });
    assert.equal(runs[0]?.instances.length, 31, 'the dataset is the denominator where it is known');
  });

  it('reads from a report without a journal what the journal would have', async () => {
    const own = 'tests/test_cat.py::test_purr';
    const fails = (...names: string[]): string[] => names.map((name) => `${own}_${name}`);
    const strict: Verdict = {
      ...ungraded('breaks a test', 'why', true),
      ...{ failToPass: [own], failToFail: fails('a', 'b'), passToPass: fails('c', 'd', 'e') },
      ...{ passToFail: fails('f', 'g', 'h', 'i'), failToAny: fails('j', 'k', 'l', 'm', 'n') },
      anyToFail: fails('o', 'p', 'q', 'r', 's', 't'),
    };
    const golden = changeCoverageOf([]);
    const entries: BatchEntry[] = [
      candidateResult({ instance: 'a__a-1' }),
      candidateResult({ instance: 'a__a-2', strict, goldenCoverage: { ...golden, executable: 7 } }),
      candidateResult({
        instance: 'a__a-3',
        strict: ungraded('does not apply', 'hunk 1', false),
        harness: harnessUnapplied(true),
        difference: 'a rule',
        findings: [{ kind: 'inspects source', evidence: ['x'.repeat(500), 'b', 'c', 'd'] }],
      }),
    ].map((result) => ({
      prediction: { instanceId: result.instance, model: 'm', patch: 'p', oracle: true },
      ...{ result, seconds: 1.5 },
    }));
    for (const entry of entries) await writeReport(folder, 'run-1', entry);
    const { runs } = await readRuns([folder]);
    assert.deepEqual(
      runs[0]?.entries.map(({ report: _, ...entry }) => entry),
      entries.map(entryOf),
    );
  });

  it('takes the failures of a report of the harness from all its lists', async () => {
    const nothing = { FAIL_TO_PASS: [], PASS_TO_PASS: [], FAIL_TO_FAIL: [], PASS_TO_FAIL: [] };
    const report = {
      ...harnessUnapplied(true),
      ...{ patch_successfully_applied: true, resolved: false, tests_base: nothing },
      tests_pred: {
        ...nothing,
        FAIL_TO_PASS: ['a'],
        FAIL_TO_FAIL: ['b', 'c'],
        PASS_TO_FAIL: ['d'],
      },
    };
    const place = join(folder, 'run_instance_swt_logs', 'run-1', 'm', 'a__a-1');
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'report.json'), JSON.stringify({ 'a__a-1': report }));
    const [entry] = (await readRuns([folder])).runs[0]?.entries ?? [];
    assert.deepEqual(entry && [entry.reason, entry.failToPass, entry.failToAny, entry.anyToFail], [
      'breaks a test',
      1,
      3,
      3,
    ]);
  });

  it('reads the samples of reports without a journal', async () => {
    const [run] = simulatedRuns(5, 1, 3);
    assert.ok(run);
    await writeHarnessRun(folder, run);
    const [method] = methodsOf((await readRuns([folder])).runs);
    assert.equal(method?.model, 'method-1');
    assert.equal(method?.sampleCount, 3);
  });
});

describe('repair results', () => {
  const shapes: readonly (readonly [string, string, readonly string[] | undefined])[] = [
    ['summary', '{"resolved_ids": ["a__a-1"], "unresolved_ids": ["b__b-2"]}', ['a__a-1', 'b__b-2']],
    ['leaderboard', '{"no_generation": [], "resolved": ["a__a-1"]}', undefined],
    ['by id', '{"a__a-1": true, "b__b-2": {"resolved": false}}', ['a__a-1', 'b__b-2']],
    ['list', '["a__a-1"]', undefined],
    ['lines', 'a__a-1\n', undefined],
    [
      'rows',
      '{"instance_id": "a__a-1", "resolved": true}\n{"instance_id": "b__b-2", "resolved": false}\n',
      ['a__a-1', 'b__b-2'],
    ],
    ['a row', '[{"instance_id": "a__a-1", "resolved": true}]', ['a__a-1']],
  ];
  for (const [name, text, attempted] of shapes) {
    it(`are read from ${name}`, async () => {
      const path = join(folder, 'fixes.json');
      await writeFile(path, text);
      const read = await readRepairResults(path);
      assert.deepEqual(read, {
        name: 'fixes',
        resolved: ['a__a-1'],
        ...(attempted === undefined ? {} : { attempted }),
      });
    });
  }

  it('of something else are refused', async () => {
    const path = join(folder, 'fixes.json');
    for (const text of ['{"a": 1}', 'no ids here', '', '{"resolved": "a"}']) {
      await writeFile(path, text);
      await assert.rejects(readRepairResults(path), HumanError, text);
    }
    await assert.rejects(readRepairResults(join(folder, 'nothing')), HumanError);
  });
});

describe('the report of runs', () => {
  const runs = simulatedRuns(60, 2, 2);
  const document = studyDocument({
    runs,
    published: publishedRows,
    repairs: [
      { name: 'fixes', resolved: runs[0]?.instances.slice(0, 20).map(({ id }) => id) ?? [] },
    ],
    asked: studyRequest(runs, undefined, '2020-01-01'),
  });
  const report = studyReport(document);
  const asJson: unknown = JSON.parse(JSON.stringify(report));

  it('has the published schema, with nothing that the schema does not name', async () => {
    assert.deepEqual(studyReportSchema.parse(asJson), asJson);
    const { value: version } = studyReportSchema.shape.version;
    await assertPublished(
      'study.schema.json',
      {
        title: `Rates of saved runs, version ${version}`,
        description:
          'What `swt-bench report --format json` prints. Shares, means, intervals and p-values are from 0 to 1.',
      },
      studyReportSchema,
      'output',
    );
  });

  it('has every table, as text and as Markdown', () => {
    const text = reportText(report);
    const markdown = reportMarkdown(report);
    for (const title of [
      'Table 2',
      'Table 3',
      'Table 6',
      'Table 7',
      'tables 9 to 11',
      'figure 5',
    ]) {
      assert.ok(text.includes(title) && markdown.includes(title), title);
    }
    for (const title of ['figure 6', 'figure 9', 'Pass@k', 'Reasons']) {
      assert.ok(text.includes(title) && markdown.includes(title), title);
    }
    assert.ok(text.includes('SWE-Agent+ [published: Lite, GPT-4]'));
    assert.ok(text.includes('method-2 Pass@2 (oracle)'));
  });

  it('lets no name of a model end a line, a cell or drive a terminal', () => {
    const evil = '=HYPERLINK("x")|\n<img src=x>\u001b[31m![a](b)';
    const [run] = simulatedRuns(4, 1);
    assert.ok(run);
    const named = {
      ...run,
      models: [evil],
      entries: run.entries.map((each) => ({ ...each, model: evil })),
    };
    const of = studyReport(studyDocument({ runs: [named] }));
    assert.ok(!reportText(of).includes('\u001b'));
    const lines = reportMarkdown(of).split('\n');
    const row = lines.find((line) => line.includes('HYPERLINK'));
    assert.match(row ?? '', /^\| =HYPERLINK\("x"\)\\\| \\<img src=x\\>/);
    assert.ok(!reportMarkdown(of).includes('\u001b') && !reportMarkdown(of).includes(' <img'));
    assert.ok(reportCsv(of).includes(`"'=HYPERLINK`));
  });

  it('has in CSV one row for each method, each as long as the head', () => {
    const rows = reportCsv(report).trimEnd().split('\r\n');
    assert.equal(rows.length, 1 + report.methods.length + publishedRows.length);
    // None of these names contains a comma.
    const cells = (row: string | undefined): number =>
      row?.replace(/"[^"]*"/g, '').split(',').length ?? 0;
    assert.ok(rows.every((row) => cells(row) === cells(rows[0])));
  });

  it('refuses methods and days that are none', () => {
    assert.throws(() => studyRequest(runs, ['method-1', 'nobody'], undefined), /method-2/);
    assert.throws(() => studyRequest(runs, ['method-1', 'method-1'], undefined), HumanError);
    for (const day of ['2023-02-30', 'yesterday', '2023-4-1', '2023-13-01']) {
      assert.throws(() => studyRequest(runs, undefined, day), HumanError, day);
    }
  });
});

describe('swt-bench report', () => {
  const asked = async (
    dirs: readonly string[],
    more: Partial<ReportOptions> = {},
  ): Promise<{ status: number; stdout: string; stderr: string }> => {
    let stdout = '';
    let stderr = '';
    const status = await reportCommand(
      dirs,
      { format: 'table', grading: 'strict', repairs: [], storage: folder, ...more },
      {
        stdout: (text) => (stdout += text),
        data: (text) => (stdout += text),
        stderr: (text) => (stderr += text),
        stdin: async () => Buffer.alloc(0),
        interactive: false,
        signal: new AbortController().signal,
        assets: folder,
        bundled: { dataset: '', predictions: '', source: '' },
      },
    );
    return { status, stdout, stderr };
  };

  it('ends with 0 where all was read, with 1 and a line for each where not', async () => {
    await written(folder);
    const sound = await asked([folder], { format: 'json' });
    assert.equal(sound.status, 0);
    assert.equal(sound.stderr, '');
    assert.equal(studyReportSchema.parse(JSON.parse(sound.stdout)).methods.length, 1);
    await writeFile(journalOf(folder), 'x\n', { flag: 'a' });
    const damaged = await asked([folder], { json: true });
    assert.equal(damaged.status, 1);
    assert.match(damaged.stderr, /^swt-bench: .*entries\.jsonl: line 13 is not JSON\n$/);
    assert.equal(studyReportSchema.parse(JSON.parse(damaged.stdout)).problems.length, 1);
  });

  it('refuses where there is no run, or no instance of it is selected', async () => {
    await assert.rejects(asked([folder]), /has no run.*evaluate --out/);
    await assert.rejects(asked([join(folder, 'none')]), /no such folder/);
    const run = await written(folder);
    await assert.rejects(asked([folder], { ids: ['x__x-1'] }), /No run contains x__x-1/);
    await assert.rejects(asked([folder], { query: 'status:valid' }), /--dataset/);
    const [first] = run.instances;
    assert.ok(first);
    const { stdout } = await asked([folder], { ids: [first.id], format: 'json' });
    assert.equal(studyReportSchema.parse(JSON.parse(stdout)).methods[0]?.selected, 1);
  });

  it('writes to a file, and says where it cannot', async () => {
    await written(folder);
    const out = join(folder, 'reports', 'table.md');
    const { stdout } = await asked([folder], { format: 'markdown', out });
    assert.equal(stdout, '');
    assert.match(await readFile(out, 'utf8'), /^## Rates/);
    const file = join(folder, 'file');
    await writeFile(file, '');
    await assert.rejects(asked([folder], { out: join(file, 'x') }), HumanError);
    if (process.getuid?.() === 0) return;
    await chmod(dirname(out), 0o500);
    await assert.rejects(asked([folder], { out: join(dirname(out), 'x') }), HumanError);
    await chmod(dirname(out), 0o700);
  });
});
