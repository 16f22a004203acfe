import type { Diagnostic } from './diagnostic';

/**
 * One block of the custom format (SWT-Bench paper, section 4.2 and appendix A):
 * `diff`, path, `rewrite` or `insert`, line number or EOF or BOF, code, `end diff`.
 */
export interface CustomBlock {
  /** 1-based line of `diff` in the text. */
  readonly line: number;
  readonly path: string;
  readonly pathLine: number;
  readonly action: 'rewrite' | 'insert';
  /** 1-based line of R near which the code belongs, or an end of the file. */
  readonly place: number | 'EOF' | 'BOF';
  /** Lines of code without line ends, the first and last of them not blank. */
  readonly code: readonly string[];
  /** 1-based line of the first line of code. */
  readonly codeLine: number;
}

const startPattern = /^diff\s*$/;
const endPattern = /^\s*end\s*diff\s*$/i;
const fence = /^\s*```/;

/** Whether a block begins at a line, told from a line of code by the keyword that follows. */
function startsBlock(lines: readonly string[], i: number): boolean {
  return startPattern.test(lines[i] ?? '') && /^\W*(rewrite|insert)\W*$/i.test(lines[i + 2] ?? '');
}

/** Whether a text holds blocks of the custom format. */
export function holdsCustomBlocks(text: string): boolean {
  const lines = text.split(/\r?\n/);
  return (
    lines.some((_, i) => startsBlock(lines, i)) ||
    (lines.some((line) => startPattern.test(line)) && lines.some((line) => endPattern.test(line)))
  );
}

/** Reads the blocks of a text, whatever stands around them. A block with an error is left out. */
export function parseCustom(text: string): { blocks: CustomBlock[]; diagnostics: Diagnostic[] } {
  const lines = text.split(/\r?\n/);
  const blocks: CustomBlock[] = [];
  const diagnostics: Diagnostic[] = [];
  for (let i = 0; i < lines.length;) {
    if (!startPattern.test(lines[i] ?? '')) {
      i += 1;
      continue;
    }
    const { block, next } = readBlock(lines, i, diagnostics);
    if (block !== undefined) blocks.push(block);
    i = next;
  }
  return { blocks, diagnostics };
}

function readBlock(
  lines: readonly string[],
  start: number,
  diagnostics: Diagnostic[],
): { block: CustomBlock | undefined; next: number } {
  const { end, next } = findEnd(lines, start, diagnostics);
  const tell = (i: number, message: string, hint: string): { block: undefined; next: number } => {
    diagnostics.push({ severity: 'error', line: i + 1, message, hint });
    return { block: undefined, next };
  };
  const fields: number[] = [];
  let i = start + 1;
  for (; i < end && fields.length < 3; i += 1) if ((lines[i] ?? '').trim() !== '') fields.push(i);
  const [pathAt, actionAt, placeAt] = fields;
  if (pathAt === undefined || actionAt === undefined || placeAt === undefined) {
    return tell(start, 'The block ends before its code', 'Write path, keyword, place and code');
  }
  const field = (at: number): string => bare(lines[at] ?? '');

  const action = field(actionAt).toLowerCase();
  if (action !== 'rewrite' && action !== 'insert') {
    return tell(
      actionAt,
      `Unknown keyword "${field(actionAt)}"`,
      'Write "rewrite" to replace a function or class, "insert" to add one',
    );
  }
  const place = readPlace(field(placeAt));
  if (place === undefined) {
    return tell(
      placeAt,
      `"${field(placeAt)}" is no place`,
      'Write a line number, EOF or BOF in the line before the code',
    );
  }
  let [from, to] = [i, end];
  const blank = (at: number): boolean => (lines[at] ?? '').trim() === '';
  const trim = (): void => {
    while (from < to && blank(from)) from += 1;
    while (to > from && blank(to - 1)) to -= 1;
  };
  trim();
  if (to - from > 1 && fence.test(lines[from] ?? '') && /^\s*```\s*$/.test(lines[to - 1] ?? '')) {
    from += 1;
    to -= 1;
    trim();
  }
  if (from === to) {
    return tell(start, 'The block holds no code', 'Write the whole function or class');
  }
  return {
    block: {
      line: start + 1,
      path: field(pathAt).replace(/^(\.\/)+/, ''),
      pathLine: pathAt + 1,
      action,
      place,
      code: lines.slice(from, to),
      codeLine: from + 1,
    },
    next,
  };
}

/** A header field without the quotes, backticks or angle brackets that are put around it. */
function bare(line: string): string {
  return line
    .trim()
    .replace(/^([<"'`]\s*)+/, '')
    .replace(/(\s*[>"'`])+$/, '');
}

function readPlace(text: string): CustomBlock['place'] | undefined {
  const word = text.toUpperCase();
  if (word === 'EOF' || word === 'BOF') return word;
  const match = /^(?:line\s+)?~?(\d{1,7})$/i.exec(text);
  return match === null ? undefined : Math.max(1, Number(match[1]));
}

/** Where the code ends, and where reading goes on: at `end diff`, or where it ought to stand. */
function findEnd(
  lines: readonly string[],
  start: number,
  diagnostics: Diagnostic[],
): { end: number; next: number } {
  let closing: number | undefined;
  for (let i = start + 1; ; i += 1) {
    const over = i >= lines.length || (i > start + 1 && startsBlock(lines, i));
    if (!over && endPattern.test(lines[i] ?? '')) return { end: i, next: i + 1 };
    // A fence may stand in the code, in a docstring say, so it ends the block only if nothing else does.
    if (!over && i > start + 4 && /^```\s*$/.test(lines[i] ?? '')) closing ??= i;
    if (!over) continue;
    const end = closing ?? i;
    diagnostics.push({
      severity: 'warning',
      line: end,
      message: 'The block lacks its last line, "end diff"',
      hint: 'Write "end diff" behind the code',
    });
    return { end, next: end };
  }
}
