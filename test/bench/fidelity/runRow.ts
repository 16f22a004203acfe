import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { harnessTransitions, type TransitionLists } from '../../../src/domain/harness';
import type { Instance } from '../../../src/domain/instance';
import { silent } from '../../../src/domain/reporter';
import { withEngine } from '../../../src/engine/openEngine';
import { sweBenchParserOf } from '../../../src/engine/runners/sweBenchParserOf';
import { runStore } from '../../../src/evaluation/runStore';
import { openSession, type InstanceSession } from '../../../src/evaluation/session';
import { harnessRuns, runSet, type SetRun } from '../../../src/evaluation/testSetRuns';
import { createPythonParser } from '../../../src/python/parser';
import { parseSources, sourceOf } from '../../../src/repository/source';
import { instanceFolder } from '../../../src/repository/storage';
import { prepareTrees } from '../../../src/repository/trees';
import { reportSchema, type Report } from '../../../src/results/reportSchema';
import { causeOf, differingTests, type ExplainedCause, type RowEvidence } from './fidelityCauses';
import type { FidelityRow } from './fidelityRow';
import { harnessPython } from './harnessPython';

/** How rows are run, the same for all of them. */
export interface RowOptions {
  readonly root: string;
  readonly dataset: string;
  readonly storage: string;
  /** Folder for what the bench itself makes. */
  readonly scratch: string;
  readonly timeoutSeconds: number;
  /** Folder of `evaluate --predictions gold --out`, whose results are used where it has some. */
  readonly from?: string | undefined;
  /** Tell causes by logs alone, without further runs. */
  readonly isQuick: boolean;
  /** Causes found by hand, by row and test. */
  readonly byHand: Readonly<Record<string, Readonly<Record<string, ExplainedCause>>>>;
}

/** What is decided about a row before it runs. */
export interface RowPlan {
  readonly instance: Instance;
  readonly engine: 'local' | 'docker';
  /** For `--source`. */
  readonly source: string;
  readonly isRelease: boolean;
  /** Interpreter of the environment that was made for it. */
  readonly python?: string | undefined;
}

type Result = Pick<
  FidelityRow,
  'notRun' | 'resolved' | 'strictSuccess' | 'differing' | 'tried' | 'environment' | 'packageDay'
> & {
  readonly bytes: number;
  /** Of the evaluation, where it was not made now. */
  readonly seconds?: number | undefined;
};

