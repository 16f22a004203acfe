import { join } from 'node:path';
import { openDataset } from '../../../src/dataset/dataset';
import { silent, type Reporter } from '../../../src/domain/work';
import type { Engine } from '../../../src/engine/engine';
import { localEngine } from '../../../src/engine/local/localEngine';
import { runStore } from '../../../src/evaluation/testRun';
import { openSession } from '../../../src/evaluation/session';
import { makeFolder } from '../../../src/files/wholeFile';
import { budgetOf } from '../../../src/method/models/budget';
import { modelView, type ModelView } from '../../../src/method/modelView';
import { Steps } from '../../../src/method/steps/steps';
import { openTrace, type MethodTrace } from '../../../src/method/trace';
import { createPythonParser } from '../../../src/python/parser';
import { sourceOf, type Sources } from '../../../src/repository/source';
import { prepareTrees } from '../../../src/repository/trees';
import { runTestPool } from './runTestPool';
import type { TestPool } from './testPool';
import { environments } from '../../../src/environments/environments';

/** Where the pools of instances come from. */
export interface PoolRequest {
  readonly dataset: string;
  readonly ids: readonly string[];
  readonly sources: Sources;
  /** Interpreters or environments, by repository as sources are. */
  readonly pythons: Sources;
  /** Tests and fixes of each pool, at most. */
  readonly tests: number;
  readonly fixes: number;
  /** Tests that run at once. */
  readonly workers: number;
  /** Folder for trees, kept runs and traces, so that a second call goes on where the first ended. */
  readonly folder: string;
}

const root = join(__dirname, '..', '..', '..');
/** Seconds that a run of tests may take. */
const timeoutSeconds = 300;

/** Runs the pools of instances on the local engine, one instance after the other. */
export async function openPools(request: PoolRequest, reporter: Reporter): Promise<TestPool[]> {
  const storage = join(request.folder, 'storage');
  const dataset = await openDataset(request.dataset, { storage, reporter: silent });
  const pools: TestPool[] = [];
  for (const instance of await dataset.read(request.ids)) {
    const source = await sourceOf(instance, request.sources);
    const trees = await prepareTrees(instance, source, storage, { reporter: silent });
    const parser = await createPythonParser((file) => join(root, 'dist', file));
    const tracer = join(root, 'src', 'engine', 'tracer');
    const python = request.pythons.get(instance.repo) ?? request.pythons.get('*');
    const engine = await localEngine({
      environments,
      storage,
      tracer,
      ...(python !== undefined && { python }),
    });
    const store = runStore(storage);
    const session = await openSession({ instance, trees, engine, python: parser, store });
    const view = await modelView(instance, {
      ...{ trees, python: parser, store },
      ...{ engine: () => Promise.resolve(engine), permit: () => undefined },
    });
    await makeFolder(request.folder);
    const trace = await openTrace(join(request.folder, `${instance.id}.jsonl`), {
      readOnly: false,
      told: (line) => reporter.log(line),
    });
    try {
      const steps = stepsWithoutModel(instance.id, { view, trace, engine, request, reporter });
      const runOptions = { timeoutSeconds, reuse: true, reporter: silent };
      pools.push(await runTestPool({ instance, session, view, steps, runOptions }, request));
    } finally {
      await trace.close();
      await view.dispose();
      await session.dispose();
      await engine.dispose();
      parser.dispose();
    }
  }
  const missing = request.ids.filter((id) => pools.every((pool) => pool.id !== id));
  if (missing.length > 0) throw new Error(`${request.dataset} does not have ${missing.join(', ')}`);
  return pools;
}

/** Steps of which only runs are used. */
function stepsWithoutModel(
  id: string,
  {
    view,
    trace,
    engine,
    request,
    reporter,
  }: {
    readonly view: ModelView;
    readonly trace: MethodTrace;
    readonly engine: Engine;
    readonly request: PoolRequest;
    readonly reporter: Reporter;
  },
): Steps {
  const now = <T>(work: () => Promise<T>): Promise<T> => work();
  const nothing = (): Promise<never> => Promise.reject(new Error('nothing is asked here'));
  return new Steps({
    instance: { id, repo: view.repo, issue: view.issue },
    live: {
      ...{ model: { name: 'none', complete: nothing }, view: () => Promise.resolve(view) },
      ...{ oracle: nothing, inTurn: now, inEmbedding: now, inSandbox: now, inBuilding: now },
      runs: request.workers,
    },
    ...{ model: 'none', trace, budget: budgetOf({}), price: undefined, storage: request.folder },
    ...{ contextTokens: 0, maxOutputTokens: 0, testsOnly: false, engine: engine.description },
    ...{ timeoutSeconds, reporter },
  });
}
