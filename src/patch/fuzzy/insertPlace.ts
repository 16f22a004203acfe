import type { Places } from './alignment';
import { indentationOf } from '../indentation';
import type { TreeLines } from './treeLines';

/** A line after which the next one may be indented deeper: it opens a block, a bracket, or goes on. */
const opens = /[:([{,\\=]\s*(#.*)?$/;

/**
 * Where added lines go when the tree has lines between the context around them that the diff does not
 * name. What the diff leaves open is settled only where one place is left that does not tear code apart:
 *
 * - a line may not be indented deeper than the one before it, unless that one opens a block;
 * - no tree line may come to lie in a block of the added lines, nor lose its own;
 * - a decorator stays with what it decorates.
 *
 * If only blank lines part what is left, the best alignment decides, and then those of the diff: added lines that begin with
 * a blank one stand before those of the tree, ones that end with one behind.
 *
 * @param places 0-based tree lines before which the added ones may go
 * @returns the place, or undefined when several are left
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
 * The tree line that added lines with nothing of the diff behind them would tear from its block: it is
 * indented deeper than some of them. Undefined when they tear nothing.
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