/** Evaluates the golden tests of a row with the command line, and tells why lists differ. */
export async function runRow(plan: RowPlan, options: RowOptions): Promise<Result> {
  const out = await mkdtemp(join(tmpdir(), 'swt-bench-fidelity-'));
  try {
    const known = await reportIn(plan.instance.id, options.from);
    const report = known?.report ?? (await evaluated(plan, options, out));
    const bytes = await bytesBelow(instanceFolder(options.storage, plan.instance.id));
    const { environment, tests_gold: lists } = report;
    const about = {
      bytes,
      ...(environment && { environment: environment.description }),
      ...(environment?.package_day && { packageDay: environment.package_day }),
    };
    const notRun = whyNotRun(report);
    if (lists === undefined || notRun !== undefined) {
      return { ...about, notRun: notRun ?? report.explanation };
    }
    const python = environment?.interpreter;
    const logs = await logsIn(known?.folder ?? out, plan.instance.id);
    const { differing, tried } = await explained({ ...plan, python }, lists, options, logs);
    const { resolved, strict } = report;
    const { seconds } = report;
    const ran = { resolved, strictSuccess: strict?.success ?? false, differing, tried };
    return { ...about, ...ran, ...(known !== undefined && { seconds }) };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

const documentSchema = z.object({ results: z.array(reportSchema).min(1) });

async function evaluated(plan: RowPlan, options: RowOptions, out: string): Promise<Report> {
  const { instance, engine, source } = plan;
  const { root, dataset, storage, timeoutSeconds } = options;
  const args = [
    ...[join(root, 'dist', 'cli.js'), 'evaluate', '--json', '--dataset', dataset],
    ...['--ids', instance.id, '--predictions', 'gold', '--engine', engine, '--out', out],
    ...(engine === 'local' ? ['--python', 'auto'] : []),
    ...['--source', `${instance.repo}=${source}`, '--storage', storage, '--workers', '1'],
    ...['--timeout', String(timeoutSeconds)],
  ];
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 1 << 30 }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
  try {
    const [report] = documentSchema.parse(JSON.parse(stdout)).results;
    if (report !== undefined) return report;
    throw new Error('no result');
  } catch (error) {
    throw new Error(`evaluate did not answer about ${instance.id}: ${stderr.slice(-500)}`, {
      cause: error,
    });
  }
}

/** Why nothing can be said about the lists of a row; undefined where its tests ran. */
function whyNotRun({ error, reason, explanation, tests_gold: lists }: Report): string | undefined {
  if (error !== undefined) return `${reason}: ${error}`;
  if (lists === undefined) return `${reason}: ${explanation}`;
  const ran = lists.FAIL_TO_PASS.length + lists.PASS_TO_PASS.length;
  return ran === 0 ? `no test passes on R∘X*: ${explanation}` : undefined;
}

interface Explained {
  readonly differing: NonNullable<FidelityRow['differing']>;
  readonly tried: string[];
}

/** Finds the causes of differences. Runs the golden tests again only where the log is not enough. */
async function explained(
  plan: RowPlan,
  lists: TransitionLists,
  options: RowOptions,
  logs: RowEvidence['logs'],
): Promise<Explained> {
  const { instance } = plan;
  const { failToPass = [], passToPass = [] } = instance;
  const row = { FAIL_TO_PASS: failToPass, PASS_TO_PASS: passToPass };
  const differing = differingTests(row, lists);
  if (differing.length === 0) return { differing: [], tried: [] };
  const byHand = options.byHand[instance.id];
  let evidence: RowEvidence = {
    ...{ logs, bySweBench: bySweBench(instance, logs), isRelease: plan.isRelease, byHand },
    ...{ again: [], otherSeeds: [] },
  };
  const told = () => differing.map((each) => ({ ...each, ...causeOf(each, evidence) }));
  const tried: string[] = [];
  if (options.isQuick) return { differing: told(), tried };
  if (told().some(({ cause }) => cause === 'unexplained')) {
    const runs = await runsWithSeeds(plan, options, [0, 1, 2]);
    const [again, ...otherSeeds] = runs;
    evidence = { ...evidence, again: again === undefined ? [] : [again], otherSeeds };
    tried.push('the same seed again', 'PYTHONHASHSEED 1 and 2');
  }
  if (plan.engine === 'local' && told().some(({ cause }) => cause === 'unexplained')) {
    const asHarness = await runAsHarness(plan, options);
    tried.push(asHarness === undefined ? 'no packages of the harness known' : asHarness.what);
    evidence = { ...evidence, asHarness };
  }
  return { differing: told(), tried };
}

/** The result of a row in a folder of results; undefined where it has none. */
async function reportIn(
  id: string,
  from: string | undefined,
): Promise<{ readonly report: Report; readonly folder: string } | undefined> {
  if (from === undefined) return undefined;
  const runs = join(from, 'run_instance_swt_logs');
  for (const run of await readdir(runs)) {
    const text = await readFile(join(runs, run, 'gold', id, 'report.json'), 'utf8').catch(() => '');
    if (text === '') continue;
    const document = z.record(z.string(), reportSchema).parse(JSON.parse(text));
    const report = document[id];
    if (report !== undefined) return { report, folder: join(runs, run) };
  }
  return undefined;
}

async function logsIn(out: string, id: string): Promise<RowEvidence['logs']> {
  const files = (await readdir(out, { recursive: true })).filter(
    (path) => path.endsWith('test_output.txt') && path.includes(id),
  );
  const read = async (part: string): Promise<string> => {
    const file = files.find((path) => path.includes(part));
    return file === undefined ? '' : readFile(join(out, file), 'utf8');
  };
  return { base: await read('pred_pre__'), fixed: await read('pred_post__') };
}

function bySweBench(instance: Instance, logs: RowEvidence['logs']): TransitionLists | undefined {
  const parse = sweBenchParserOf(instance);
  return parse && harnessTransitions(parse(logs.base), parse(logs.fixed));
}

/** The lists of golden tests with other seeds, or the same one again; no kept run is used. */
function runsWithSeeds(
  plan: RowPlan,
  options: RowOptions,
  seeds: readonly number[],
): Promise<TransitionLists[]> {
  return withGoldenRuns(plan, options, 'auto', async (session, golden) => {
    const lists: TransitionLists[] = [];
    for (const hashSeed of seeds) lists.push(listsOf(session, await golden(hashSeed)));
    return lists;
  });
}

async function runAsHarness(plan: RowPlan, options: RowOptions): Promise<RowEvidence['asHarness']> {
  const { instance, python } = plan;
  const made = python === undefined ? undefined : await harnessPython(instance, python, options);
  if (made === undefined) return undefined;
  const lists = await withGoldenRuns(plan, options, made.python, async (session, golden) =>
    listsOf(session, await golden(0)),
  );
  return { lists, what: made.what };
}

const listsOf = (session: InstanceSession, run: SetRun): TransitionLists => {
  const { pre, post } = harnessRuns(session, run);
  return harnessTransitions(pre.statuses, post.statuses);
};

async function withGoldenRuns<T>(
  { instance, engine: name, source }: RowPlan,
  { root, storage, timeoutSeconds }: RowOptions,
  python: string,
  work: (session: InstanceSession, golden: (hashSeed: number) => Promise<SetRun>) => Promise<T>,
): Promise<T> {
  const assets = join(root, 'dist');
  return withEngine({ name, storage, assets, python }, async (engine) => {
    const sources = parseSources([`${instance.repo}=${source}`]);
    const reporter = silent;
    const trees = await prepareTrees(instance, await sourceOf(instance, sources), storage, {
      reporter,
    });
    const parser = await createPythonParser((file) => join(root, 'dist', file));
    const store = runStore(storage);
    const session = await openSession({ instance, trees, engine, python: parser, store });
    try {
      return await work(session, (hashSeed) =>
        runSet(
          session,
          { patch: instance.goldenTests, files: session.goldenFiles },
          { timeoutSeconds, hashSeed, reuse: false, reporter },
        ),
      );
    } finally {
      await session.dispose();
    }
  });
}

/** Bytes of the files below a folder; 0 where there is none. */
function bytesBelow(folder: string): Promise<number> {
  return new Promise((resolve) => {
    execFile('du', ['-sk', folder], (_error, stdout) =>
      resolve(1024 * (parseInt(stdout, 10) || 0)),
    );
  });
}
