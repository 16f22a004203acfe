import * as l10n from '@vscode/l10n';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import type { CellName } from '../../dashboard/protocol';
import type { Side } from '../../domain/outcome';
import { HumanError } from '../../domain/work';
import type { RunData, RunEntry } from '../../study/entry';

/** A candidate of a run with the folder of its report. */
export interface FoundCell {
  readonly entry: RunEntry;
  /** `…/run_instance_swt_logs/<run>/<model>/<instance>`. */
  readonly folder: string;
}

interface ListedRuns {
  run(label: string): RunData | undefined;
}

/** The entry of a cell; undefined when the run is no longer listed or lacks the candidate. */
export const entryOfCell = (library: ListedRuns, cell: CellName): RunEntry | undefined =>
  library
    .run(cell.run)
    ?.entries.find(
      ({ instance, model, sample }) =>
        instance === cell.instance && model === cell.model && sample === cell.sample,
    );

/**
 * @param library the library of the listed runs
 * @throws HumanError when the run is no longer listed or lacks the candidate
 */
export function findCell(library: ListedRuns, cell: CellName): FoundCell {
  const run = library.run(cell.run);
  const entry = entryOfCell(library, cell);
  if (run?.folder === undefined || entry?.report === undefined) {
    throw new HumanError(
      l10n.t('{0} of {1} has no report', cell.instance, cell.run),
      l10n.t('Run "SWT-Bench: Refresh Instances and Runs"'),
    );
  }
  const report = join(run.folder, entry.report);
  const inside = relative(run.folder, report);
  // The journal is untrusted: it may name only files in its own folder.
  if (inside.startsWith('..') || isAbsolute(inside)) {
    throw new HumanError(
      l10n.t('{0} refers to a report outside its folder', cell.run),
      l10n.t('Evaluate it again'),
    );
  }
  return { entry, folder: dirname(report) };
}

/**
 * The repository of a cell's instance.
 *
 * @throws HumanError when the run is no longer listed or does not name one
 */
export function repositoryOfCell(library: ListedRuns, cell: CellName): string {
  const instances = library.run(cell.run)?.instances ?? [];
  const repo = instances.find(({ id }) => id === cell.instance)?.repo ?? '';
  // The run is untrusted. In the setting `*` stands for all repositories.
  if (isOneRepository.test(repo)) return repo;
  throw new HumanError(
    l10n.t('{0} does not name the repository of {1}', cell.run, cell.instance),
    l10n.t('Run "SWT-Bench: Refresh Instances and Runs"'),
  );
}

const isOneRepository = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/;

/** The files of what the tests of a candidate printed on each side, if they were kept. */
export function logsOf({ folder }: FoundCell): Readonly<Record<Side, string>> {
  const [run, model] = [dirname(dirname(folder)), basename(dirname(folder))];
  const of = (prefix: string): string =>
    join(run, `${prefix}${model}`, basename(folder), 'test_output.txt');
  return { base: of('pred_pre__'), fixed: of('pred_post__') };
}

/** What to open as the log: both sides beside each other, the only side, or else the report. */
export function logToShow(
  found: FoundCell,
  isThere: Readonly<Record<Side, boolean>>,
): { readonly both: Readonly<Record<Side, string>> } | { readonly one: string } {
  const logs = logsOf(found);
  if (isThere.base && isThere.fixed) return { both: logs };
  return {
    one: isThere.base ? logs.base : isThere.fixed ? logs.fixed : join(found.folder, 'report.json'),
  };
}
