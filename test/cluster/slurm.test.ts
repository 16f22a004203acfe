import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { cli, root, sample } from '../commandLine/cli';
import { manyIds, writeManyInstances } from '../commandLine/manyInstances';
import { skipSuite } from '../containers/skipping';
import { sameFilesBelow } from '../commandLine/runFolders';
import { SlurmCluster, slurmPrograms } from './slurmCluster';

const ids = manyIds(8);

describe('an array of Slurm', function () {
  let folder = '';
  let cluster: SlurmCluster | undefined;
  const at = (name: string): string => join(folder, name);

  before(async function () {
    const missing = [];
    for (const program of slurmPrograms) if (!(await isInstalled(program))) missing.push(program);
    if (missing.length > 0) skipSuite(this, `${missing.join(', ')} not installed`);
    if (process.getuid?.() !== 0) skipSuite(this, 'slurmd needs root');
    folder = await mkdtemp(join(tmpdir(), 'slurm-'));
    cluster = await SlurmCluster.start(folder, ['north', 'south']);
    await writeManyInstances(at('dataset.jsonl'), ids.length);
    const rows = ids.map((instance_id) =>
      JSON.stringify({ instance_id, model_name_or_path: 'patient', model_patch: patientTest }),
    );
    await writeFile(at('predictions.jsonl'), rows.join('\n'));
  });
  after(async () => {
    await cluster?.stop();
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  const evaluate = (out: string): string[] => [
    ...['evaluate', '--dataset', at('dataset.jsonl'), '--predictions', at('predictions.jsonl')],
    ...['--source', join(sample, 'repository'), '--out', out, '--workers', '1'],
  ];

  it('of which a node dies is what one machine would have written', async () => {
    assert.ok(cluster);
    const printed = await cli([
      ...['shards', '--slurm', '4', '--program', `${process.execPath} ${root}/dist/cli.js`],
      ...[...evaluate(at('sharded')), '--storage', at('storage')],
    ]);
    assert.equal(printed.status, 0, printed.stderr);
    await writeFile(at('array.sh'), printed.stdout);
    await cluster.client('sbatch', '--chdir', folder, at('array.sh'));
    const dying = await firstResultOn(cluster, 'south', at('sharded.shards'));
    await cluster.killNode('south');
    await untilRestarted(cluster, dying);
    await cluster.startNode('south');
    await untilEnded(cluster);
    const [, merge = ''] = /afterwards: (.*)/.exec(printed.stderr) ?? [];
    const merged = await shell(merge);
    assert.match(merged, /^run: 8 of 8 candidates, all 4 shards$/m);
    const whole = await cli([...evaluate(at('whole')), '--storage', at('storage')]);
    assert.equal(whole.status, 0, whole.stderr);
    const [got, expected] = [
      await sameFilesBelow(at('sharded')),
      await sameFilesBelow(at('whole')),
    ];
    assert.deepEqual([...got.keys()].sort(), [...expected.keys()].sort());
    for (const [path, content] of expected) assert.deepEqual(got.get(path), content, path);
  });
});

/** The first task on a node that has finished a candidate and has another one to do. */
async function firstResultOn(cluster: SlurmCluster, node: string, shards: string): Promise<string> {
  for (;;) {
    for (const job of await cluster.jobs()) {
      const journal = join(shards, job.task, 'runs', 'run', 'entries.jsonl');
      if (job.node !== node || job.state !== 'RUNNING' || !existsSync(journal)) continue;
      if ((await readFile(journal, 'utf8')).split('\n').length === 2) return job.task;
    }
    await sleep(50);
  }
}

async function untilRestarted(cluster: SlurmCluster, task: string): Promise<void> {
  while (!(await cluster.jobs()).some((job) => job.task === task && job.restarts > 0)) {
    await sleep(200);
  }
}

/** @throws AssertionError when a job ends in another state than done */
async function untilEnded(cluster: SlurmCluster): Promise<void> {
  for (;;) {
    const jobs = await cluster.jobs();
    const bad = jobs.filter(({ state }) => /FAILED|CANCELLED|TIMEOUT/.test(state));
    assert.deepEqual(bad, []);
    if (jobs.length > 0 && jobs.every(({ state }) => state === 'COMPLETED')) return;
    await sleep(200);
  }
}

const isInstalled = (program: string): Promise<boolean> =>
  new Promise((done) => execFile('which', [program], (error) => done(error === null)));

/** What a line prints; a failure rejects. */
const shell = async (line: string): Promise<string> =>
  (await promisify(execFile)('sh', ['-c', line])).stdout;

/** A test of which one run takes long enough for a node to die in it. */
const patientTest = [
  'diff --git a/tests/test_patient.py b/tests/test_patient.py',
  ...['new file mode 100644', '--- /dev/null', '+++ b/tests/test_patient.py', '@@ -0,0 +1,6 @@'],
  ...['+import time', '+', '+', '+def test_patient():', '+    time.sleep(3)', '+    assert True'],
  '',
].join('\n');
