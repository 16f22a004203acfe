import { readBlocks } from './readBlocks';
import { spanPattern } from './marks';
import type { BlockReading } from './blockParts';
import type { Diagnostic, DiagnosticCode, Fix } from '../diagnostic';

/**
 * Lines of R that the code of a block replaces as they are: 1-based, both ends included. If `to` is
 * `from - 1`, the code is inserted before `from`. This range form extends the format, so that it
 * can write every change of a text.
 */
export interface ReplacedLines {
  readonly from: number;
  readonly to: number;
  /** The line end of the code; that of the file if absent. */
  readonly lineEnd?: 'LF' | 'CRLF';
}

/**
 * One block of the custom format (SWT-Bench paper, section 4.2 and appendix A):
 * `diff`, path, `rewrite` or `insert`, line number or EOF or BOF, code, `end diff`.
 */
export interface CustomBlock {
  /** 1-based line of `diff` in the text. */
  readonly line: number;
  /** Last line, included: of `end diff`, or of the code. */
  readonly endLine: number;
  readonly path: string;
  readonly pathLine: number;
  readonly action: 'rewrite' | 'insert';
  readonly actionLine: number;
  /** 1-based line of R near which the code belongs, an end of the file, or the lines to replace. */
  readonly place: number | 'EOF' | 'BOF' | ReplacedLines;
  readonly placeLine: number;
  /**
   * Lines of code without line ends. Except in the range form, the first and the last are not
   * blank.
   */
  readonly code: readonly string[];
  /** Range form only: the last line of code is the last line of the file and has no line end. */
  readonly noNewline: boolean;
  /** 1-based line of the first line of code. */
  readonly codeLine: number;
  /** Whether the text ends before the block does, so that it may be cut off. */
  readonly cut?: boolean;
}

/** A place as a block writes it. */
export function placeText(place: CustomBlock['place']): string {
  return typeof place === 'object' ? `${place.from}-${place.to}` : String(place);
}

/** A fix that replaces one line. */
export function replaceLine(title: string, line: number, text: string): Fix {
  return { title, edits: [{ from: line, to: line + 1, lines: [text] }] };
}

/** A fix that inserts a line before another. */
export function insertLine(title: string, before: number, text: string): Fix {
  return { title, edits: [{ from: before, to: before, lines: [text] }] };
}

type Tell = (
  severity: Diagnostic['severity'],
  code: DiagnosticCode,
  line: number,
  message: string,
  hint: string,
  fixes?: readonly Fix[],
  endLine?: number,
) => void;

/**
 * Reads the blocks of a text and ignores the text around them. A block with an error is left out.
 */
export function parseCustom(text: string): { blocks: CustomBlock[]; diagnostics: Diagnostic[] } {
  return checkBlocks(readBlocks(text));
}

/** Like {@link parseCustom}, for blocks that were read before. */
export function checkBlocks(readings: readonly BlockReading[]): {
  blocks: CustomBlock[];
  diagnostics: Diagnostic[];
} {
  const blocks: CustomBlock[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const reading of readings) {
    const { block, told } = checked(reading);
    if (block !== undefined) blocks.push(block);
    diagnostics.push(...told);
  }
  return { blocks, diagnostics };
}

interface Checked {
  readonly block: CustomBlock | undefined;
  readonly told: readonly Diagnostic[];
}

/** Cached, so that an unchanged block stays the same object while others are edited. */
const checkedReadings = new WeakMap<BlockReading, Checked>();

function checked(reading: BlockReading): Checked {
  let result = checkedReadings.get(reading);
  if (result === undefined) {
    const told: Diagnostic[] = [];
    const tell: Tell = (severity, code, line, message, hint, fixes = [], endLine = line) => {
      told.push({
        ...{ severity, line, message, hint, code },
        ...(fixes.length > 0 && { fixes }),
        ...(endLine > line && { endLine }),
      });
    };
    tellMended(reading, tell);
    const block = checkBlock(reading, tell);
    tellStray(reading, tell);
    checkedReadings.set(reading, (result = { block, told }));
  }
  return result;
}

