import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Trajectory } from '../../src/trajectory/trajectory';
import {
  agentTrace,
  asLines,
  instance,
  miniFile,
  oracleTrace,
} from '../unit/trajectory/madeUpTrajectories';
import { cli, sample, scratch } from './cli';
import { assertAtif, harborPython, trajectoriesIn } from './harborValidator';
import { recordAgentless, recordMethod } from './recordedSession';

const id = 'tallybook__tallybook-217';

const someTest = ['self.assertEqual(1, 2)'];

describe('ATIF on the command line', () => {
  const folder = scratch();

  const args = (): string[] => [
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', join(folder.path, 'storage'), '--run-tests-locally'],
  ];

  it('is written to stdout, a file, or a folder of documents, and read back', async () => {
    const path = await folder.file(
      'out.jsonl.trace.jsonl',
      asLines([...agentTrace, ...oracleTrace]),
    );
    const one = await cli(['trajectory', path, '--format', 'atif', '--instance', instance]);
    assert.equal(one.status, 0, one.stderr);
    const document = JSON.parse(one.stdout) as { schema_version: string; steps: unknown[] };
    assert.equal(document.schema_version, 'ATIF-v1.7');
    assert.equal(document.steps.length, 8);
    const several = await cli(['trajectory', path, '--format', 'atif']);
    assert.equal(several.status, 2);
    assert.match(
      several.stderr,
      /^swt-bench: An ATIF document holds one trajectory, but there are 2/,
    );
    const out = join(folder.path, 'documents');
    const all = await cli(['trajectory', path, '--format', 'atif', '--out', out]);
    assert.equal(all.status, 0, all.stderr);
    assert.deepEqual((await readdir(out)).sort(), [
      'octo__cat-7.atif.json',
      'octo__dog-8.atif.json',
    ]);
    assert.deepEqual(await trajectoriesIn(out), await trajectoriesIn(path));
  });

  it('is written by generate --atif', async () => {
    const out = join(folder.path, 'preds.jsonl');
    const documents = join(folder.path, 'of generate');
    await recordMethod('zero-shot', [...args(), '--atif', documents], [someTest], out);
    assert.deepEqual(await trajectoriesIn(documents), await trajectoriesIn(out));
  });

  it('evaluates a job of Harbor with its costs and reasons', async () => {
    const trial = (name: string, file: string, content: unknown): Promise<string> =>
      folder.file(
        join('job', name, file),
        typeof content === 'string' ? content : JSON.stringify(content),
      );
    const result = (exception_info: object | null): object => ({
      ...{ task_name: `swtbench/${id}`, trial_name: 'a', exception_info },
      agent_info: { name: 'octo', version: '1', model_info: { name: 'm', provider: 'p' } },
      agent_result: { n_input_tokens: 7, n_output_tokens: 3, cost_usd: 0.5 },
    });
    for (const name of ['a/verifier', 'b']) {
      await mkdir(join(folder.path, 'job', name), { recursive: true });
    }
    const row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as {
      readonly test_patch: string;
    };
    await trial('a', 'result.json', result(null));
    await trial('a', 'verifier/model.patch', row.test_patch);
    const failure = { exception_type: 'AgentTimeoutError', exception_message: 'after 300 s' };
    await trial('b', 'result.json', result(failure));
    const results = join(folder.path, 'results');
    const answer = await cli([
      ...['evaluate', ...args().slice(0, -1), '--predictions', join(folder.path, 'job')],
      ...['--out', results, '--json'],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    const lines = (await readFile(join(results, 'runs', 'run', 'entries.jsonl'), 'utf8')).trim();
    const entries = lines.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      entries
        .map(({ model, sample: of, reason, cost, explanation }) => [
          ...[model, of, reason, cost],
          String(explanation).replace(/^.*; /, ''),
        ])
        .sort((one, other) => Number(one[1]) - Number(other[1])),
      [
        [
          ...['octo/p/m', 1, 'success', { dollars: 0.5, inputTokens: 7, outputTokens: 3 }],
          'none fail with the fix',
        ],
        [
          ...['octo/p/m', 2, 'no candidate', { dollars: 0.5, inputTokens: 7, outputTokens: 3 }],
          'its agent failed: AgentTimeoutError: after 300 s',
        ],
      ],
    );
  });

  it("of repairs is accepted by Harbor's validator, and read back equal @full", async function () {
    const python = await harborPython(this);
    const out = join(folder.path, 'repairs.jsonl');
    await recordAgentless(args(), out);
    await assertAtif(python, out);
  });

  it("of mini-SWE-agent's files is what Harbor makes of them @full", async function () {
    const python = await harborPython(this);
    const ofMini = await folder.file('mini.traj.json', JSON.stringify(miniFile));
    const ofHarbor = join(folder.path, 'of harbor', 'trajectory.json');
    await mkdir(join(folder.path, 'of harbor'));
    const convert =
      'import sys; from pathlib import Path; from harbor.agents.installed import mini_swe_agent as m; m.convert_and_save_trajectory(*map(Path, sys.argv[1:]), session_id="s")';
    execFileSync(python, ['-c', convert, ofMini, ofHarbor], {
      env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    });
    const [converted] = await trajectoriesIn(ofHarbor);
    const [plain] = await trajectoriesIn(ofMini);
    const texts = (trajectory: Trajectory | undefined, kind: string): string[] | undefined =>
      trajectory?.steps.filter((step) => step.kind === kind).map(({ text }) => text.trim());
    assert.equal(converted?.format, 'atif');
    assert.deepEqual(texts(converted, 'action'), texts(plain, 'action'));
    assert.deepEqual(texts(converted, 'observation'), texts(plain, 'observation'));
  });
});
