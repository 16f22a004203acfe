import {
  statistics,
  statisticsNotes,
  type Statistic,
  type StatisticsItem,
  type StatisticsTable,
} from '../dataset/statistics';
import type { InstanceEntry } from '../domain/instance';
import { layOut, markdownTable } from '../domain/text';
import { throwIfAborted, type Reporter } from '../domain/work';
import { git } from '../repository/git';
import { readStates } from '../repository/instanceState';
import { treesFolder } from '../repository/storage';
import { isUtf8 } from 'node:buffer';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/**
 * The paper's Table 1 for these entries, from available data: code bases from the prepared trees,
 * tests from the kept validations. Runs nothing and fetches nothing.
 *
 * @throws Cancelled
 */
export async function gatherStatistics(
  entries: readonly InstanceEntry[],
  storage: string,
  { reporter, signal }: { readonly reporter: Reporter; readonly signal?: AbortSignal | undefined },
): Promise<StatisticsTable> {
  const states = await readStates(storage);
  const items: StatisticsItem[] = [];
  for (const [index, entry] of entries.entries()) {
    throwIfAborted(signal);
    const tree = await preparedBase(storage, entry.id);
    if (tree !== undefined) {
      reporter.progress(`counting lines of ${entry.id} (${index + 1} of ${entries.length})`);
    }
    items.push({
      entry,
      validation: states.get(entry.id)?.validation,
      codebase: tree === undefined ? undefined : await codebaseSize(tree, signal),
    });
  }
  return statistics(items);
}

/** The table as text, with n of every row, and how the figures are counted. */
export function statisticsText(table: StatisticsTable): string {
  // Each sentence in its own line, since an editor does not wrap them.
  const notes = notesOf(table).map((note) => `- ${note.replace(/([.;]) /g, '$1\n  ')}`);
  return `${[layOut([head, ...cellsOf(table)]), '', ...notes].join('\n')}\n`;
}

/** As {@link statisticsText}, in Markdown. */
export function statisticsMarkdown(table: StatisticsTable): string {
  const notes = notesOf(table).map((note) => `- ${note}`);
  return `${[markdownTable(head, cellsOf(table), ''), '', ...notes].join('\n')}\n`;
}

const head = ['', '', 'Mean', 'Max', 'n'];

function cellsOf({ rows, selected }: StatisticsTable): string[][] {
  let group = '';
  return rows.map((row) => {
    const first = row.group === group ? '' : row.group;
    group = row.group;
    return [
      first,
      row.name,
      cell(row, row.mean, 1),
      cell(row, row.max, 0),
      `${row.n} of ${selected}`,
    ];
  });
}

const notesOf = ({ rows, selected }: StatisticsTable): string[] => [
  ...statisticsNotes,
  ...(rows.some((row) => row.n < selected)
    ? [
        'Codebase figures become available when an instance is opened or validated, test figures when it is validated.',
      ]
    : []),
];

function cell({ unit }: Statistic, value: number | undefined, digits: number): string {
  if (value === undefined) return '–';
  return unit === 'share' ? `${(100 * value).toFixed(digits)} %` : value.toFixed(digits);
}

/** Number of Python files and lines of a code base. */
interface CodebaseSize {
  readonly files: number;
  readonly lines: number;
}

/**
 * Counts as the reference does for its table of statistics. It counts all files whose name ends in
 * `.py`, tests included. It counts all their lines, blank ones and comments included. As in the
 * reference, a file that is not UTF-8 counts as a file without lines. Only files in the commit of
 * the tree count, not those that runs left behind.
 *
 * @param tree a git repository, such as `base` of prepared trees
 * @throws GitError when it is not one, Cancelled
 */
export async function codebaseSize(tree: string, signal?: AbortSignal): Promise<CodebaseSize> {
  const root = await realpath(tree);
  const listed = await git(['ls-tree', '-r', '-z', 'HEAD'], { cwd: root, signal });
  const paths = listed
    .split('\0')
    .filter((line) => line.endsWith('.py') && /^1[02]/.test(line))
    .map((line) => line.slice(line.indexOf('\t') + 1));
  let lines = 0;
  const atOnce = 32;
  for (let from = 0; from < paths.length; from += atOnce) {
    throwIfAborted(signal);
    const counts = await Promise.all(
      paths.slice(from, from + atOnce).map((path) => linesOf(root, path)),
    );
    for (const count of counts) lines += count;
  }
  return { files: paths.length, lines };
}

async function linesOf(root: string, path: string): Promise<number> {
  try {
    // A link may lead anywhere, so only files inside the tree are read.
    const target = await realpath(join(root, path));
    if (!target.startsWith(root + sep) || !(await stat(target)).isFile()) return 0;
    const content = await readFile(target);
    return isUtf8(content) ? countLines(content) : 0;
  } catch {
    // A link without a target, or a file that is being deleted.
    return 0;
  }
}

/** Counts lines as Python does: they end with LF, CR LF or CR, and the last one needs no end. */
function countLines(content: Buffer): number {
  let lines = 0;
  for (let at = 0; at < content.length; at += 1) {
    const byte = content[at];
    if (byte === 10 || (byte === 13 && content[at + 1] !== 10)) lines += 1;
  }
  const last = content[content.length - 1];
  return last === undefined || last === 10 || last === 13 ? lines : lines + 1;
}

/** The tree of R of an instance that was prepared most recently; undefined when there is none. */
export async function preparedBase(storage: string, id: string): Promise<string | undefined> {
  const parent = treesFolder(storage, id);
  const names = await readdir(parent).catch(() => []);
  let newest: { readonly folder: string; readonly time: number } | undefined;
  for (const name of names) {
    // `trees.json` is written last, so an unfinished tree has none. Names with a dot are not whole
    // trees.
    const made = name.includes('.')
      ? undefined
      : await stat(join(parent, name, 'trees.json')).catch(() => undefined);
    if (made !== undefined && made.mtimeMs > (newest?.time ?? -Infinity)) {
      newest = { folder: join(parent, name, 'base'), time: made.mtimeMs };
    }
  }
  return newest?.folder;
}
