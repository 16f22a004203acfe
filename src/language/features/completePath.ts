import {
  CompletionItemKind,
  type CompletionItem,
  type CompletionList,
} from 'vscode-languageserver';
import { asShown } from '../../patch/bytes';
import { unsafePath } from '../../patch/unsafePath';
import { isTestPath } from '../../patch/testFiles';
import { overField, type Completing } from './completing';

/** Maximum number of paths of one answer. The editor asks again as the path gets longer. */
const mostPaths = 200;

/**
 * The files of the tree that match the typed text: tests first, then Python, then shorter names.
 */
export async function completePath(completing: Completing): Promise<CompletionList> {
  const { tree } = completing.surroundings;
  const typed = completing.before.trim().replace(/^[<"'`\s]+|^(\.\/)+/g, '');
  const found: { path: string; rank: number }[] = [];
  for (const path of (await tree.paths?.()) ?? []) {
    if (unsafePath(path) !== undefined || asShown(path) !== path) continue;
    const fit = fitOf(path, typed.toLowerCase());
    if (fit !== undefined) found.push({ path, rank: 4 * sorts.indexOf(sortOf(path)) + fit });
  }
  found.sort(
    (a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1),
  );
  const items = found.slice(0, mostPaths).map(({ path }, i): CompletionItem => ({
    label: path,
    kind: CompletionItemKind.File,
    detail: sortOf(path),
    sortText: String(i).padStart(4, '0'),
    filterText: path,
    textEdit: overField(completing, path),
  }));
  return { isIncomplete: found.length > items.length, items };
}

const sorts = ['Test file', 'Not a test file', 'Not a Python file'] as const;

function sortOf(path: string): (typeof sorts)[number] {
  if (!/\.pyi?$/.test(path)) return 'Not a Python file';
  return isTestPath(path) ? 'Test file' : 'Not a test file';
}

/** How well a path matches, 0 the best; undefined unless it contains all typed letters in order. */
function fitOf(path: string, typed: string): number | undefined {
  if (typed === '') return 0;
  const low = path.toLowerCase();
  if (low.startsWith(typed)) return 0;
  if (low.slice(low.lastIndexOf('/') + 1).startsWith(typed)) return 1;
  if (low.includes(typed)) return 2;
  let at = -1;
  for (const letter of typed) {
    at = low.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return 3;
}
