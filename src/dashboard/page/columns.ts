import {
  kindsOfSeverity,
  type FindingKind,
  type TrajectoryFindingKind,
} from '../../domain/finding';
import type { InstanceFacts, RunData, RunEntry } from '../../study/entry';
import { whyAnswerSeen, markedAsOracle } from '../../domain/answerSeen';

/** One column of the matrix: one candidate for each instance. */
export interface Column {
  /** Unique on the page. */
  readonly key: string;
  readonly label: string;
  /** Label of the run. */
  readonly run: string;
  readonly model: string;
  readonly sample: number;
  /** `RunData.known`. */
  readonly known?: 'success';
  readonly entries: ReadonlyMap<string, RunEntry>;
  /** Ids of the instances that the run selected. */
  readonly selected: ReadonlySet<string>;
  /** Whether the run may still add entries, since it continues or was interrupted. */
  readonly unfinished: boolean;
}

/** Columns in the order of the runs, then of their models, then of samples. */
export function columnsOf(runs: readonly RunData[]): Column[] {
  const times = new Map<string, number>();
  for (const run of runs) {
    for (const model of modelsOf(run)) {
      times.set(model, (times.get(model) ?? 0) + 1);
    }
  }
  return runs.flatMap((run) => {
    const groups = new Map<
      string,
      { model: string; sample: number; entries: Map<string, RunEntry> }
    >();
    // A model that the run will evaluate has a column before its first candidate finishes.
    const models = modelsOf(run);
    for (const model of run.models ?? []) {
      groups.set(keyOf(run.label, model, 1), { model, sample: 1, entries: new Map() });
    }
    let samples = 1;
    for (const entry of run.entries) {
      samples = Math.max(samples, entry.sample);
      const key = keyOf(run.label, entry.model, entry.sample);
      const group = groups.get(key);
      if (group === undefined) {
        const { model, sample } = entry;
        groups.set(key, { model, sample, entries: new Map([[entry.instance, entry]]) });
      } else {
        group.entries.set(entry.instance, entry);
      }
    }
    const selected = new Set(run.instances.map(({ id }) => id));
    const order = [...models];
    return [...groups]
      .sort(
        ([, a], [, b]) => order.indexOf(a.model) - order.indexOf(b.model) || a.sample - b.sample,
      )
      .map(([key, { model, sample, entries }]) => ({
        key,
        label: labelOf(
          (times.get(model) === 1 ? model : `${model} (${run.label})`) +
            (samples > 1 ? ` @${sample}` : ''),
          model,
          entries,
        ),
        run: run.label,
        model,
        sample,
        ...(run.known !== undefined && { known: run.known }),
        entries,
        selected,
        unfinished: run.unfinished === true,
      }));
  });
}

const labelOf = (name: string, model: string, entries: Column['entries']): string =>
  whyAnswerSeen(model) !== undefined || [...entries.values()].some(({ oracle }) => oracle === true)
    ? markedAsOracle(name)
    : name;

const modelsOf = (run: RunData): Set<string> =>
  new Set([...(run.models ?? []), ...run.entries.map((entry) => entry.model)]);

const keyOf = (run: string, model: string, sample: number): string =>
  JSON.stringify([run, model, sample]);

/** Every instance that any run selected, once each, sorted by id. */
export function instancesOfRuns(runs: readonly RunData[]): InstanceFacts[] {
  const all = new Map<string, InstanceFacts>();
  for (const run of runs) {
    for (const facts of run.instances) if (!all.has(facts.id)) all.set(facts.id, facts);
  }
  return [...all.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** Selects which rows the matrix shows, among the instances that the text filter keeps. */
export type MatrixFilter =
  | ('all' | 'differ' | 'none' | 'every' | 'finding')
  | `finding ${FindingKind}`
  | `trajectory ${TrajectoryFindingKind}`
  | `reason ${string}`;

/** Whether the matrix shows a row. */
export function isShown(shown: MatrixFilter, id: string, columns: readonly Column[]): boolean {
  if (shown === 'all') return true;
  const there = columns.flatMap((column) => {
    const entry = column.entries.get(id);
    return entry === undefined ? [] : [entry];
  });
  if (shown.startsWith('reason ')) {
    const reason = shown.slice('reason '.length);
    return there.some((entry) => entry.reason === reason);
  }
  const isWarned = ({ trajectoryFindings = [] }: RunEntry, kind: string): boolean =>
    kindsOfSeverity(trajectoryFindings, 'warning').some((each) => kind === '' || each === kind);
  if (shown.startsWith('trajectory ')) {
    return there.some((entry) => isWarned(entry, shown.slice('trajectory '.length)));
  }
  if (shown.startsWith('finding')) {
    const kind = shown.slice('finding '.length);
    return there.some((entry) =>
      kind === ''
        ? (entry.findings ?? []).length > 0 || isWarned(entry, '')
        : (entry.findings ?? []).some((each) => each.kind === kind),
    );
  }
  const solved = there.filter((entry) => entry.success).length;
  switch (shown as 'differ' | 'none' | 'every') {
    case 'differ':
      return solved > 0 && solved < columns.length;
    case 'none':
      return solved === 0;
    case 'every':
      return columns.length > 0 && solved === columns.length;
  }
}

/** Orders of the matrix's rows. */
export const orders = {
  id: 'ID',
  created: 'Issue date',
  length: 'Issue length',
  solved: 'Successful methods',
} as const;
export type Order = keyof typeof orders;

/** @returns a new list; equal instances keep their order by id */
export function ordered(
  instances: readonly InstanceFacts[],
  order: Order,
  columns: readonly Column[],
): InstanceFacts[] {
  if (order === 'id') return [...instances];
  const solved = (id: string): number =>
    columns.filter((column) => column.entries.get(id)?.success === true).length;
  const values = new Map(
    instances.map((facts) => [
      facts,
      order === 'length'
        ? facts.issueLength
        : order === 'solved'
          ? -solved(facts.id)
          : Date.parse(facts.created) || 0,
    ]),
  );
  return [...instances].sort((a, b) => (values.get(a) ?? 0) - (values.get(b) ?? 0));
}

/**
 * Whether a candidate of a run with trajectories may have one: where the run says of some candidates
 * what their trajectories show, the others have none.
 */
export const mayHaveTrajectory = (
  { entries }: Pick<Column, 'entries'>,
  entry: Pick<RunEntry, 'trajectoryFindings'>,
): boolean =>
  entry.trajectoryFindings !== undefined ||
  [...entries.values()].every((each) => each.trajectoryFindings === undefined);
