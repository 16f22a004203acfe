import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Instance } from '../../../src/domain/instance';
import { HumanError } from '../../../src/domain/work';
import { redactKeys } from '../../../src/engine/keysInUse';
import { loadPredictions } from '../../../src/dataset/predictions';
import { predictionFolders } from '../../../src/dataset/predictionFolders';
import { withTrajectoryFindings } from '../../../src/trajectory/withTrajectoryFindings';
import { testDiff } from '../trajectory/madeUpTrajectories';

const ids = ['octo__cat-7', 'octo__Dog-8'];
const instances = ids.map((id): Instance => ({
  ...{ id, repo: 'octo/cat', baseCommit: '0'.repeat(40), version: '1', issue: '', hints: '' },
  ...{ createdAt: '', goldenPatch: '', goldenTests: '', failToPass: [], passToPass: [] },
}));
const dataset = { problems: [], entries: ids.map((id) => ({ id })) };

/** `result.json` as Harbor 0.25 writes it, of what is read. */
const result = (task: string, more: object = {}) => ({
  task_name: `swtbench/${task}`,
  trial_name: `${task}__abc`,
  agent_info: { name: 'octo', version: '1', model_info: { name: 'gpt-4o', provider: 'openai' } },
  agent_result: { n_input_tokens: 100, n_cache_tokens: 5, n_output_tokens: 10, cost_usd: 0.25 },
  exception_info: null,
  agent_execution: { started_at: '2026-01-01T00:00:00Z', finished_at: '2026-01-01T00:00:30Z' },
  step_results: null,
  ...more,
});

const timeout = {
  exception_type: 'AgentTimeoutError',
  exception_message: 'Agent execution timed out\nafter 300 s',
  exception_traceback: '…',
};

const line = '='.repeat(100);

