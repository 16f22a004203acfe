import { diffPattern, endPattern, readMarks, startsBlock, type Marks } from './marks';
import { readBlock, type BlockParts, type BlockReading } from './blockParts';

/**
 * A line of code rather than prose: it begins a definition, or is indented and not an item of a
 * list.
 */
const strayCode =
  /^\s*(?:\d{1,6}\s*[|:│]?\s*)?(?:(?:async\s+)?def|class)\s|^@\w|^[ \t]+(?![-*•\s])/;

/** The blocks of a text, with the data for reading a later version of it. */
export interface BlocksRead {
  readonly lines: readonly string[];
  readonly blocks: readonly BlockReading[];
  readonly marks: Marks;
}

/** Every block of a text, even if incomplete. The text around blocks is ignored. */
export function readBlockParts(text: string): BlockParts[] {
  return readBlocks(text);
}

/** Like {@link readBlockParts}, with prepared code for each block. */
export function readBlocks(text: string): BlockReading[] {
  return [...readBlocksOfLines(text.split('\n')).blocks];
}

/** Whether a block begins at a line depends on at most so many lines. */
const lookAhead = 13;

/**
 * Like {@link readBlocks}, for the lines of a text.
 *
 * @param before the result for an earlier version of the text. Blocks that neither changed nor
 *   moved stay the same objects.
 */
export function readBlocksOfLines(lines: readonly string[], before?: BlocksRead): BlocksRead {
  const old = before ?? { lines: [], blocks: [], marks: readMarks([]) };
  const { head, tail } = commonLines(old.lines, lines);
  const shift = lines.length - old.lines.length;
  const tailFrom = lines.length - tail;
  const changed = old.blocks.findIndex(
    (block) => block.end === undefined || block.endLine + lookAhead > head,
  );
  const blocks = changed < 0 ? [...old.blocks] : old.blocks.slice(0, changed);
  const first = blocks.at(-1)?.endLine ?? 0;
  const marks = joinMarks(old.marks, { first, tailFrom, shift }, readMarks(lines, first, tailFrom));
  const oldAt = new Map(old.blocks.map((block, i) => [block.line - 1 + shift, i]));
  for (let i = first; i < lines.length;) {
    const start = marks.starts.get(i);
    if (start === undefined) {
      i += 1;
      continue;
    }
    const same = i >= tailFrom ? oldAt.get(i) : undefined;
    if (same !== undefined) {
      for (const block of old.blocks.slice(same)) blocks.push(moved(block, shift));
      break;
    }
    const block = readBlock(lines, i, start, marks);
    // The word `diff` alone in a line of prose, above a real block.
    const prose = start === 'alone' && block.end === undefined && block.endLine < lines.length - 1;
    if (!prose) blocks.push(block);
    i = Math.max(i + 1, block.endLine);
  }
  return { lines, marks, blocks: withStray(blocks, lines, marks.ends) };
}

/** How many lines two texts share at the start, and how many of the rest at the end. */
function commonLines(
  before: readonly string[],
  after: readonly string[],
): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return { head, tail };
}

/** The marks of a text: those of the changed lines, between those of the earlier version. */
function joinMarks(
  old: Marks,
  { first, tailFrom, shift }: { first: number; tailFrom: number; shift: number },
  read: Marks,
): Marks {
  const join = (a: readonly number[], b: readonly number[]): number[] => {
    const above = a.filter((line) => line < first);
    const below = a.filter((line) => line + shift >= Math.max(first, tailFrom));
    return [...above, ...b, ...below.map((line) => line + shift)];
  };
  const starts = new Map(read.starts);
  for (const [line, start] of old.starts) {
    if (line < first) starts.set(line, start);
    else if (line + shift >= Math.max(first, tailFrom)) starts.set(line + shift, start);
  }
  return {
    starts,
    begins: join(old.begins, read.begins),
    ends: join(old.ends, read.ends),
    fences: join(old.fences, read.fences),
  };
}

/** A block moved down by a number of lines. */
function moved(block: BlockReading, by: number): BlockReading {
  if (by === 0) return block;
  const field = (name: 'path' | 'keyword' | 'place'): object => {
    const found = block[name];
    return found === undefined ? {} : { [name]: { ...found, line: found.line + by } };
  };
  return {
    ...block,
    ...field('path'),
    ...field('keyword'),
    ...field('place'),
    line: block.line + by,
    endLine: block.endLine + by,
    code: { from: block.code.from + by, to: block.code.to + by },
    ...(block.end !== undefined && { end: block.end + by }),
    repeated: block.repeated.map((line) => line + by),
    stray: [],
  };
}

/** Assigns each `end diff` that ends no block to the block above, or else to the first. */
function withStray(
  blocks: readonly BlockReading[],
  lines: readonly string[],
  ends: readonly number[],
): BlockReading[] {
  const found = blocks.map((): BlockReading['stray'][number][] => []);
  let [next, from] = [0, 0];
  for (const end of ends) {
    for (; next < blocks.length && (blocks[next]?.line ?? 0) <= end; next += 1) {
      from = Math.max(from, blocks[next]?.endLine ?? 0);
    }
    if (end < from) continue;
    while (from < end && (lines[from] ?? '').trim() === '') from += 1;
    const code = lines.slice(from, end).some((line) => strayCode.test(line));
    found[Math.max(0, next - 1)]?.push({ from: from + 1, to: end + 1, code });
    from = end + 1;
  }
  return blocks.map((block, i) => {
    const own = found[i] ?? [];
    return own.length === 0 && block.stray.length === 0 ? block : { ...block, stray: own };
  });
}

/** Whether a text contains blocks of the custom format. */
export function holdsCustomBlocks(text: string): boolean {
  const lines = text.split('\n');
  return (
    lines.some((_, i) => (startsBlock(lines, i) ?? 'alone') !== 'alone') ||
    (lines.some((line) => diffPattern.test(line)) && lines.some((line) => endPattern.test(line)))
  );
}
