import type { HunkPlace } from './placeAt';
import { sameButSpace, withoutReturn, type TreeLines } from './treeLines';
import { indentationOf } from '../reading/indentation';
import type { Hunk, HunkLine } from '../unified/hunk';
import { kindsOfLines } from '../reading/pythonStrings';

const contextLines = 3;

interface Insertion {
  readonly at: number;
  readonly lines: readonly HunkLine[];
  readonly carriage: string;
  readonly indent: Indenting;
}

/** Gives a line of the diff the indentation of the tree. */
type Indenting = (line: string, kind: LineKind) => string;
type LineKind = ReturnType<typeof kindsOfLines>[number];

/**
 * The hunks of a file at their places, with exact lines and numbers and three lines of context.
 * Only lines that a place deletes disappear. Every other line of the tree stays byte for byte, with
 * one exception. A last line without line end gets one if lines follow it.
 *
 * Added lines take the line ends of the lines around them. They also take their indentation if the
 * whole diff uses another one: tabs for blanks, another width, or everything moved in or out. In
 * Python, strings over several lines are data and keep their text. Docstrings, and strings that the
 * tree indents differently, are exceptions.
 */
export function editFuzzyFile(
  tree: TreeLines,
  places: readonly HunkPlace[],
  isPython: boolean,
): Hunk[] {
  const deleted = new Set<number>();
  const inserts = new Map<number, HunkLine[]>();
  const insertions: Insertion[] = [];
  let treeKinds: readonly LineKind[] | undefined;
  for (const place of places) {
    for (const line of place.deleted) deleted.add(line);
    if (place.inserts.length === 0) continue;
    const carriage = lineEndOf(place, tree).slice(0, -1);
    const indent = indentation(place, tree, () => (treeKinds ??= treeKindsOf(tree, isPython)));
    for (const { at, lines } of place.inserts) {
      const plain = lines.map((line) => ({ ...line, text: withoutReturn(line.text) }));
      insertions.push({ at, lines: plain, carriage, indent: indent ?? same });
    }
  }
  const moves = isPython && insertions.some(({ indent }) => indent !== same);
  const kinds = moves ? insertedKinds(tree, deleted, insertions) : undefined;
  for (const [k, { at, lines, carriage, indent }] of insertions.entries()) {
    const written = lines.map(({ text, noNewline }, i): HunkLine => ({
      kind: 'added',
      text: indent(text, kinds?.[k]?.[i] ?? 'code') + carriage,
      noNewline,
    }));
    const before = inserts.get(at);
    if (before === undefined) inserts.set(at, written);
    else for (const line of written) before.push(line);
  }
  endLastLine(tree, deleted, inserts);
  const changes = [...new Set([...deleted, ...inserts.keys()])].sort((a, b) => a - b);
  onlyLastUnended(tree, deleted, inserts);
  return hunksOf(tree, deleted, inserts, changes);
}

const same: Indenting = (line) => line;

/** What each line of a tree begins in; code everywhere in a file that is not Python. */
function treeKindsOf(tree: TreeLines, isPython: boolean): readonly LineKind[] {
  return isPython ? kindsOfLines(tree.text) : [];
}

/** What each line of the insertions begins in, among the remaining lines of the tree. */
function insertedKinds(
  tree: TreeLines,
  deleted: ReadonlySet<number>,
  insertions: readonly Insertion[],
): LineKind[][] {
  const order = insertions.map(({ at, lines }, k) => ({ at, lines, k }));
  order.sort((a, b) => a.at - b.at || a.k - b.k);
  const all: string[] = [];
  const starts: number[] = [];
  let next = 0;
  for (let line = 0; line <= tree.length; line += 1) {
    for (let own = order[next]; own?.at === line; own = order[(next += 1)]) {
      starts[own.k] = all.length;
      for (const { text } of own.lines) all.push(text);
    }
    if (line < tree.length && !deleted.has(line)) all.push(tree.text[line] ?? '');
  }
  const kinds = kindsOfLines(all);
  return insertions.map(({ lines }, k) => {
    const start = starts[k] ?? 0;
    return kinds.slice(start, start + lines.length);
  });
}

