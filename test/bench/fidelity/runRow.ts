import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { z } from 'zod';
import { harnessTransitions, type TransitionLists } from '../../../src/domain/harness';
import type { Instance } from '../../../src/domain/instance';
import { sweBenchParserOf } from '../../../src/engine/runners/sweBenchParserOf';
import { writeWholeFile } from '../../../src/files/wholeFile';
import { instanceFolder } from '../../../src/repository/storage';
import {
  goldenResult,
  goldenResultSchema,
  listsOf,
  withGoldenSession,
  type GoldenOptions,
  type GoldenPlan,
  type GoldenResult,
} from './goldenResult';
import { causeOf, differingTests, type ExplainedCause, type RowEvidence } from './fidelityCauses';
import type { FidelityRow } from './fidelityRow';
import { harnessPython } from './harnessPython';

/** How rows are run, the same for all of them. */
export interface RowOptions extends GoldenOptions {
  /** Folder for what the bench itself makes. */
  readonly scratch: string;
  /** Run also where a result is kept. */
  readonly isFresh: boolean;
  /** Tell causes by logs alone, without further runs. */
  readonly isQuick: boolean;
  /** Causes found by hand, by row and test. */
  readonly byHand: Readonly<Record<string, Readonly<Record<string, ExplainedCause>>>>;
}

/** What is decided about a row before it runs. */
export interface RowPlan extends Omit<GoldenPlan, 'python'> {
  readonly isRelease: boolean;
  /** Digest of what the result of the golden tests depends on. */
  readonly key: string;
  /** An environment of the same version, which is tried before one is made for the row. */
  readonly shared?: string | undefined;
}

/** What a row needs of the outside, so that tests can stand in for it. */
export interface RowWork {
  readonly goldenResult: typeof goldenResult;
  readonly furtherRuns: typeof furtherRuns;
}

/** What is known of a row after it was tried. */
export type RowResult = Pick<
  FidelityRow,
  | 'notRun'
  | 'resolved'
  | 'strictSuccess'
  | 'differing'
  | 'tried'
  | 'environment'
  | 'packageDay'
  | 'interpreter'
  | 'environmentBytes'
> & { readonly bytes: number };

/**
 * Runs the golden tests of a row, and tells why lists differ. The environment of another row of the
 * version comes first, as in the harness. Where lists then differ in more than the log, or nothing
 * runs, the row gets one of its own. Results are kept, so that other rules can tell causes again.
 */
export async function runRow(
  plan: RowPlan,
  options: RowOptions,
  work: RowWork = { goldenResult, furtherRuns },
): Promise<RowResult> {
  const { instance } = plan;
  const folder = join(options.scratch, 'results', instance.id);
  let result = await keptResult(folder, plan, options);
  if (result === undefined) {
    result = await newResult(plan, options, work);
    await mkdir(folder, { recursive: true });
    const kept = JSON.stringify({ key: plan.key, result });
    await writeWholeFile(join(folder, 'result.json'), kept);
  }
  const { environment, packageDay, lists, logs, notRun } = result;
  const made = environment && madeFolder(environment.interpreter, options.storage);
  const about = {
    bytes: await bytesBelow(instanceFolder(options.storage, instance.id)),
    ...(environment && { environment: environment.description }),
    ...(environment && { interpreter: environment.interpreter }),
    ...(made !== undefined && { environmentBytes: await bytesBelow(made) }),
    ...(packageDay && { packageDay }),
  };
  if (lists === undefined || logs === undefined) return { ...about, notRun: notRun ?? 'no run' };
  const { resolved, strictSuccess } = result;
  const python = environment?.interpreter ?? 'auto';
  const found = await explained({ ...plan, python }, { lists, logs }, options, work);
  return { ...about, resolved, strictSuccess, ...found };
}

const keptSchema = z.object({ key: z.string(), result: goldenResultSchema });

