import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cli, sample, type Evaluation } from '../commandLine/cli';
import { sourceRelease } from '../environments';
import { needDocker } from './dockerForTests';
import { data } from './realData';
import { skipTest } from './skipping';
import { certifiedBase, fieldEnvironment, withCompose } from './toolsOfTheField';

const run = promisify(execFile);
const bundled = 'tallybook__tallybook-217';
const real = ['pallets__flask-4992', 'sympy__sympy-24152'] as const;

interface TaskReport {
  readonly instance_id: string;
  readonly success: boolean;
  readonly fail_to_pass: number;
  readonly change_coverage: number | null;
}

/** The programs themselves, from PyPI; images are built by plain Docker from the exported files alone. */
describe('exported tasks, run by the programs that they are for @full', function () {
  let folder = '';
  let env: NodeJS.ProcessEnv = {};
  let base = '';
  before(async function () {
    await needDocker(this, ['3.9', '3.11']);
    env = await withCompose(this);
    base = await certifiedBase(['3.9', '3.11']);
    folder = await mkdtemp(join(tmpdir(), 'swt-exported-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function exported(format: string, out: string, ...of: readonly string[]): Promise<void> {
    const answer = await cli([
      ...['export', '--format', format, '--out', out, '--base-image', base],
      ...['--storage', join(folder, 'storage'), ...of],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
  }

  describe('Harbor', () => {
    let harbor = '';
    before(async function () {
      harbor = join(await fieldEnvironment(this, ['harbor==0.26.0']), 'bin', 'harbor');
    });

    /** What an agent of Harbor's own is rewarded with on each task, and the reports beside it. */
    async function rewards(tasks: string, agent: string) {
      const jobs = join(folder, 'jobs');
      const name = `${tasks.split('/').at(-1)}-${agent}`;
      await run(
        harbor,
        [
          ...['run', '--path', tasks, '--agent', agent, '--jobs-dir', jobs],
          ...['--job-name', name, '--n-concurrent', '1', '--yes', '--quiet'],
        ],
        { env, maxBuffer: 1 << 26 },
      );
      const trials = (await readdir(join(jobs, name), { withFileTypes: true })).filter((entry) =>
        entry.isDirectory(),
      );
      const found = trials.map(async (trial) => {
        const place = join(jobs, name, trial.name, 'verifier');
        assert.ok(existsSync(join(place, 'reward.txt')), await logOf(join(jobs, name, trial.name)));
        const report = JSON.parse(await readFile(join(place, 'report.json'), 'utf8')) as TaskReport;
        const reward = Number(await readFile(join(place, 'reward.txt'), 'utf8'));
        return { reward, report };
      });
      return Promise.all(found);
    }

    const logOf = async (trial: string): Promise<string> =>
      readFile(join(trial, 'exception.txt'), 'utf8').catch(() =>
        readFile(join(trial, 'verifier', 'test-stdout.txt'), 'utf8').catch(() => trial),
      );

    it('rewards the golden tests of the bundled instance, and not an agent that does nothing', async () => {
      const tasks = join(folder, 'one');
      await exported('harbor', tasks, '--dataset', 'bundled');
      const [oracle] = await rewards(tasks, 'oracle');
      assert.deepEqual(
        [oracle?.reward, oracle?.report.instance_id, oracle?.report.success],
        [1, bundled, true],
      );
      assert.deepEqual([oracle?.report.fail_to_pass, oracle?.report.change_coverage], [5, 1]);
      const [nop] = await rewards(tasks, 'nop');
      assert.deepEqual([nop?.reward, nop?.report.success], [0, false]);
    });

    it('does so on real instances from source releases', async function () {
      if (!existsSync(data)) skipTest(this, `no dataset at ${data} (set SWT_BENCH_DATA)`);
      const tasks = join(folder, 'real');
      const flask = await sourceRelease(this, 'flask', '2.2.5');
      const sympy = await sourceRelease(this, 'sympy', '1.11.1');
      await exported(
        ...(['harbor', tasks, '--dataset', data, '--ids', real.join(',')] as const),
        ...['--source', `pallets/flask=${flask}`, '--source', `sympy/sympy=${sympy}`],
      );
      const oracle = await rewards(tasks, 'oracle');
      assert.deepEqual(oracle.map(({ report }) => report.instance_id).sort(), [...real]);
      assert.deepEqual(
        oracle.map(({ reward }) => reward),
        [1, 1],
      );
      assert.ok(oracle.every(({ report }) => report.fail_to_pass > 0));
      const nop = await rewards(tasks, 'nop');
      assert.deepEqual(
        nop.map(({ reward }) => reward),
        [0, 0],
      );
    });
  });

  it('inspect_ai scores what a scripted model does, and its log is read', async function () {
    const environment = await fieldEnvironment(this, ['inspect-ai==0.3.285']);
    const tasks = join(folder, 'inspect');
    await exported('inspect', tasks, '--dataset', 'bundled');
    const program = join(folder, 'scripted.py');
    await writeFile(program, scripted);
    const logs = join(folder, 'logs');
    const { stdout } = await run(
      join(environment, 'bin', 'python'),
      [program, join(sample, 'instance.jsonl'), logs],
      { env, cwd: tasks, maxBuffer: 1 << 26 },
    );
    const answers = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
      readonly score: number;
      readonly said: string;
      readonly log: string;
    }[];
    assert.deepEqual(
      answers.map(({ score }) => score),
      [1, 0],
      stdout,
    );
    // The agent's own shell has the environment of the tests.
    assert.match(answers[0]?.said ?? '', /5 failed, 32 passed/);
    const log = answers[0]?.log ?? '';
    const shown = await cli(['trajectory', log]);
    assert.equal(shown.status, 0, shown.stderr);
    assert.match(shown.stdout, /^tallybook__tallybook-217 · inspect_ai · mockllm\/model$/m);
    assert.match(shown.stdout, /action +git apply/);
    const graded = await cli([
      ...['evaluate', '--json', '--dataset', 'bundled', '--predictions', log],
      ...['--out', join(folder, 'results'), '--storage', join(folder, 'storage')],
    ]);
    assert.equal(graded.status, 0, graded.stderr);
    const [result] = (JSON.parse(graded.stdout) as Evaluation).results;
    assert.equal(result?.strict?.success, true);
  });
});

/**
 * Runs the task with a model that says what is written here. The check of the engine's version is
 * off: inspect_ai asks for Docker 24.0.6, and nothing here needs more than 20.10 has.
 */
const scripted = `
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.util._sandbox.docker import prereqs

async def unchecked(*_):
    pass

prereqs.validate_docker_engine = unchecked
rows, logs = sys.argv[1:]
with open(rows) as file:
    patch = json.loads(file.readline())["test_patch"]

def call(name, **arguments):
    output = ModelOutput.for_tool_call("mockllm/model", name, arguments)
    # Otherwise a tokenizer is fetched to count.
    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return output

apply = "git apply <<'END_OF_PATCH'\\n%s\\nEND_OF_PATCH\\npython -m pytest -q 2>&1 | tail -1" % patch
answers = []
for outputs in [
    [call("bash", command=apply), call("submit", answer="done")],
    [call("submit", answer="nothing")],
]:
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    [log] = eval("swt_bench.py", model=model, log_dir=logs, display="none")
    assert log.status == "success", log.error
    [sample] = log.samples
    said = [message.text for message in sample.messages if message.role == "tool"]
    score = sample.scores["reproduces"].value
    answers.append({"score": score, "said": "".join(said), "log": log.location})
print(json.dumps(answers))
`;
