import type { BlockParts, Field } from '../../patch/customFormat';

/** The purpose of a line of a custom diff, judged by the lines above it. */
type LineRole = 'outside' | 'start' | 'path' | 'keyword' | 'place' | 'code' | 'end';

/**
 * The block of a line (1-based), and the purpose of the line in it. A block without an end extends
 * over the lines after it.
 */
export function blockRole(
  lines: readonly string[],
  blocks: readonly BlockParts[],
  line: number,
): { role: LineRole; block?: BlockParts } {
  const at = blocks.findLastIndex((each) => each.line <= line);
  const block = blocks[at];
  if (block === undefined) return { role: 'outside' };
  if (block.end !== undefined && line >= block.end) {
    return line === block.end ? { role: 'end', block } : { role: 'outside' };
  }
  const hasStart = !block.missing.includes('diff');
  if (hasStart && line === block.line) return { role: 'start', block };
  const first = hasStart ? block.line : block.line - 1;
  let written = 0;
  for (let i = first; i < line - 1 && written < 3; i += 1) {
    if ((lines[i] ?? '').trim() !== '') written += 1;
  }
  return { role: (['path', 'keyword', 'place'] as const)[written] ?? 'code', block };
}

/** Whether a position (1-based line, 0-based column) is inside a field of a block's header. */
export const isIn = (field: Field | undefined, line: number, column: number): boolean =>
  field?.line === line && field.column <= column && column <= field.column + field.value.length;

/** The path of a block without leading `./`, as the engine reads it. */
export const blockPath = (block: BlockParts): string | undefined =>
  block.path?.value.replace(/^(\.\/)+/, '');

/** The action of a block; undefined as long as its keyword is not written. */
export function blockAction(block: BlockParts): 'rewrite' | 'insert' | undefined {
  const word = block.keyword?.value.toLowerCase();
  return word === 'rewrite' || word === 'insert' ? word : undefined;
}

/**
 * The line of R that the place of a block names; undefined if it names an end of the file, or is
 * missing.
 */
export function blockLine(block: BlockParts): number | undefined {
  const digits = /\d{1,7}/.exec(block.place?.value ?? '')?.[0];
  return digits === undefined ? undefined : Math.max(1, Number(digits));
}

/** A function or class that the code of a block defines. */
interface DefinedName {
  readonly kind: 'function' | 'class';
  readonly name: string;
  /** 1-based line of `def` or `class` in the custom diff. */
  readonly line: number;
  /** 0-based columns of the name, `to` excluded. */
  readonly from: number;
  readonly to: number;
  /** White space before it. */
  readonly indent: string;
}

const definition = /^([ \t]*)((?:async\s+)?def|class)(\s+)([\p{L}_][\p{L}\p{N}_]*)/u;

/**
 * Functions and classes in a block's code, recognised by their first lines alone, since code may be
 * half-written.
 */
export function namesIn(lines: readonly string[], block: BlockParts): DefinedName[] {
  const found: DefinedName[] = [];
  for (let line = block.code.from; line < block.code.to; line += 1) {
    const match = definition.exec(lines[line - 1] ?? '');
    if (match === null) continue;
    const [, indent = '', word = '', gap = '', name = ''] = match;
    const from = indent.length + word.length + gap.length;
    const kind = word === 'class' ? 'class' : 'function';
    found.push({ kind, name, line, from, to: from + name.length, indent });
  }
  return found;
}

/** The names with the least indentation, which the block rewrites or inserts. */
export function outermost(names: readonly DefinedName[]): DefinedName[] {
  const margin = Math.min(...names.map((each) => each.indent.length));
  return names.filter((each) => each.indent.length === margin);
}
