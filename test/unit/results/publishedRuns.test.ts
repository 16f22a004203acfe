import { studyReportSchema } from '../../../src/study/studyReportSchema';
import { compareMethods } from '../../../src/study/measures/compare';
import type { RunData, RunEntry } from '../../../src/study/entry';
import { methodsOf } from '../../../src/study/measures/methods';
import { publishedRows } from '../../../src/study/measures/published';
import { studyReport, reportCsv, reportText } from '../../../src/study/reportText';
import { summariseMethod } from '../../../src/study/measures/summary';
import { columnCell } from '../../../src/dashboard/page/cellState';
import { columnsOf } from '../../../src/dashboard/page/columns';
import { readRuns } from '../../../src/results/readRuns';
import { studyDocument } from '../../../src/study/document/studyDocument';
import { withTrajectoryCosts } from '../../../src/trajectory/withTrajectoryCosts';
import { miniFile, newOpenHandsRow, sweAgentFile } from '../trajectory/madeUpTrajectories';
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swt-bench-published-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(path: string, value: unknown): Promise<void> {
  const whole = join(folder, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, typeof value === 'string' ? value : JSON.stringify(value));
}

/** A report of the reference harness: an F→P test, or one that fails on both sides. */
const harnessReport = (id: string, resolved: boolean): unknown => {
  const none = { FAIL_TO_PASS: [], PASS_TO_PASS: [], FAIL_TO_FAIL: [], PASS_TO_FAIL: [] };
  return {
    [id]: {
      ...{ patch_is_None: false, patch_exists: true, patch_successfully_applied: true, resolved },
      ...{ coverage_pred: 0.5, coverage_gold: 1, coverage_base: 0, added_f2p: resolved ? 1 : 0 },
      ...{ coverage_delta_pred: 0.5, coverage_delta_gold: 1, tests_base: none },
      tests_pred: { ...none, [resolved ? 'FAIL_TO_PASS' : 'FAIL_TO_FAIL']: ['test_purr'] },
    },
  };
};

const [one, two, three, four] = ['octo__cat-1', 'octo__cat-2', 'octo__cat-3', 'octo__cat-4'];
const prediction = (id: string, more: object = {}): string =>
  `${JSON.stringify({ instance_id: id, model_name_or_path: 'some/model', model_patch: 'diff', ...more })}\n`;

/** A run as a submission to a leaderboard has it. */
async function putSubmission(at: string): Promise<void> {
  await put(`${at}/metadata.yaml`, 'info:\n  name: "Cat Agent (v2)" # the best\nos_model: true\n');
  await put(
    `${at}/all_preds.jsonl`,
    prediction(one, { cost: 0.75 }) +
      prediction(two) +
      prediction(three) +
      prediction(four, { model_patch: '' }),
  );
  await put(`${at}/logs/${one}/report.json`, harnessReport(one, true));
  await put(`${at}/logs/${two}/report.json`, harnessReport(two, false));
  await put(`${at}/logs/${three}/run_instance.log`, 'it hung');
  await put(`${at}/trajs/${one}.traj`, sweAgentFile);
  await put(`${at}/trajs/${two}/${two}.traj.json`, { ...miniFile, instance_id: two });
  await put(`${at}/trajs/${three}.traj`, sweAgentFile);
}

async function only(dir: string): Promise<RunData> {
  const { runs, problems } = await readRuns([dir]);
  assert.deepEqual(problems, []);
  assert.equal(runs.length, 1);
  const [run] = await withTrajectoryCosts(runs, { told: (problem) => assert.fail(problem) });
  assert.ok(run);
  return run;
}

const entryOf = (run: RunData, id: string): RunEntry => {
  const found = run.entries.find(({ instance }) => instance === id);
  assert.ok(found);
  return found;
};

