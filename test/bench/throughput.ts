// How many instances an hour a batch grades with the docker engine, compared with six plain runs of
// each. As in the reference harness, the plain runs follow one another, each in a new container
// with reinstallation. The images exist before either begins. A benchmark, not a test:
// `npm run bench -- throughput --dataset F --ids A,B --source REPOSITORY [--base-image IMAGE] [--workers N]`
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { environments } from '../../src/environments/environments';
import { openDataset } from '../../src/dataset/dataset';
import { silent } from '../../src/domain/work';
import { connect } from '../../src/engine/docker/connection/connect';
import { dockerSettings } from '../../src/engine/docker/dockerSettings';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import { runBatch } from '../../src/batch/runBatch';
import { workersFor } from '../../src/batch/workersFor';
import { goldenSetOf } from '../../src/evaluation/goldenTests';
import { runStore } from '../../src/evaluation/testRun';
import { openSession } from '../../src/evaluation/session';
import { createPythonParser } from '../../src/python/parser';
import { sourceOf, parseSources } from '../../src/repository/source';
import { prepareTrees } from '../../src/repository/trees';
import { sixPlainRuns, type Bench } from './plainContainers';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    dataset: { type: 'string' },
    ids: { type: 'string' },
    source: { type: 'string', multiple: true },
    'base-image': { type: 'string' },
    storage: { type: 'string' },
    workers: { type: 'string' },
  },
});
const root = resolve(__dirname, '..', '..');
const scratch = mkdtempSync(join(root, '.cache', 'bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const line = (what: string, instances: number, ms: number, note = ''): void =>
  console.log(
    `${what.padEnd(58)} ${(ms / 1000).toFixed(1).padStart(7)} s ` +
      `${Math.round((instances * 3_600_000) / ms)
        .toString()
        .padStart(6)} instances/hour   ${note}`,
  );

async function main(): Promise<void> {
  const { dataset: name, ids, source = [] } = values;
  if (name === undefined || ids === undefined) throw new Error('name --dataset and --ids');
  const storage = values.storage ?? join(scratch, 'storage');
  const baseImage = values['base-image'];
  const settings = dockerSettings.read(baseImage === undefined ? {} : { baseImage });
  const dataset = await openDataset(name, { storage, reporter: silent });
  const instances = await dataset.read(ids.split(','));
  const sources = parseSources(source);
  const python = await createPythonParser((file) => join(root, 'dist', file));
  const connection = await connect({});
  const assets = join(root, 'dist');
  const engine = await openEngine({
    engines,
    environments,
    name: 'docker',
    storage,
    assets,
    values: { docker: settings },
  });
  try {
    const work = { reporter: silent };
    const plans = [];
    for (const instance of instances) {
      const trees = await prepareTrees(instance, await sourceOf(instance, sources), storage, work);
      const image = await environments.instanceImage(
        { connection, instance, trees, settings, storage },
        work,
      );
      const bench: Bench = { docker: connection.docker, image, instance, trees };
      // Only to learn the command that runs the golden test files.
      const store = runStore(join(scratch, 'plans'));
      const session = await openSession({ instance, trees, engine, python, store });
      const options = { timeoutSeconds: 3600, reporter: silent, reuse: false };
      const set = await goldenSetOf(session);
      plans.push({ bench, plan: (await session.run(set, options)).plan });
      await session.dispose();
    }

    const batch = async (workers: number): Promise<number> => {
      const started = performance.now();
      const { entries } = await runBatch({
        instances,
        predictions: instances.map((instance) => ({
          instanceId: instance.id,
          model: 'gold',
          patch: instance.goldenTests,
        })),
        engine,
        python,
        store: runStore(join(scratch, `runs-${workers}`)),
        sources,
        storage,
        workers,
        timeoutSeconds: 1800,
        format: 'unified',
        formats: [],
        mode: 'unit-test',
        fresh: true,
        reporter: silent,
      }).done;
      const ms = performance.now() - started;
      const graded = entries.filter((entry) => entry.evaluated).length;
      const solved = entries.filter((entry) => entry.success).length;
      line(
        `batch of golden tests, ${workers} at once`,
        instances.length,
        ms,
        `${graded} of ${instances.length} graded, ${solved} successes`,
      );
      return ms;
    };
    const usual = workersFor(engine);
    const counts = [...new Set([1, values.workers === undefined ? usual : Number(values.workers)])];
    const times = [];
    for (const workers of counts) times.push(await batch(workers));

    const started = performance.now();
    for (const { bench, plan } of plans) await sixPlainRuns(bench, plan);
    const six = performance.now() - started;
    line(
      'six plain runs of each, with reinstallation',
      instances.length,
      six,
      `the batch is ${(six / Math.min(...times)).toFixed(1)} times faster`,
    );
  } finally {
    await engine.dispose();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
