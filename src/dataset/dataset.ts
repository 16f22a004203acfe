import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/problem';
import { parseUnified } from '../patch/unified';
import { changedLines } from '../patch/changedLines';
import { checkPatchPaths } from '../patch/safety';
import { splitTestEdits } from '../patch/testFiles';
import { readRecords } from './records';
import { readRow, type RowProblem } from './rows';

/** A dataset as loaded: the rows that are sound, and what is wrong with the others. */
export interface Dataset {
  readonly path: string;
  readonly instances: readonly Instance[];
  readonly problems: readonly RowProblem[];
}

/**
 * Loads a JSON or JSONL file of SWE-bench or SWT-Bench rows. Rows that cannot be used are reported by
 * row and field and left out; an id that appears twice keeps its first row.
 *
 * @throws HumanError when nothing in the file can be used
 */
export async function loadDataset(path: string): Promise<Dataset> {
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

/** Instances by id, in the order asked for. @throws HumanError naming ids that do not exist */
export function selectInstances(
  dataset: Dataset,
  filter: { readonly ids?: readonly string[]; readonly repo?: string },
): Instance[] {
  const byId = new Map(dataset.instances.map((instance) => [instance.id, instance]));
  const chosen = [...new Set(filter.ids ?? byId.keys())];
  const unknown = chosen.filter((id) => !byId.has(id));
  if (unknown.length > 0) {
    const broken = dataset.problems.find((problem) => problem.id === unknown[0]);
    throw new HumanError(
      broken === undefined
        ? `${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not in the dataset ${dataset.path}`
        : `${unknown[0]} cannot be used: ${describeProblem(broken)}`,
      broken === undefined
        ? 'Run `swt-bench instances` to see the ids'
        : 'Mend the row, or leave the instance out',
    );
  }
  return chosen
    .flatMap((id) => byId.get(id) ?? [])
    .filter((instance) => filter.repo === undefined || instance.repo === filter.repo);
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

export function figures(instance: Instance): InstanceFigures {
  const size = (text: string): { files: number; lines: number } => {
    const patch = parseUnified(text);
    const { removed, added } = changedLines(patch);
    return { files: patch.files.length, lines: removed.length + added.length };
  };
  return {
    id: instance.id,
    repo: instance.repo,
    version: instance.version,
    base_commit: instance.baseCommit,
    created_at: instance.createdAt,
    issue_length: instance.issue.length,
    patch: size(instance.goldenPatch),
    test_patch: size(instance.goldenTests),
  };
}