describe('jobs of Harbor as predictions', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-harbor-'));
    await put('job/result.json', { n_total_trials: 1, stats: {} });
    await put('job/config.json', { job_name: 'job' });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (name: string, content: unknown): Promise<string> => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const load = (name = 'job') =>
    loadPredictions(join(folder, name), instances, dataset, 'tests', predictionFolders);

  it('have the patch of an artifact, the model, the cost, and the folder of the trial', async () => {
    await put('job/a__1/result.json', result('octo__cat-7'));
    await put('job/a__1/artifacts/logs/artifacts/model.patch', testDiff);
    await put('job/a__1/artifacts/logs/artifacts/gold.patch', 'the answer');
    await put('job/a__1/verifier/model.patch', 'not this one');
    const { predictions, origins, problems } = await load();
    assert.deepEqual(problems, []);
    assert.deepEqual(origins, [join(folder, 'job', 'a__1')]);
    assert.deepEqual(predictions, [
      {
        ...{ instanceId: 'octo__cat-7', model: 'octo/openai/gpt-4o', patch: testDiff },
        madeBy: { method: 'octo', model: 'openai/gpt-4o' },
        cost: { dollars: 0.25, inputTokens: 100, outputTokens: 10, seconds: 30 },
      },
    ]);
  });

  it('have the patch that the tests of the SWT-bench adapter print, also an empty one', async () => {
    const traced = `+ git diff HEAD\n+ echo ${line}\n${line}\n+ cat /root/model_test.patch\n${testDiff}+ echo ${line}\n${line}\nRESULT\n`;
    await put('job/a__1/result.json', result('octo__cat-7'));
    await put('job/a__1/verifier/test-stdout.txt', traced);
    await put('job/b__1/result.json', result('octo__dog-8'));
    await put('job/b__1/verifier/test-stdout.txt', `${line}\n${line}\n`);
    const { predictions } = await load();
    assert.deepEqual(
      predictions.map(({ instanceId, patch }) => [instanceId, patch]),
      [
        ['octo__cat-7', testDiff],
        ['octo__Dog-8', ''],
      ],
    );
  });

  it('have the submission of mini-SWE-agent where nothing else is kept', async () => {
    await put('job/a__1/result.json', result('octo__cat-7'));
    await put('job/a__1/agent/mini-swe-agent.trajectory.json', { info: { submission: testDiff } });
    assert.equal((await load()).predictions[0]?.patch, testDiff);
  });

  it('are samples, say why they failed, and are left out where nothing is known', async () => {
    await put('job/a__1/result.json', result('octo__cat-7', { exception_info: timeout }));
    await put('job/a__2/result.json', result('octo__cat-7'));
    await put('job/a__2/verifier/model.patch', testDiff);
    await put('job/b__1/result.json', result('octo__dog-8'));
    await put('job/b__2/config.json', { trial_name: 'b__2', task: { path: 'octo__dog-8' } });
    await put('job/c__1/result.json', result('octo__bird-9', { exception_info: timeout }));
    const { predictions, problems } = await load();
    assert.deepEqual(
      predictions.map(({ patch, sample, failure }) => [patch, sample, failure]),
      [
        ['', undefined, 'AgentTimeoutError: Agent execution timed out'],
        [testDiff, 2, undefined],
      ],
    );
    assert.equal(problems.length, 3);
    assert.match(problems.join('\n'), /octo__dog-8__abc: neither its artifact/);
    assert.match(problems.join('\n'), /b__2 has no result/);
    assert.match(problems.join('\n'), /octo__bird-9 is not in the dataset/);
  });

  it('of the oracle have seen the answer', async () => {
    const oracle = { agent_info: { name: 'oracle', version: '1', model_info: null } };
    await put('job/a__1/result.json', result('octo__cat-7', oracle));
    await put('job/a__1/verifier/model.patch', testDiff);
    const [only] = (await load()).predictions;
    assert.equal(only?.model, 'oracle');
    assert.equal(only.oracle, true);
  });

  it('read no link, and have a digest that only what is read changes', async () => {
    await put('secret.patch', 'secret');
    await put('job/a__1/result.json', result('octo__cat-7', { exception_info: timeout }));
    await mkdir(join(folder, 'job/a__1/artifacts'));
    await symlink(join(folder, 'secret.patch'), join(folder, 'job/a__1/artifacts/model.patch'));
    await put('elsewhere/model.patch', 'secret');
    await symlink(join(folder, 'elsewhere'), join(folder, 'job/a__1/verifier'));
    assert.equal((await load()).predictions[0]?.patch, '');
    await rm(join(folder, 'job/a__1/verifier'));
    const before = await predictionFolders.digest(join(folder, 'job'));
    await rename(join(folder, 'job'), join(folder, 'moved'));
    await put('moved/a__1/trial.log', 'more');
    assert.equal(await predictionFolders.digest(join(folder, 'moved')), before);
    await put('moved/a__1/verifier/model.patch', testDiff);
    assert.notEqual(await predictionFolders.digest(join(folder, 'moved')), before);
  });

  it('have the findings and costs of their ATIF trajectory', async () => {
    const free = { agent_result: { cost_usd: null } };
    await put('job/b__1/result.json', result('octo__dog-8', free));
    await put('job/b__1/verifier/model.patch', testDiff);
    await put('job/b__1/agent/trajectory.json', {
      schema_version: 'ATIF-v1.6',
      agent: { name: 'octo', version: '1' },
      steps: [
        {
          ...{ source: 'agent', message: '' },
          tool_calls: [
            {
              ...{ tool_call_id: 'c', function_name: 'bash_command' },
              arguments: { keystrokes: 'git log --all\n', duration: 0.1 },
            },
          ],
        },
      ],
      final_metrics: { total_cost_usd: 0.5 },
    });
    const { predictions, origins } = await load();
    const reporter = { progress: () => undefined, log: assert.fail };
    const [found] = await withTrajectoryFindings(predictions, origins, {
      ...{ redact: redactKeys, reporter },
    });
    assert.deepEqual(found?.cost, { dollars: 0.5, seconds: 30 });
    assert.deepEqual(
      found.trajectoryFindings?.map(({ kind, severity }) => [kind, severity]),
      [['history', 'warning']],
    );
  });

  it('a folder of a submission is its predictions, and any other folder is refused', async () => {
    const rows = { 'octo__cat-7': { model_name_or_path: 'm', model_patch: testDiff } };
    const path = await put('submission/preds.json', rows);
    const { origins } = await load('submission');
    assert.deepEqual(origins, [path]);
    await mkdir(join(folder, 'empty'));
    await assert.rejects(load('empty'), HumanError);
  });
});
