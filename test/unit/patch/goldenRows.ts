import { existsSync, readFileSync } from 'node:fs';
import { parseUnified } from '../../../src/patch/parseUnified';
import type { ParsedPatch } from '../../../src/patch/parsedPatch';
import type { FileEdit } from '../../../src/patch/makeUnified';
import type { PythonParser } from '../../../src/python/parser';
import { everydayCases } from '../../everyday';
import { makeGitTree } from './gitTree';
import { rebuildFiles } from './rebuiltTree';

/** Path of the 200 rows; the variable SWT_BENCH_DATA sets another one. */
export const dataset = process.env['SWT_BENCH_DATA'] ?? '../shared/data/swe-bench-lite.dev.jsonl';

/** The golden tests of an instance with a tree that they apply to. */
export interface GoldenRow {
  readonly id: string;
  /** Golden tests as the dataset has them. */
  readonly text: string;
  readonly parsed: ParsedPatch;
  /** Files of the tree, and the result of `git apply`; `after` has no entry for a deleted file. */
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
  /** What the golden tests change, in the order of the patch. */
  readonly edits: readonly FileEdit[];
}

let kept: GoldenRow[] | undefined;

/**
 * The rows of the dataset, those of {@link everydayCases}, made once in a process; undefined where it
 * cannot be had. Git is called once for all of them.
 */
export function goldenRows(python: PythonParser): readonly GoldenRow[] | undefined {
  if (kept === undefined && existsSync(dataset)) kept = readRows(python);
  return kept;
}

function readRows(python: PythonParser): GoldenRow[] {
  const lines = readFileSync(dataset, 'utf8').trim().split('\n');
  const rows = everydayCases(lines)
    .map((line) => JSON.parse(line) as { instance_id: string; test_patch: string })
    .map(({ instance_id: id, test_patch: text }) => {
      const parsed = parseUnified(text);
      return { id, text, parsed, before: rebuildFiles(parsed, python) };
    });
  const afters = applyAll(rows.map((row) => ({ ...row, patch: row.text })));
  return rows.map((row, i) => {
    const after = afters[i] ?? new Map<string, string>();
    const paths = new Set(
      row.parsed.files.flatMap((file) => [file.oldPath, file.newPath]).filter((p) => p !== null),
    );
    const edits = [...paths].map((path) => ({
      path,
      before: row.before.get(path),
      after: after.get(path),
    }));
    return { ...row, after, edits };
  });
}

/**
 * The result of one call of `git apply` for many trees, each with its patch: all of them lie side
 * by side in one folder. An empty patch leaves its tree unchanged.
 *
 * @throws Error with git's message when it refuses any of them
 */
export function applyAll(
  rows: readonly {
    readonly id: string;
    readonly before: ReadonlyMap<string, string>;
    readonly patch: string;
  }[],
): Map<string, string>[] {
  const tree = makeGitTree();
  try {
    const prefixes = rows.map((row, i) => `${i}-${row.id}`);
    const files: Record<string, string> = {};
    for (const [i, row] of rows.entries()) {
      for (const [path, content] of row.before) files[`${prefixes[i]}/${path}`] = content;
    }
    tree.write(files);
    const patch = rows.map((row, i) => below(row.patch, prefixes[i] ?? '')).join('');
    // Git reports a text without any patch as an error.
    const refused = patch === '' ? undefined : tree.apply(patch);
    if (refused !== undefined) throw new Error(refused);
    const listed = tree.git('ls-files', '-z', '--others').split('\0').filter(Boolean);
    const found = rows.map(() => new Map<string, string>());
    for (const name of listed) {
      const index = Number(/^\d+/.exec(name)?.[0]);
      found[index]?.set(name.slice(name.indexOf('/') + 1), tree.read(name) ?? '');
    }
    return found;
  } finally {
    tree.remove();
  }
}

/**
 * A patch in git's format, with all its paths moved below a folder. This is done by hand, so that
 * git remains the judge.
 */
function below(patch: string, folder: string): string {
  let inHeader = false;
  return patch
    .split('\n')
    .map((line) => {
      if (line.startsWith('diff --git ')) {
        inHeader = true;
        return line
          .replace(/^diff --git ("?)a\//, `diff --git $1a/${folder}/`)
          .replace(/ ("?)b\/(?=[^ ]*$)/, ` $1b/${folder}/`);
      }
      if (line.startsWith('@@')) inHeader = false;
      if (!inHeader) return line;
      return line
        .replace(/^--- ("?)a\//, `--- $1a/${folder}/`)
        .replace(/^\+\+\+ ("?)b\//, `+++ $1b/${folder}/`)
        .replace(/^((?:rename|copy) (?:from|to)) /, `$1 ${folder}/`);
    })
    .join('\n');
}
