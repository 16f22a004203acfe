import type { Instance, InstanceEntry, PatchSize } from '../domain/instance';
import { HumanError } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { parseUnified } from '../patch/unified';
import { changedLines } from '../patch/changedLines';
import { checkPatchPaths } from '../patch/safety';
import { splitTestEdits } from '../patch/testFiles';
import { readRecords } from './records';
import { readRow, type RowProblem } from './rows';

/** A dataset: the entries of the rows that are sound, and what is wrong with the others. */
export interface Dataset {
  /** What was asked for: a path, an address or a name. */
  readonly name: string;
  /** The file or folder that it is read from. */
  readonly path: string;
  /** In the order of the rows; ids are unique. */
  readonly entries: readonly InstanceEntry[];
  readonly problems: readonly RowProblem[];
  /**
   * Whole instances by id, in the order asked for, read when asked for.
   * @throws HumanError naming ids that the dataset does not have, or a file that has changed or gone
   */
  read(ids: readonly string[]): Promise<Instance[]>;
}

export interface DatasetOptions {
  /** Storage folder: what is downloaded is kept in `data/swt-bench/` below it. */
  readonly storage: string;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/**
 * Opens a dataset: a file, a folder, an https address, or the name of a Hugging Face dataset.
 *
 * @throws HumanError when nothing of it can be used, Cancelled
 */
export async function openDataset(name: string, options: DatasetOptions): Promise<Dataset> {
  options.reporter.progress(`reading ${name}`);
  const { path, instances, problems } = await loadDataset(name);
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  return {
    name,
    path,
    entries: instances.map(entryOf),
    problems,
    async read(ids) {
      requireKnown({ path, problems }, byId, ids);
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
  };
}

function entryOf(instance: Instance): InstanceEntry {
  const { id, repo, version, baseCommit, createdAt, issue, goldenPatch, goldenTests } = instance;
  return {
    id,
    repo,
    version,
    baseCommit,
    createdAt,
    issue,
    patch: sizeOf(goldenPatch),
    tests: sizeOf(goldenTests),
  };
}

function sizeOf(text: string): PatchSize {
  const patch = parseUnified(text);
  const { removed, added } = changedLines(patch);
  const files = patch.files.map((file) => file.newPath ?? file.oldPath ?? '');
  return { files, lines: removed.length + added.length };
}

/**
 * Loads a JSON or JSONL file of SWE-bench or SWT-Bench rows. Rows that cannot be used are reported by
 * row and field and left out; an id that appears twice keeps its first row.
 *
 * @throws HumanError when nothing in the file can be used
 */
async function loadDataset(
  path: string,
): Promise<{ path: string; instances: Instance[]; problems: RowProblem[] }> {
  const instances = new Map<string, Instance>();
  const problems: RowProblem[] = [];
  for (const record of await readRecords(path, 'dataset')) {
    if ('error' in record) {
      problems.push({ row: record.row, message: record.error });
      continue;
    }
    const result = readRow(record.value, record.row);
    if ('problem' in result) {
      problems.push(result.problem);
      continue;
    }
    const { instance } = result;
    const wrong = patchProblem(instance);
    if (wrong !== undefined) {
      problems.push({ row: record.row, id: instance.id, ...wrong });
    } else if (instances.has(instance.id)) {
      problems.push({
        row: record.row,
        id: instance.id,
        field: 'instance_id',
        message: 'the id appears twice; the first row is used',
      });
    } else {
      instances.set(instance.id, instance);
    }
  }
  if (instances.size === 0) {
    const first = problems[0];
    throw new HumanError(
      `No row of the dataset ${path} can be used` +
        (first === undefined ? '' : ` (${describeProblem(first)})`),
      'A row needs instance_id, repo, base_commit, problem_statement, patch and test_patch',
    );
  }
  return { path, instances: [...instances.values()], problems };
}

function patchProblem(instance: Instance): { field: string; message: string } | undefined {
  for (const [field, text] of [
    ['patch', instance.goldenPatch],
    ['test_patch', instance.goldenTests],
  ] as const) {
    const patch = parseUnified(text);
    if (patch.files.length === 0) return { field, message: `${field} is not a unified diff` };
    const unsafe = checkPatchPaths(patch)[0];
    if (unsafe !== undefined) {
      return { field, message: `${field} names a path outside the tree: ${unsafe.message}` };
    }
  }
  // Rows published for prompting hold the tests in `patch`: every grade of them would be zero.
  const code = splitTestEdits(parseUnified(instance.goldenPatch));
  const tests = splitTestEdits(parseUnified(instance.goldenTests));
  if (code.others.length === 0 && tests.tests.length === 0) {
    return {
      field: 'patch',
      message: 'patch holds only tests and test_patch none: the two seem to be swapped',
    };
  }
  return undefined;
}

/** One line for a person. */
export function describeProblem(problem: RowProblem): string {
  const id = problem.id === undefined ? '' : ` (${problem.id})`;
  return `row ${problem.row}${id}: ${problem.message}`;
}

/** @throws HumanError naming ids that do not exist */
function requireKnown(
  { path, problems }: Pick<Dataset, 'path' | 'problems'>,
  known: { has(id: string): boolean },
  ids: readonly string[],
): void {
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  const broken = problems.find((problem) => problem.id === unknown[0]);
  throw new HumanError(
    broken === undefined
      ? `${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not in the dataset ${path}`
      : `${unknown[0]} cannot be used: ${describeProblem(broken)}`,
    broken === undefined
      ? 'Run `swt-bench instances` to see the ids'
      : 'Mend the row, or leave the instance out',
  );
}

/** Entries by id, in the order asked for, without repetitions. @throws HumanError naming ids that do not exist */
export function selectEntries(
  dataset: Dataset,
  filter: { readonly ids?: readonly string[]; readonly repo?: string },
): InstanceEntry[] {
  const byId = new Map(dataset.entries.map((entry) => [entry.id, entry]));
  const chosen = [...new Set(filter.ids ?? byId.keys())];
  requireKnown(dataset, byId, chosen);
  return chosen
    .flatMap((id) => byId.get(id) ?? [])
    .filter((entry) => filter.repo === undefined || entry.repo === filter.repo);
}

/** Figures of one instance, as lists show them. Lines are added plus removed. */
export interface InstanceFigures {
  readonly id: string;
  readonly repo: string;
  readonly version: string;
  readonly base_commit: string;
  readonly created_at: string;
  /** Characters of the issue text. */
  readonly issue_length: number;
  readonly patch: { readonly files: number; readonly lines: number };
  readonly test_patch: { readonly files: number; readonly lines: number };
}

export function figures(entry: InstanceEntry): InstanceFigures {
  const size = ({ files, lines }: PatchSize): { files: number; lines: number } => ({
    files: files.length,
    lines,
  });
  return {
    id: entry.id,
    repo: entry.repo,
    version: entry.version,
    base_commit: entry.baseCommit,
    created_at: entry.createdAt,
    issue_length: entry.issue.length,
    patch: size(entry.patch),
    test_patch: size(entry.tests),
  };
}