/** Reports what the reader repaired. */
function tellMended(reading: BlockReading, tell: Tell): void {
  const { line, endLine, missing, code, lines } = reading;
  if (missing.includes('diff')) {
    const fix = insertLine('Write "diff" above the path', line, 'diff');
    tell(
      'warning',
      'missing-header',
      line,
      'The first line of the block, "diff", is missing',
      fix.title,
      [fix],
    );
  }
  for (const repeated of reading.repeated) {
    const edits = [{ from: repeated, to: repeated + 1, lines: [] }];
    tell('warning', 'duplicate', repeated, 'The line repeats the previous one', 'Remove it', [
      { title: 'Remove the line', edits },
    ]);
  }
  if (reading.numbered && lines.length > 0) {
    const edits = [{ from: code.from, to: code.to, lines }];
    tell(
      'warning',
      'numbered-lines',
      code.from,
      'The code lines start with line numbers, which are ignored',
      'Write the code without numbers',
      [{ title: 'Remove the line numbers', edits }],
      code.to - 1,
    );
  }
  if (missing.includes('end')) {
    const fix = insertLine('Write "end diff" after the code', endLine + 1, 'end diff');
    tell(
      'warning',
      'missing-end',
      endLine,
      'The last line of the block, "end diff", is missing',
      fix.title,
      [fix],
    );
  }
}

/** Reports each `end diff` that ends no block. It is an error if code above it would be lost. */
function tellStray({ line, end, path, stray }: BlockReading, tell: Tell): void {
  for (const [i, { from, to, code }] of stray.entries()) {
    const alone: Fix = {
      title: 'Remove the line',
      edits: [{ from: to, to: to + 1, lines: [] }],
    };
    if (!code) {
      const hint = from === to ? alone.title : 'The lines above it are ignored; remove it too';
      tell('warning', 'malformed', to, 'This "end diff" does not end a block', hint, [alone]);
      continue;
    }
    const head = ['diff', path?.value ?? 'path/to/test_file.py', 'insert', 'EOF'];
    const begin: Fix = {
      title: 'Start a block with these lines',
      edits: [{ from, to: from, lines: head }],
    };
    // The lines after a block may be the rest of its code.
    const join: Fix[] =
      i === 0 && end !== undefined && line < from
        ? [
            {
              title: 'Remove the "end diff" before these lines',
              edits: [{ from: end, to: end + 1, lines: [] }],
            },
          ]
        : [];
    tell(
      'error',
      'malformed',
      from,
      `The lines ${from} to ${to} end with "end diff" but belong to no block, so their code would be lost`,
      'Write "diff", path, keyword and place above them, or one "end diff" for each block',
      [...join, begin, alone],
      to,
    );
  }
}

const replaceWords = /^(re-?writ|replac|modif|updat|chang|edit|overwrit|fix)/i;

function checkBlock(reading: BlockReading, tell: Tell): CustomBlock | undefined {
  const { path, keyword, place, line } = reading;
  if (path === undefined) {
    const below = keyword?.line ?? line + 1;
    tell(
      'error',
      'missing-header',
      line,
      'The block has no file path',
      'Write the path of the file',
      [insertLine('Write a path', below, 'path/to/test_file.py')],
    );
    return undefined;
  }
  const action = checkKeyword(reading, path.line, tell);
  if (action === undefined || keyword === undefined) return undefined;
  const where = checkPlace(reading, action, tell);
  if (where === undefined || place === undefined) return undefined;
  const isNewFile = action === 'insert' && /(^|\/)__init__\.pyi?$/.test(path.value);
  if (reading.lines.length === 0 && typeof where !== 'object' && !isNewFile) {
    tell(
      'error',
      'missing-code',
      line,
      'The block contains no code',
      'Write the whole function or class',
      [],
      reading.endLine,
    );
    return undefined;
  }
  return {
    line,
    endLine: reading.endLine,
    path: path.value.replace(/^(\.\/)+/, ''),
    pathLine: path.line,
    action,
    actionLine: keyword.line,
    place: where,
    placeLine: place.line,
    code: reading.lines,
    noNewline: reading.noNewline,
    codeLine: reading.code.from,
    ...(reading.cut && { cut: true }),
  };
}

