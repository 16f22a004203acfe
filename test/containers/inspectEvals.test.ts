import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cli, sample, type Evaluation } from '../commandLine/cli';
import { lostCent, lostCentPath } from '../commandLine/lostCent';
import { bundledRow } from '../commandLine/recordedSession';
import { needDocker } from './dockerForTests';
import { certifiedBase, fieldEnvironment, withCompose } from './toolsOfTheField';

const run = promisify(execFile);
const image = 'swt-test/inspect-evals:latest';

/**
 * The task of inspect_evals itself, with its agent, its scorer and SWE-bench's graders. Its dataset and
 * images are on servers: here the dataset is a row on disk, which has the name of a repository that
 * SWE-bench knows, and the image is made of the bundled repository.
 */
describe("inspect_evals' SWE-bench task @full", () => {
  let folder = '';
  let logs = '';
  let env: NodeJS.ProcessEnv = process.env;
  let environment = '';

  before(async function () {
    await needDocker(this, ['3.11']);
    env = await withCompose(this);
    const packages = ['inspect-ai==0.3.285', 'inspect-evals==0.26.0', 'swebench==4.1.0'];
    environment = await fieldEnvironment(this, packages);
    folder = await mkdtemp(join(tmpdir(), 'swt-inspect-evals-'));
    logs = join(folder, 'logs');
    await imageOf(join(folder, 'image'), await certifiedBase(['3.11']));
    const row = { ...(await bundledRow()), repo: 'pytest-dev/pytest', version: '7.2' };
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'data', 'test.jsonl'), `${JSON.stringify(row)}\n`);
    await writeFile(join(folder, 'scripted.py'), scripted);
    await run(
      join(environment, 'bin', 'python'),
      [join(folder, 'scripted.py'), join(folder, 'data'), image, logs, lostCentPath, lostCent],
      {
        env: {
          ...env,
          ...{ XDG_CACHE_HOME: join(folder, 'cache'), HF_HOME: join(folder, 'hf') },
          HF_HUB_OFFLINE: '1',
        },
        maxBuffer: 1 << 26,
      },
    );
  });
  after(async () => {
    if (folder !== '') await rm(folder, { recursive: true, force: true });
    await run('docker', ['rmi', '-f', image]).catch(() => undefined);
  });

  const logOf = async (ending: string): Promise<string> => {
    const name = (await readdir(logs)).find((each) => each.endsWith(ending));
    assert.ok(name !== undefined, ending);
    return join(logs, name);
  };

  /** What `inspect log dump` prints. */
  const dumped = async (): Promise<string> => {
    const path = join(folder, 'dumped.json');
    const inspect = join(environment, 'bin', 'inspect');
    const of = ['log', 'dump', await logOf('.eval')];
    await writeFile(path, (await run(inspect, of, { maxBuffer: 1 << 26 })).stdout);
    return path;
  };

  for (const [what, find] of [
    ['.eval', () => logOf('.eval')],
    ['JSON', () => logOf('.json')],
    ['dumped', dumped],
  ] as const)
    it(`leaves a log that is shown and graded: ${what}`, async () => {
      const log = await find();
      const shown = await cli(['trajectory', log]);
      assert.equal(shown.status, 0, shown.stderr);
      assert.match(shown.stdout, /^tallybook__tallybook-217 · inspect_ai · mockllm\/model$/m);
      assert.match(shown.stdout, /action +python code: open\(/);
      const graded = await cli([
        ...['evaluate', '--json', '--dataset', 'bundled', '--predictions', log],
        ...['--out', join(folder, `results of ${what}`), '--storage', join(folder, 'storage')],
      ]);
      assert.equal(graded.status, 0, graded.stderr);
      const [result] = (JSON.parse(graded.stdout) as Evaluation).results;
      assert.equal(result?.strict?.success, true);
    });
});

/** An image as those of SWE-bench: R in /testbed, and a conda, here one without environments. */
async function imageOf(place: string, base: string): Promise<void> {
  await mkdir(place);
  await cp(join(sample, 'repository'), join(place, 'repository'), { recursive: true });
  const lines = [
    `FROM ${base.replace('{python}', '3.11')}`,
    'RUN pip install -q pytest==8.3.5',
    'COPY repository /testbed',
    "RUN mkdir -p /opt/miniconda3/bin && echo 'conda() { :; }' > /opt/miniconda3/bin/activate",
    'WORKDIR /testbed',
    'RUN git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm R',
  ];
  await writeFile(join(place, 'Dockerfile'), lines.join('\n'));
  await run('docker', ['build', '-q', '-t', image, place]);
}

/**
 * Runs the task with a model that says what is written here. The check of the engine's version is
 * off: inspect_ai asks for Docker 24.0.6, and nothing here needs more than 20.10 has.
 */
const scripted = `
import sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.util._sandbox.docker import prereqs
from inspect_evals.swe_bench import swe_bench

async def unchecked(*_):
    pass

prereqs.validate_docker_engine = unchecked
data, image, logs, path, test = sys.argv[1:]

def call(name, **arguments):
    output = ModelOutput.for_tool_call("mockllm/model", name, arguments)
    # Otherwise a tokenizer is fetched to count.
    output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return output

code = "open(%r, 'w').write(%r)" % (path, test)
for format in ["eval", "json"]:
    outputs = [call("python", code=code), call("submit", answer="done")]
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    task = swe_bench(dataset=data, revision="main", image_name_template=image)
    [log] = eval(task, model=model, log_dir=logs, log_format=format, display="none")
    assert log.status == "success", log.error
`;
