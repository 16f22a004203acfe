import type { Places } from './alignment';
import { indentationOf } from '../reading/indentation';
import type { TreeLines } from './treeLines';

/** A line whose next line may be indented deeper: it opens a block or a bracket, or continues. */
const opens = /[:([{,\\=]\s*(#.*)?$/;

/**
 * Chooses where added lines go if the tree has more lines than the diff between their context
 * lines. The choice succeeds only if exactly one place does not tear code apart:
 *
 * - A line may not be indented deeper than the one before it, unless that one opens a block.
 * - No tree line may move into a block of the added lines, or lose its own block.
 * - A decorator stays with what it decorates.
 *
 * If only blank lines separate the remaining places, the best alignment decides, and then the blank
 * lines of the diff. Added lines that begin with a blank line go before those of the tree, lines
 * that end with one after them.
 *
 * @param places 0-based tree lines before which the added ones may go
 * @returns the place; undefined if several remain
 */
export function insertPlace(
  added: readonly string[],
  { best, near }: Places,
  tree: TreeLines,
): number | undefined {
  const [first, last] = [near[0], near.at(-1)];
  if (first === undefined || last === undefined || last - first !== near.length - 1) {
    return undefined;
  }
  if (first === last) return first;
  const code = added.filter((line) => line.trim() !== '');
  const left = near.filter((place) => keepsBlocks(code, place, last, tree));
  const [least, most] = [left[0], left.at(-1)];
  if (least === undefined || most === undefined) return undefined;
  for (let line = least; line < most; line += 1) if (!isBlank(tree, line)) return undefined;
  const likeliest = left.filter((place) => best.includes(place));
  const [from, to] = [likeliest[0] ?? least, likeliest.at(-1) ?? most];
  if (from === to) return from;
  if (added[0]?.trim() === '') return from;
  if (added.at(-1)?.trim() === '') return to;
  const before = tree.text[lastCode(tree, from - 1)] ?? '';
  const after = tree.text[nextCode(tree, to)] ?? '';
  const depth = indentationOf(code[0] ?? '').length;
  const goesOn = indentationOf(before).length === depth && indentationOf(after).length < depth;
  return goesOn ? from : to;
}

function keepsBlocks(
  code: readonly string[],
  place: number,
  last: number,
  tree: TreeLines,
): boolean {
  const before = tree.text[lastCode(tree, place - 1)] ?? '';
  if (/^\s*@\w/.test(before)) return false;
  const depth = indentationOf(code[0] ?? '').length;
  if (depth > indentationOf(before).length && !opens.test(before)) return false;
  const next = nextCode(tree, place);
  if (next >= last) return true;
  const nextDepth = indentationOf(tree.text[next] ?? '').length;
  return code.every((line) => indentationOf(line).length >= nextDepth);
}

function isBlank(tree: TreeLines, line: number): boolean {
  return (tree.text[line] ?? '').trim() === '';
}

function lastCode(tree: TreeLines, from: number): number {
  let line = from;
  while (line > 0 && isBlank(tree, line)) line -= 1;
  return line;
}

function nextCode(tree: TreeLines, from: number): number {
  let line = from;
  while (line < tree.length && isBlank(tree, line)) line += 1;
  return line;
}

/**
 * The tree line that added lines at the end of a hunk would tear from its block. It is indented
 * deeper than some of them. Undefined if there is none.
 */
export function tornLine(
  added: readonly string[],
  place: number,
  tree: TreeLines,
): number | undefined {
  const next = nextCode(tree, place);
  const depth = indentationOf(tree.text[next] ?? '').length;
  const shallower = added.some((line) => line.trim() !== '' && indentationOf(line).length < depth);
  return next < tree.length && shallower ? next : undefined;
}
