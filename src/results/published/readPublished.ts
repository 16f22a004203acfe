import { basename, relative, sep } from 'node:path';
import { publishedPredictions } from '../../dataset/predictions';
import type { RunData, RunEntry } from '../../study/entry';
import { readModelReports } from '../reading/readReports';
import {
  emptyEntry,
  entriesOfSummary,
  readHarnessSummary,
  ungradedEntry,
  type HarnessSummary,
} from './harnessSummary';
import { modelFolder } from '../runFolder';
import { publishedFolder, type PublishedFolder } from './publishedFolder';

/** A published run without the facts of its instances. */
type PublishedRun = Omit<RunData, 'instances'> & {
  /** Ids of its candidates. */
  readonly ids: readonly string[];
};

interface PublishedRead {
  readonly runs: readonly PublishedRun[];
  readonly problems: readonly string[];
}

/**
 * The runs of a folder that someone published: one of its reports, or one of each summary where it
 * has no reports. Predictions beside them add costs and the candidates without a report. Without
 * reports and summaries there is no run.
 *
 * @throws Cancelled
 */
export async function readPublished(
  published: PublishedFolder,
  signal?: AbortSignal,
): Promise<PublishedRead> {
  const problems: string[] = [];
  const { reports, predictions: path } = published;
  const summaries = reports === undefined ? await summariesOf(published) : [];
  if (reports === undefined && summaries.length === 0) return { runs: [], problems };
  const predictions =
    path === undefined ? new Map() : await publishedPredictions(path, problems, signal);
  const parts = { published, predictions, isOnly: summaries.length < 2 };
  if (reports === undefined) {
    return { runs: summaries.map((summary) => ofSummary(summary, parts)), problems };
  }
  const model = nameOf(parts) ?? basename(published.folder);
  const prefix = relative(published.folder, reports).split(sep).join('/');
  const read = await readModelReports(reports, model, prefix, signal);
  for (const problem of read.problems) problems.push(problem);
  if (read.entries.length === 0) return { runs: [], problems };
  const graded = { ...(read.strict ? {} : { grading: 'harness' as const }) };
  return {
    runs: [{ ...runOf(basename(published.folder), read.entries, parts), ...graded }],
    problems,
  };
}

/**
 * The only run of a folder of the reference harness with what is beside `run_instance_swt_logs`:
 * predictions of the same model, and trajectories.
 *
 * @param folder that has `run_instance_swt_logs`
 * @param graded the entries of its reports
 * @throws Cancelled
 */
export async function withFilesBeside(
  folder: string,
  graded: readonly RunEntry[],
  signal?: AbortSignal,
): Promise<Pick<PublishedRun, 'entries' | 'trajectories'> & { readonly problems: string[] }> {
  const problems: string[] = [];
  const names = new Set(graded.map(({ model, sample }) => modelFolder(model, sample)));
  const [only] = names;
  if (names.size !== 1) return { entries: graded, problems };
  const published = await publishedFolder(folder);
  const { predictions: path } = published;
  const all = path === undefined ? [] : await publishedPredictions(path, problems, signal);
  const predictions = new Map(
    [...all].filter(([, { model }]) => modelFolder(model ?? '', 1) === only),
  );
  const { entries, trajectories } = runOf('', graded, { published, predictions, isOnly: true });
  return { entries, ...(trajectories !== undefined && { trajectories }), problems };
}

/** Whether a folder says how candidates did, apart from what they are. */
export const hasGrades = async (published: PublishedFolder): Promise<boolean> =>
  published.reports !== undefined || (await summariesOf(published)).length > 0;

type Predictions = Awaited<ReturnType<typeof publishedPredictions>>;

/** What the runs of a folder have in common. */
interface Parts {
  readonly published: PublishedFolder;
  readonly predictions: Predictions;
  /** Whether the folder has no other run, to which predictions and trajectories could belong. */
  readonly isOnly: boolean;
}

async function summariesOf({ summaries }: PublishedFolder): Promise<HarnessSummary[]> {
  const read = await Promise.all(summaries.map(readHarnessSummary));
  return read.flatMap((summary) => summary ?? []);
}

/** The name in the metadata, or the one model of the predictions. */
function nameOf({ published, predictions }: Parts): string | undefined {
  const models = new Set([...predictions.values()].map(({ model }) => model));
  const [only] = models;
  return published.name ?? (models.size === 1 ? only : undefined);
}

function ofSummary(summary: HarnessSummary, parts: Parts): PublishedRun {
  const { published, isOnly } = parts;
  const model = (isOnly ? nameOf(parts) : undefined) ?? summary.model;
  const label = isOnly ? basename(published.folder) : summary.run;
  const run = runOf(label, entriesOfSummary(summary, model), parts);
  return { ...run, grading: 'harness', known: 'success' };
}

/** Adds costs, and candidates without a report, where the predictions can only be of this run. */
function runOf(label: string, graded: readonly RunEntry[], parts: Parts): PublishedRun {
  const { published, predictions, isOnly } = parts;
  const [first] = graded;
  const known = new Map(graded.map((entry) => [entry.instance, entry]));
  const others = [...(isOnly ? predictions : [])].flatMap(([instance, { isEmpty }]) => {
    if (known.has(instance)) return [];
    const named = { instance, model: first?.model ?? label, sample: 1, seconds: 0 };
    return [isEmpty ? emptyEntry(named) : ungradedEntry(named)];
  });
  const entries = [...graded, ...others].map((entry): RunEntry => {
    const cost = isOnly ? predictions.get(entry.instance)?.cost : undefined;
    return { ...entry, ...(cost !== undefined && { cost }) };
  });
  return {
    label,
    entries,
    folder: published.folder,
    ids: [...new Set(entries.map(({ instance }) => instance))],
    ...(isOnly && published.trajectories.length > 0
      ? { trajectories: published.trajectories }
      : {}),
  };
}