describe('published runs', () => {
  it('of a leaderboard have rates, the name of their metadata, and costs', async () => {
    await putSubmission('20260701_cat');
    for (const dir of [join(folder, '20260701_cat'), folder]) {
      const run = await only(dir);
      assert.equal(run.label, '20260701_cat');
      const [method] = methodsOf([run]);
      assert.ok(method);
      const { success, wellFormed, failToAny, evaluated, deltaAll } = summariseMethod(method);
      assert.equal(method.name, 'Cat Agent (v2)');
      assert.equal(method.grading, 'harness');
      assert.deepEqual([success, wellFormed.count, failToAny.count], [{ count: 1, of: 4 }, 2, 2]);
      assert.deepEqual([evaluated, deltaAll], [3, { mean: 0.5, of: 2 }]);
      assert.deepEqual(
        [one, two, three, four].map((id) => entryOf(run, id).reason),
        ['success', 'fails on both sides', 'no report', 'no candidate'],
      );
      assert.equal(entryOf(run, one).report, `logs/${one}/report.json`);
      // The row of a prediction comes before its trajectory.
      assert.deepEqual(
        [one, two, three, four].map((id) => entryOf(run, id).cost?.dollars),
        [0.75, 0.03, 0.5, undefined],
      );
    }
  });

  it('of the harness are one model’s folder, or the whole with what lies beside it', async () => {
    const logs = 'run_instance_swt_logs/run-1/some__model';
    await put(`${logs}/${one}/report.json`, harnessReport(one, true));
    await put(`run_instance_swt_logs/gold_pre/${one}/f00/test_output.txt`, 'PASSED');
    const alone = await only(join(folder, logs));
    assert.deepEqual([alone.label, alone.entries.length], ['some__model', 1]);
    assert.equal(entryOf(alone, one).report, `${one}/report.json`);

    await put('preds.jsonl', prediction(one, { cost: 0.25 }) + prediction(two));
    const whole = await only(folder);
    assert.deepEqual([whole.label, whole.entries.length], ['run-1', 2]);
    assert.equal(entryOf(whole, one).cost?.dollars, 0.25);
    assert.equal(entryOf(whole, two).reason, 'no report');
    assert.equal(methodsOf([whole]).length, 1);

    // Predictions of another model are not its own.
    await put('preds.jsonl', prediction(two, { model_name_or_path: 'another' }));
    assert.deepEqual(
      (await only(folder)).entries.map(({ instance }) => instance),
      [one],
    );
  });

  it('of OpenHands have their costs in the rows, and S alone from the summary', async () => {
    const metadata = { llm: { model: 'litellm_proxy/anthropic/claude' } };
    const row = { ...newOpenHandsRow, instance_id: one, metadata };
    const rows = [row, { ...row, instance_id: two }, { ...row, instance_id: three }];
    await put('run/output.jsonl', rows.map((each) => `${JSON.stringify(each)}\n`).join(''));
    await put('run/output.report.json', {
      ...{ total_instances: 3, resolved_instances: 1, 'Mean coverage': 0.5 },
      ...{ resolved_ids: [one], unresolved_ids: [two], completed_ids: [one, two] },
    });
    const run = await only(join(folder, 'run'));
    const [method] = methodsOf([run]);
    assert.ok(method);
    const { success, wellFormed, deltaAll } = summariseMethod(method, { intervals: {} });
    assert.equal(method.name, 'OpenHands/anthropic/claude');
    assert.deepEqual([success.count, success.of], [1, 3]);
    assert.deepEqual([wellFormed, deltaAll.of], [{ count: 0, of: 0 }, 0]);
    assert.deepEqual(
      [one, two, three].map((id) => entryOf(run, id).reason),
      ['success', 'not resolved', 'no report'],
    );
    assert.ok((entryOf(run, two).cost?.dollars ?? 0) > 0);
    const [column] = columnsOf([run]);
    assert.equal(column?.known, 'success');
    assert.equal(columnCell(column, one).text, 'success');
    const text = reportText(studyReport(studyDocument({ runs: [run] })));
    assert.match(text, /Only S is known, from a reference harness summary: OpenHands/);
    const { shares } = compareMethods(method, method);
    assert.deepEqual([shares.success.both, shares.wellFormed.both], [1, 0]);
    assert.equal(shares.wellFormed.neither, 0);
  });

  it('of several summaries are several runs, named after their files', async () => {
    const summary = { resolved_ids: [one], unresolved_ids: [two], error_ids: [three] };
    await put('evaluation_results/gpt-4.1.night.json', summary);
    await put('evaluation_results/gpt-4.1.day.json', { ...summary, completed_ids: [] });
    await put('evaluation_results/notes.json', { about: 'resolved' });
    await put('results.json', { no_generation: [], no_logs: [two], resolved: [one] });
    const { runs, problems } = await readRuns([folder]);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      runs.map(({ label, entries }) => [label, entries[0]?.model, entries.length]),
      [
        ['results', 'results', 2],
        ['day', 'gpt-4.1', 3],
        ['night', 'gpt-4.1', 3],
      ],
    );
  });

  it('are refused where they judge code patches, have no grades, or are something else', async () => {
    await put(`fixes/logs/${one}/report.json`, {
      [one]: {
        ...{ patch_is_None: false, patch_exists: true, patch_successfully_applied: true },
        ...{ resolved: true, tests_status: {} },
      },
    });
    await put('bare/preds.json', { [one]: { model_patch: 'diff' } });
    await put('bare/trajs/notes.txt', 'none');
    await put('else/readme.md', '# Else');
    const problemOf = async (name: string): Promise<string> => {
      const { runs, problems } = await readRuns([join(folder, name)]);
      assert.deepEqual(runs, []);
      return problems.join('\n');
    };
    assert.match(await problemOf('fixes'), /judges a code patch.*--repairs/);
    assert.match(await problemOf('bare'), /preds\.json has predictions without grades.*evaluate/);
    const told = await problemOf('else');
    for (const layout of [
      ...['runs/*/run.json', 'run_instance_swt_logs', 'ID/report.json', 'metadata.yaml'],
      ...['all_preds.jsonl', 'logs/ID/report.json', 'resolved_ids', 'trajs'],
    ]) {
      assert.ok(told.includes(layout), layout);
    }
  });
});

