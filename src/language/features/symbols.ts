import {
  FoldingRangeKind,
  SymbolKind,
  type DocumentSymbol,
  type FoldingRange,
} from 'vscode-languageserver';
import type { BlockParts } from '../../patch/customFormat';
import { namesIn, outermost, blockPath } from './blocks';
import { linesIn, rangeIn, type CustomDiff } from '../customDiffs';

/**
 * The outline of a custom diff: files, below them blocks, below them the further definitions of a
 * block. A symbol's range must contain its children, so separate blocks of one file are separate
 * here too.
 */
export function documentSymbols(diff: CustomDiff): DocumentSymbol[] {
  const files: DocumentSymbol[] = [];
  let path: string | undefined;
  for (const block of diff.blocks) {
    const own = blockPath(block);
    const symbol = blockSymbol(diff, block);
    const last = files.at(-1);
    if (last !== undefined && own === path) {
      last.range = { start: last.range.start, end: symbol.range.end };
      last.children?.push(symbol);
    } else {
      const field = block.path;
      files.push({
        name: own === undefined || own === '' ? 'file not named yet' : own,
        kind: SymbolKind.File,
        range: symbol.range,
        selectionRange:
          field === undefined
            ? symbol.selectionRange
            : rangeIn(diff, field.line, field.column, field.column + field.value.length),
        children: [symbol],
      });
    }
    path = own;
  }
  return files;
}

function blockSymbol(diff: CustomDiff, block: BlockParts): DocumentSymbol {
  const names = outermost(namesIn(diff.lines, block));
  const [first] = names;
  const isMethod = first?.kind === 'function' && first.indent !== '';
  const kind = first?.kind === 'class' ? SymbolKind.Class : SymbolKind.Function;
  const header = [block.keyword?.value, block.place?.value].filter(Boolean).join(' ');
  return {
    name: names.length > 0 ? names.map((each) => each.name).join(', ') : header || 'block',
    ...(names.length > 0 && { detail: header }),
    kind: first === undefined ? SymbolKind.Namespace : isMethod ? SymbolKind.Method : kind,
    range: linesIn(diff, block.line, block.endLine),
    selectionRange:
      first === undefined
        ? linesIn(diff, block.line, block.line)
        : rangeIn(diff, first.line, first.from, first.to),
  };
}

/** The foldable ranges: blocks, and the functions and classes in them. */
export function foldingRanges(diff: CustomDiff): FoldingRange[] {
  const folds: FoldingRange[] = [];
  const fold = (from: number, to: number, kind?: FoldingRangeKind): void => {
    if (to <= from) return;
    folds.push({
      startLine: diff.start + from - 1,
      endLine: diff.start + to - 1,
      ...(kind !== undefined && { kind }),
    });
  };
  for (const block of diff.blocks) {
    fold(block.line, block.endLine, FoldingRangeKind.Region);
    const open: { line: number; width: number }[] = [];
    const names = new Map(namesIn(diff.lines, block).map((each) => [each.line, each]));
    let written = block.code.from;
    for (let line = block.code.from; line <= block.code.to; line += 1) {
      const text = line < block.code.to ? (diff.lines[line - 1] ?? '') : undefined;
      if (text?.trim() === '') continue;
      const width = text === undefined ? -1 : text.length - text.trimStart().length;
      // A line that only closes brackets ends the lines of a signature, not the function.
      const closes = text !== undefined && /^\s*[)\]}]/.test(text);
      for (;;) {
        const last = open.at(-1);
        if (last === undefined || width > last.width || (closes && width === last.width)) break;
        fold(last.line, written);
        open.pop();
      }
      if (names.has(line)) open.push({ line, width });
      written = line;
    }
  }
  return folds;
}
