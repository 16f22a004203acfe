import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { cli, root, sample, scratch, type Answer } from './cli';
import { manyIds, writeManyInstances } from './manyInstances';

/** What the test reads of a Job. */
interface Job {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly completions: number;
    readonly parallelism: number;
    readonly template: {
      readonly spec: {
        readonly serviceAccountName?: string;
        readonly automountServiceAccountToken?: boolean;
        readonly containers: readonly [
          { readonly command: readonly string[]; readonly workingDir: string },
        ];
      };
    };
  };
}

describe('jobs of shards', () => {
  const folder = scratch();
  let dataset = '';
  const at = (name: string): string => join(folder.path, name);
  const program = `'${process.execPath}' '${join(root, 'dist', 'cli.js')}'`;
  const evaluate = (out: string): string[] => [
    ...['evaluate', '--dataset', dataset, '--predictions', 'gold', '--out', out],
    ...['--source', join(sample, 'repository')],
  ];
  const shell = (
    command: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Answer> => {
    const [file = '', ...args] = command;
    return new Promise((resolve) =>
      execFile(file, args, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      ),
    );
  };

  before(async () => {
    dataset = at('dataset.jsonl');
    await writeManyInstances(dataset, 2);
  });

  it('of Slurm run each shard, and the command that is told merges them @full', async () => {
    const answer = await cli([
      ...['shards', '--slurm', '2', '--at-once', '1', '--program', program],
      ...[...evaluate(at("a run's place")), '--storage', at('storage')],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /^#SBATCH --array=1-2%1$/m);
    assert.match(answer.stdout, /^#SBATCH --job-name=swt-bench-a-run-s-place$/m);
    assert.doesNotMatch(answer.stdout, /podman/);
    await writeFile(at('array.sh'), answer.stdout);
    for (const task of ['1', '2']) {
      const ran = await shell(['bash', at('array.sh')], at('.'), { SLURM_ARRAY_TASK_ID: task });
      assert.equal(ran.status, 0, ran.stderr);
    }
    const [, merge = ''] = /have finished, run: (.*)/.exec(answer.stderr) ?? [];
    const merged = await shell(['sh', '-c', merge], at('.'), {});
    assert.equal(merged.status, 0, merged.stderr);
    assert.match(merged.stdout, /^run: 2 of 2 candidates, all 2 shards$/m);
    assert.ok(existsSync(at("a run's place/runs/run/run.json")));
  });

  it('keep what is done when they are told to end', async () => {
    const predictions = await folder.file(
      'slow.jsonl',
      manyIds(2)
        .map((instance_id) =>
          JSON.stringify({
            ...{ instance_id, model_name_or_path: 'slow' },
            model_patch: slowTest(at('begun')),
          }),
        )
        .join('\n'),
    );
    const { stdout } = await cli([
      ...['shards', '--slurm', '1', '--program', program, 'evaluate', '--dataset', dataset],
      ...['--predictions', predictions, '--out', at('ended'), '--workers', '1'],
      ...['--source', join(sample, 'repository'), '--storage', at('storage')],
    ]);
    // The job ends itself as soon as a test runs.
    const lines = stdout.split('\n');
    const start = lines.findIndex((line) => line.startsWith('trap')) + 1;
    const end = `(until [ -e '${at('begun')}' ]; do kill -0 $$ || exit; sleep 0.1; done; kill -TERM $$) &`;
    lines.splice(start, 0, end);
    await writeFile(at('ended.sh'), lines.join('\n'));
    const ran = await shell(['bash', at('ended.sh')], at('.'), { SLURM_ARRAY_TASK_ID: '1' });
    assert.equal(ran.status, 130, ran.stderr);
    assert.ok(!existsSync(at('ended.shards/1/runs/run/live.json')));
    assert.ok(existsSync(at('ended.shards/1/runs/run/run.json')));
  });

  it('of Slurm start Podman for containers, unless an engine is named', async () => {
    const of = async (...more: string[]): Promise<string> =>
      (await cli(['shards', '--slurm', '2', ...evaluate('x'), '--engine', 'docker', ...more]))
        .stdout;
    assert.match(await of(), /podman system service/);
    assert.doesNotMatch(await of('--docker-host', 'unix:///run/other.sock'), /podman/);
    assert.match(await of(), /--storage "\$\{TMPDIR:-\/tmp\}/);
  });

  it('of Kubernetes run each shard on the volume', async () => {
    const volume = at('volume');
    await mkdir(volume);
    const answer = await cli([
      ...['shards', '--kubernetes', '2', '--image', 'registry.example/swt-bench:1'],
      ...['--claim', 'work', '--mount', volume, '--program', program],
      ...[...evaluate('runs/first'), '--storage', at('storage')],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    const job = parse(answer.stdout) as Job;
    assert.equal(job.metadata.name, 'swt-bench-first');
    assert.equal(job.spec.completions, 2);
    assert.equal(job.spec.parallelism, 2);
    const { containers, automountServiceAccountToken } = job.spec.template.spec;
    assert.equal(automountServiceAccountToken, false);
    for (const index of ['0', '1']) {
      const { command, workingDir } = containers[0];
      const ran = await shell(command, workingDir, { JOB_COMPLETION_INDEX: index });
      assert.equal(ran.status, 0, ran.stderr);
    }
    const [, merge = ''] = /have finished, run: (.*)/.exec(answer.stderr) ?? [];
    const merged = await shell(['sh', '-c', merge], volume, {});
    assert.equal(merged.status, 0, merged.stderr);
    const manifest: unknown = JSON.parse(
      await readFile(join(volume, 'runs/first/runs/run/run.json'), 'utf8'),
    );
    assert.ok(manifest);
  });

  it('of commands that write predictions put them into the folder of each shard', async () => {
    const { stdout, stderr } = await cli([
      ...['shards', '--kubernetes', '3', '--image', 'i', '--claim', 'c', '--secret', 'keys'],
      ...['generate', '--dataset', dataset, '--method', 'zero-shot', '--model', 'openai/m'],
      ...['--budget', '2.5', '--out=answers.jsonl'],
    ]);
    assert.match(stdout, /--out answers\.jsonl\.shards\/"\$shard"\/answers\.jsonl &/);
    assert.match(stdout, /secretRef:\n +name: keys/);
    assert.match(stderr, /all 3 together may spend up to \$7\.50/);
    assert.match(stderr, /merge answers\.jsonl\.shards\/\* --out \.$/m);
  });

  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['no system', ['evaluate'], /Use either --slurm N or --kubernetes N/],
    ['two systems', ['--slurm', '1', '--kubernetes', '1', 'evaluate'], /jobs for one system/],
    ['a command without shards', ['--slurm', '2', 'validate'], /validate cannot be split/],
    [
      'a shard',
      ['--slurm', '2', 'evaluate', '--shard', 'auto'],
      /--shard cannot be used with shards/,
    ],
    [
      'an unknown option',
      [
        '--slurm',
        '2',
        'evaluate',
        '--dataset',
        'x',
        '--predictions',
        'y',
        '--out',
        'z',
        '--no-such',
      ],
      /unknown option/,
    ],
    [
      'no place',
      ['--slurm', '2', 'evaluate', '--dataset', 'x', '--predictions', 'y'],
      /Specify it with --out/,
    ],
    [
      'no image',
      ['--kubernetes', '2', 'evaluate', '--dataset', 'x', '--predictions', 'y', '--out', 'z'],
      /--image and --claim/,
    ],
    [
      'results beside the volume',
      [
        ...['--kubernetes', '2', '--image', 'i', '--claim', 'c'],
        ...['evaluate', '--dataset', 'x', '--predictions', 'y', '--out', '/tmp/z'],
      ],
      /not on the volume/,
    ],
    [
      'a name that is none',
      [
        ...['--slurm', '2', '--name', 'A run'],
        ...['evaluate', '--dataset', 'x', '--predictions', 'y', '--out', 'z'],
      ],
      /is not a valid job name/,
    ],
  ];
  for (const [what, args, message] of wrong) {
    it(`refuse ${what}`, async () => {
      const { status, stdout, stderr } = await cli(['shards', ...args]);
      assert.notEqual(status, 0);
      assert.equal(stdout, '');
      assert.match(stderr, message);
    });
  }
});

/** A test for any runner, which makes a file and then runs for long. */
const slowTest = (mark: string): string =>
  [
    'diff --git a/tests/test_slow.py b/tests/test_slow.py',
    ...['new file mode 100644', '--- /dev/null', '+++ b/tests/test_slow.py', '@@ -0,0 +1,8 @@'],
    ...['+import time', '+import unittest', '+', '+', '+class Slow(unittest.TestCase):'],
    ...['+    def test_slow(self):', `+        open(${JSON.stringify(mark)}, "w")`],
    ...['+        time.sleep(600)', ''],
  ].join('\n');
