import type { TextEdit } from 'vscode-languageserver';
import type { LineReplacement } from '../../patch/diagnostic';
import { checkBlocks, readBlocks, spanPattern, type BlockReading } from '../../patch/customFormat';
import { blockAction, blockPath } from './blocks';
import type { CustomDiff } from '../customDiffs';
import { textEdits } from './edits';

/**
 * Formats blocks as in the paper. Headers have a bare path, a keyword in small letters, and EOF and
 * BOF in capitals. There is no blank line around the code in a block, and one between blocks. Code
 * and blocks that the engine cannot read stay as they are. So does everything whose change would
 * alter what the engine reads.
 *
 * @param text the whole document
 */
export function formatting(text: string, diff: CustomDiff): TextEdit[] {
  const groups: LineReplacement[][] = [];
  let changes: LineReplacement[] = [];
  const blank = (line: number): boolean => (diff.lines[line - 1] ?? '').trim() === '';
  const write = (line: number, wanted: string): void => {
    if (diff.lines[line - 1] !== wanted)
      changes.push({ from: line, to: line + 1, lines: [wanted] });
  };
  const dropBlank = (from: number, to: number): void => {
    for (let line = from; line < to; line += 1) {
      if (blank(line)) changes.push({ from: line, to: line + 1, lines: [] });
    }
  };
  for (const [i, block] of diff.blocks.entries()) {
    groups.push((changes = []));
    const isSound = checkBlocks([block]).blocks.length === 1;
    const header = isSound ? canonical(diff, block) : undefined;
    if (header !== undefined) {
      let above = block.line;
      write(above, 'diff');
      for (const [line, wanted] of header) {
        dropBlank(above + 1, line);
        write(line, wanted);
        above = line;
      }
      // An empty line stays if the code is not yet written.
      if (block.code.to > block.code.from) {
        dropBlank(above + 1, block.code.from);
        if (block.end !== undefined) dropBlank(block.code.to, block.end);
      }
      if (block.end !== undefined) write(block.end, 'end diff');
    }
    const next = diff.blocks[i + 1];
    if (block.end === undefined || next === undefined) continue;
    const from = block.end + 1;
    const apart = next.line - from;
    if (apart === 0) changes.push({ from, to: from, lines: [''] });
    else if (apart > 1 && diff.lines.slice(from - 1, next.line - 1).every((l) => l.trim() === ''))
      changes.push({ from: from + 1, to: next.line, lines: [] });
  }
  return textEdits(text, diff, harmless(diff, groups));
}

/** The changes of those blocks that the engine reads as before. */
function harmless(
  diff: CustomDiff,
  groups: readonly (readonly LineReplacement[])[],
): LineReplacement[] {
  const all = groups.flat();
  if (all.length === 0 || meansTheSame(diff, all)) return all;
  if (groups.length === 1) return [];
  const half = groups.length >> 1;
  const some = [...harmless(diff, groups.slice(0, half)), ...harmless(diff, groups.slice(half))];
  return meansTheSame(diff, some) ? some : [];
}

/** Whether the engine reads the same blocks after the changes. */
function meansTheSame(diff: CustomDiff, changes: readonly LineReplacement[]): boolean {
  const lines: string[] = [];
  let done = 0;
  for (const { from, to, lines: written } of changes) {
    for (; done < from - 1; done += 1) lines.push(diff.lines[done] ?? '');
    lines.push(...written);
    done = to - 1;
  }
  for (; done < diff.lines.length; done += 1) lines.push(diff.lines[done] ?? '');
  const now = readBlocks(lines.join('\n'));
  return now.length === diff.blocks.length && meaning(now) === meaning(diff.blocks);
}

const meaning = (readings: readonly BlockReading[]): string =>
  JSON.stringify(
    checkBlocks(readings).blocks.map(({ path, action, place, code, noNewline }) => [
      ...[path, action, place, code, noNewline],
    ]),
  );

/** The lines of a header with their canonical text; undefined if the header is incomplete. */
function canonical(diff: CustomDiff, block: BlockReading): [number, string][] | undefined {
  const path = blockPath(block);
  const action = blockAction(block);
  const place = canonicalPlace(block.place?.value ?? '');
  const plain = /^\s*diff\s*$/.test(diff.lines[block.line - 1] ?? '');
  if (!plain || path === undefined || action === undefined || place === undefined) return undefined;
  if (block.path === undefined || block.keyword === undefined || block.place === undefined)
    return undefined;
  return [
    [block.path.line, path],
    [block.keyword.line, action],
    [block.place.line, place],
  ];
}

function canonicalPlace(place: string): string | undefined {
  if (/^(EOF|BOF)$/i.test(place)) return place.toUpperCase();
  const [, from, to, end] = spanPattern.exec(place) ?? [];
  if (from !== undefined && to !== undefined) {
    return `${from}-${to}${end === undefined ? '' : ` ${end.toUpperCase()}`}`;
  }
  return /^(?:line\s+)?~?(\d{1,7})$/i.exec(place)?.[1];
}