/** Gives a last line without line end one, before lines are added after it. */
function endLastLine(
  tree: TreeLines,
  deleted: Set<number>,
  inserts: Map<number, HunkLine[]>,
): void {
  const last = tree.length - 1;
  const text = last < 0 ? undefined : tree.withReturn(last);
  const behind = inserts.get(tree.length);
  if (text === undefined || tree.endOf(last) !== '' || behind === undefined || deleted.has(last))
    return;
  deleted.add(last);
  const end = last > 0 && tree.endOf(last - 1) === '\r\n' ? '\r' : '';
  inserts.set(tree.length, [{ kind: 'added', text: text + end, noNewline: false }, ...behind]);
}

/** Ensures that, of the added lines, only the last line of the file may lack a line end. */
function onlyLastUnended(
  tree: TreeLines,
  deleted: ReadonlySet<number>,
  inserts: Map<number, HunkLine[]>,
): void {
  let lastKept = tree.length - 1;
  while (lastKept >= 0 && deleted.has(lastKept)) lastKept -= 1;
  let lastInsert = -1;
  for (const at of inserts.keys()) lastInsert = Math.max(lastInsert, at);
  for (const [at, lines] of inserts) {
    if (!lines.some((line) => line.noNewline)) continue;
    const final = at === lastInsert && at > lastKept ? lines.length - 1 : -1;
    inserts.set(
      at,
      lines.map((line, i) =>
        line.noNewline && i !== final ? { ...line, noNewline: false } : line,
      ),
    );
  }
}

/** The most frequent line end among the lines of a hunk, or else that of a neighbouring line. */
function lineEndOf({ alignment, inserts }: HunkPlace, tree: TreeLines): '\n' | '\r\n' {
  let balance = 0;
  const count = (line: number): void => {
    const end = line >= 0 && line < tree.length ? tree.endOf(line) : '';
    if (end !== '') balance += end === '\r\n' ? 1 : -1;
  };
  for (const line of alignment.pairs) count(line);
  if (balance === 0) count((inserts[0]?.at ?? 0) - 1);
  if (balance === 0) count(inserts[0]?.at ?? 0);
  return balance > 0 ? '\r\n' : '\n';
}

/**
 * Finds how the indentation of the diff becomes that of the tree, from the lines that agree except
 * for white space. One rule must hold for all of them, or else added lines stay as they are. Text
 * inside strings does not count for the rule. But if the tree has such text, it shows whether the
 * text moves with the code or stays.
 *
 * @returns undefined if added lines stay as they are
 */
function indentation(
  { old, alignment }: HunkPlace,
  tree: TreeLines,
  kinds: () => readonly LineKind[],
): Indenting | undefined {
  if (alignment.isExact === true) return undefined;
  let seen: [string, string][] = [];
  const inStrings: { from: string; to: string; kind: LineKind }[] = [];
  const pairs: number[] = [];
  for (const [i, line] of old.entries()) {
    const pair = alignment.pairs[i] ?? -1;
    if (pair < 0 || line.text.trim() === '') continue;
    const there = tree.text[pair] ?? '';
    if (!sameButSpace(line.text, there)) continue;
    seen.push([indentationOf(line.text), indentationOf(there)]);
    pairs.push(pair);
  }
  if (seen.every(([from, to]) => from === to)) return undefined;
  seen = seen.filter(([from, to], i) => {
    const kind = kinds()[pairs[i] ?? -1] ?? 'code';
    if (kind !== 'code') inStrings.push({ from, to, kind });
    return kind === 'code';
  });
  // If all lines are inside strings, they show how they have moved.
  if (seen.length === 0) seen = inStrings.map(({ from, to }) => [from, to]);
  const differing = seen.filter(([from, to]) => from !== to);
  if (differing.length === 0) return undefined;
  // A single deviating line is a slip, except for tabs, which nobody writes by mistake.
  const isTabs = differing.some(([from, to]) => from.includes('\t') !== to.includes('\t'));
  if (!isTabs && differing.length < Math.min(2, seen.length)) return undefined;
  const [from = '', to = ''] = differing[0] ?? [];
  const rule = indentRules(from, to).find((each) => seen.every(([old, now]) => each(old) === now));
  if (rule === undefined) return undefined;
  const stays = (kind: LineKind): boolean => {
    if (kind === 'code') return false;
    const signs = inStrings.filter((each) => each.kind === kind && rule(each.from) !== each.from);
    return signs.length > 0 ? signs.some(({ from, to }) => from === to) : kind === 'data';
  };
  const staying = new Set((['docstring', 'data'] as const).filter(stays));
  return (line, kind) => {
    if (line.trim() === '' || (kind !== 'code' && staying.has(kind))) return line;
    const indent = indentationOf(line);
    return (rule(indent) ?? indent) + line.slice(indent.length);
  };
}