function checkKeyword(
  { keyword, place, missing }: BlockReading,
  pathLine: number,
  tell: Tell,
): CustomBlock['action'] | undefined {
  if (keyword === undefined) {
    const isCut = place === undefined && missing.includes('code');
    tell(
      'error',
      isCut ? 'incomplete' : 'unknown-keyword',
      pathLine,
      isCut
        ? 'The block ends before its code'
        : 'The block does not say "rewrite" or "insert" below its path',
      'Write path, keyword, place and code, each on its own line',
      ['insert', 'rewrite'].map((word) => insertLine(`Write "${word}"`, pathLine + 1, word)),
    );
    return undefined;
  }
  const action = keyword.value.toLowerCase();
  if (action === 'rewrite' || action === 'insert') return action;
  const words = replaceWords.test(action) ? ['rewrite', 'insert'] : ['insert', 'rewrite'];
  tell(
    'error',
    'unknown-keyword',
    keyword.line,
    `Unknown keyword "${keyword.value}"`,
    'Write "rewrite" to replace a function or class, "insert" to add one',
    words.map((word) => replaceLine(`Write "${word}"`, keyword.line, word)),
  );
  return undefined;
}

function checkPlace(
  { place, keyword, missing }: BlockReading,
  action: CustomBlock['action'],
  tell: Tell,
): CustomBlock['place'] | undefined {
  const hint = 'Write a line number, EOF or BOF in the line before the code';
  if (place === undefined) {
    const below = (keyword?.line ?? 0) + 1;
    tell(
      'error',
      missing.includes('code') ? 'incomplete' : 'unknown-place',
      keyword?.line ?? 1,
      missing.includes('code')
        ? 'The block ends before its code'
        : `The block does not say where to ${action}`,
      hint,
      ['EOF', 'BOF'].map((word) => insertLine(`Write ${word}`, below, word)),
    );
    return undefined;
  }
  const found = readPlace(place.value);
  const at = (word: string): Fix => replaceLine(`Write ${word}`, place.line, word);
  if (found === undefined) {
    const digits = /\d{1,7}/.exec(place.value)?.[0];
    const words = [...(digits === undefined ? [] : [digits]), 'EOF', 'BOF'];
    tell(
      'error',
      'unknown-place',
      place.line,
      `"${place.value}" is not a place`,
      hint,
      words.map(at),
    );
    return undefined;
  }
  if (typeof found !== 'object') return found;
  if (action === 'insert') {
    tell(
      'error',
      'unknown-place',
      place.line,
      `Code is inserted at a single line, not at lines ${place.value}`,
      'Write one line number, or "rewrite" to replace these lines by the code as it is',
      [at(String(found.from)), replaceLine('Write "rewrite"', keyword?.line ?? 1, 'rewrite')],
    );
    return undefined;
  }
  if (found.from < 1 || found.to < found.from - 1) {
    tell(
      'error',
      'unknown-place',
      place.line,
      `There are no lines ${place.value}`,
      'Write the first and the last line, or "5-4" to insert before line 5',
      found.from >= 1 && found.to >= 1 ? [at(`${found.to}-${found.from}`)] : [],
    );
    return undefined;
  }
  return found;
}

function readPlace(text: string): CustomBlock['place'] | undefined {
  const word = text.toUpperCase();
  if (word === 'EOF' || word === 'BOF') return word;
  const span = spanPattern.exec(text);
  if (span !== null) {
    const lineEnd = span[3]?.toUpperCase();
    return {
      from: Number(span[1]),
      to: Number(span[2]),
      ...((lineEnd === 'LF' || lineEnd === 'CRLF') && { lineEnd }),
    };
  }
  const match = /^(?:line\s+)?~?(\d{1,7})$/i.exec(text);
  return match === null ? undefined : Math.max(1, Number(match[1]));
}