/** The kept result of a row, unless it is of something else or did not run. */
async function keptResult(
  folder: string,
  { key }: RowPlan,
  { isFresh }: RowOptions,
): Promise<GoldenResult | undefined> {
  if (isFresh) return undefined;
  const text = await readFile(join(folder, 'result.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const kept = keptSchema.parse(JSON.parse(text));
  return kept.key === key && kept.result.lists !== undefined ? kept.result : undefined;
}

async function newResult(plan: RowPlan, options: RowOptions, work: RowWork): Promise<GoldenResult> {
  const { shared } = plan;
  if (shared === undefined) return work.goldenResult({ ...plan, python: 'auto' }, options);
  const result = await work
    .goldenResult({ ...plan, python: shared }, options)
    .catch(() => undefined);
  if (result !== undefined && agreesButForLog(plan, result)) return result;
  return work.goldenResult({ ...plan, python: 'auto' }, options);
}

/** Whether the lists are those of the row, or differ only as its log does. */
function agreesButForLog({ instance }: RowPlan, { lists, logs }: GoldenResult): boolean {
  if (lists === undefined || logs === undefined) return false;
  const evidence = evidenceOf({ instance, isRelease: false }, logs);
  return differingTests(listsOfRow(instance), lists).every(
    (each) => causeOf(each, evidence).cause === "artefact of the dataset's log",
  );
}

const listsOfRow = ({ failToPass = [], passToPass = [] }: Instance) => ({
  FAIL_TO_PASS: failToPass,
  PASS_TO_PASS: passToPass,
});

const evidenceOf = (
  { instance, isRelease }: Pick<RowPlan, 'instance' | 'isRelease'>,
  logs: RowEvidence['logs'],
): RowEvidence => ({
  ...{ logs, bySweBench: bySweBench(instance, logs), isRelease },
  ...{ again: [], otherSeeds: [] },
});

function bySweBench(instance: Instance, logs: RowEvidence['logs']): TransitionLists | undefined {
  const parse = sweBenchParserOf(instance);
  return parse && harnessTransitions(parse(logs.base), parse(logs.fixed));
}

/** Finds the causes of differences. Runs the golden tests again only where the log is not enough. */
async function explained(
  plan: RowPlan & GoldenPlan,
  { lists, logs }: { readonly lists: TransitionLists; readonly logs: RowEvidence['logs'] },
  options: RowOptions,
  work: RowWork,
): Promise<Pick<FidelityRow, 'differing' | 'tried'>> {
  const { instance } = plan;
  const differing = differingTests(listsOfRow(instance), lists);
  const byHand = options.byHand[instance.id];
  let evidence: RowEvidence = { ...evidenceOf(plan, logs), byHand };
  const told = () => differing.map((each) => ({ ...each, ...causeOf(each, evidence) }));
  const isToldAll = (): boolean => told().every(({ cause }) => cause !== 'unexplained');
  const tried: string[] = [];
  for (const further of options.isQuick ? [] : work.furtherRuns) {
    if (isToldAll()) break;
    const { shown, what } = await further(plan, options);
    evidence = { ...evidence, ...shown };
    tried.push(what);
  }
  return { differing: told(), tried };
}

/** Runs that show what the log does not, the cheapest first. */
const furtherRuns: readonly ((
  plan: GoldenPlan,
  options: RowOptions,
) => Promise<{ readonly shown: Partial<RowEvidence>; readonly what: string }>)[] = [
  async (plan, options) => {
    const [again, ...otherSeeds] = await runsWithSeeds(plan, options, [0, 1, 2]);
    const what = 'the same seed again, PYTHONHASHSEED 1 and 2';
    return { shown: { again: again === undefined ? [] : [again], otherSeeds }, what };
  },
  async (plan, options) => {
    const asHarness = plan.engine === 'local' ? await runAsHarness(plan, options) : undefined;
    return { shown: { asHarness }, what: asHarness?.what ?? 'no packages of the harness known' };
  },
];

/** The lists of golden tests with other seeds, or the same one again; no kept run is used. */
function runsWithSeeds(
  plan: GoldenPlan,
  options: RowOptions,
  seeds: readonly number[],
): Promise<TransitionLists[]> {
  return withGoldenSession(plan, options, async (session, golden) => {
    const lists: TransitionLists[] = [];
    for (const hashSeed of seeds) lists.push(listsOf(session, await golden(hashSeed)));
    return lists;
  });
}

async function runAsHarness(
  plan: GoldenPlan,
  options: RowOptions,
): Promise<RowEvidence['asHarness']> {
  const made = await harnessPython(plan.instance, plan.python, options);
  if (made === undefined) return undefined;
  const { python, what } = made;
  const lists = await withGoldenSession({ ...plan, python }, options, async (session, golden) =>
    listsOf(session, await golden(0)),
  );
  return { lists, what };
}

/** The folder of an environment that the local engine made; undefined for any other interpreter. */
function madeFolder(interpreter: string, storage: string): string | undefined {
  const folder = dirname(dirname(interpreter));
  return folder.startsWith(join(storage, 'virtualenvs') + sep) ? folder : undefined;
}

/** Bytes of the files below a folder; 0 where there is none. */
function bytesBelow(folder: string): Promise<number> {
  return new Promise((resolve) => {
    execFile('du', ['-sk', folder], (_error, stdout) =>
      resolve(1024 * (parseInt(stdout, 10) || 0)),
    );
  });
}