/** The indentation of the tree for one of the diff; undefined where the rule gives none. */
type IndentRule = (indent: string) => string | undefined;

/** The rules by which one indentation may have become another one, the likeliest first. */
function indentRules(from: string, to: string): IndentRule[] {
  const rules: IndentRule[] = [];
  for (const width of [4, 8, 2, 3]) {
    rules.push((indent) => indent.replace(/\t/g, ' '.repeat(width)));
    rules.push((indent) => {
      const columns = indent.replace(/\t/g, ' '.repeat(width)).length;
      return '\t'.repeat(Math.floor(columns / width)) + ' '.repeat(columns % width);
    });
  }
  // Everything moved in or out.
  if (to.endsWith(from)) rules.push((indent) => to.slice(0, to.length - from.length) + indent);
  if (from.startsWith(to)) {
    const extra = from.length - to.length;
    rules.push((indent) => (indent.length >= extra ? indent.slice(extra) : undefined));
  }
  // Another indentation width.
  rules.push((indent) => {
    const length = (indent.length * to.length) / from.length;
    return Number.isInteger(length) ? (to[0] ?? ' ').repeat(length) : undefined;
  });
  return rules;
}

/**
 * The hunks of a change of a file: deleted lines, and inserted lines by the line after them.
 *
 * @param changes the line numbers of both, ascending, each once
 */
export function hunksOf(
  tree: TreeLines,
  deleted: ReadonlySet<number>,
  inserts: ReadonlyMap<number, readonly HunkLine[]>,
  changes: readonly number[],
): Hunk[] {
  const hunks: Hunk[] = [];
  let shift = 0;
  // The last line so far that begins with a letter, which git writes as the section.
  let headed = -1;
  let read = 0;
  for (let i = 0; i < changes.length;) {
    let to = i + 1;
    const gap = (k: number): number => (changes[k] ?? 0) - (changes[k - 1] ?? 0);
    while (to < changes.length && gap(to) <= 2 * contextLines) to += 1;
    const from = Math.max(0, (changes[i] ?? 0) - contextLines);
    const last = changes[to - 1] ?? 0;
    const end = Math.min(tree.length, last + (deleted.has(last) ? 1 : 0) + contextLines);
    const lines: HunkLine[] = [];
    let added = 0;
    let removed = 0;
    for (let line = from; line <= end; line += 1) {
      const written = line <= last ? (inserts.get(line) ?? []) : [];
      for (const one of written) lines.push(one);
      added += written.length;
      if (line === end) break;
      const kind = deleted.has(line) ? 'removed' : 'context';
      if (kind === 'removed') removed += 1;
      lines.push({ kind, text: tree.withReturn(line), noNewline: tree.endOf(line) === '' });
    }
    const oldLines = end - from;
    const newLines = oldLines + added - removed;
    const oldStart = oldLines === 0 ? from : from + 1;
    const newStart = newLines === 0 ? from + shift : from + shift + 1;
    for (; read < from; read += 1) {
      if (/^[A-Za-z_$]/.test(tree.text[read] ?? '')) headed = read;
    }
    const section = heading(tree.text[headed] ?? '');
    hunks.push({ oldStart, oldLines, newStart, newLines, section, lines, line: 1 });
    shift += added - removed;
    i = to;
  }
  return hunks;
}

/**
 * The text that git writes after the second `@@`: the last line before the hunk that begins with a
 * letter.
 */
function heading(text: string): string {
  return [...text.trimEnd()].slice(0, 80).join('').trimEnd();
}