describe('rows that are known to look at the answer', () => {
  const runOf = (model: string): RunData => ({
    label: model,
    instances: [{ id: one, repo: 'octo/cat', created: '', issueLength: 1 }],
    entries: [
      {
        ...{ instance: one, model, sample: 1, reason: 'success', explanation: '', seconds: 0 },
        ...{ evaluated: true, wellFormed: true, success: true, failToPass: 1, failToFail: 0 },
        ...{ passToPass: 0, passToFail: 0, failToAny: 1, anyToFail: 0 },
      },
    ],
  });

  it('say so with the reason in the table, as CSV and as JSON, measured or published', () => {
    const names = ['DevstralTestGen', 'assertFlip_default_run', 'other'];
    const study = studyDocument({ runs: names.map(runOf), published: publishedRows });
    const report = studyReport(study);
    assert.deepEqual(
      report.methods.map(({ name, answerSeen }) => [name, answerSeen !== undefined]),
      [
        ['DevstralTestGen (oracle)', true],
        ['assertFlip_default_run (oracle)', true],
        ['other', false],
      ],
    );
    studyReportSchema.parse(JSON.parse(JSON.stringify(report)));
    const text = reportText(report);
    assert.match(
      text,
      /Known to see the answer \(its prompts name the fixed version, .*\): DevstralTestGen \(oracle\), DevstralTestGen \(oracle\) \[published: Lite, Devstral 2\]\./,
    );
    assert.match(text, /SymPy from T\*\): assertFlip_default_run \(oracle\), AssertFlip/);
    const rows = reportCsv(report).split('\r\n');
    assert.match(rows[0] ?? '', /,oracle,answer_seen,/);
    assert.match(rows[1] ?? '', /^DevstralTestGen \(oracle\),measured,true,"its prompts/);
    assert.match(rows[3] ?? '', /^other,measured,false,,/);
    assert.equal(rows.filter((row) => /^(?:Devstral|Assert).*published/.test(row)).length, 3);
  });

  it('are not those of `generate --method assertflip`, nor of other names', () => {
    const names = ['assertflip/openai/gpt-4o', 'assertflip__openai__gpt-4o', 'my AssertFlip'];
    for (const name of names) {
      assert.deepEqual(
        methodsOf([runOf(name)]).map((method) => [method.name, method.oracle]),
        [[name, false]],
      );
    }
  });
});
