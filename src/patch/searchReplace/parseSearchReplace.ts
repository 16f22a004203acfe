import type { Diagnostic, Fix } from '../diagnostic';

/**
 * One block of the search/replace format of aider and Agentless. The lines between `<<<<<<< SEARCH`
 * and `=======` must be in the file. The lines up to `>>>>>>> REPLACE` replace them.
 */
export interface SearchReplaceBlock {
  /** 1-based lines of the markers that begin and end the block. */
  readonly line: number;
  readonly endLine: number;
  readonly path: string;
  /**
   * 1-based line that names the path; if the block has none, that of the block from which it takes
   * the path.
   */
  readonly pathLine: number;
  /** Everything between the outer markers, without line ends. */
  readonly body: readonly string[];
  /** 1-based line of the text at which `body` begins. */
  readonly bodyLine: number;
  /**
   * 1-based line of the file at which SEARCH begins, if the block gives it (`:start_line:12`, as in
   * Roo).
   */
  readonly startLine?: number;
  /**
   * Indexes in `body` of the lines that may divide the two sides; never empty. There are several if
   * the code itself contains such lines, since headings of reStructuredText look the same.
   */
  readonly dividers: readonly number[];
}

/** The blocks of a text, and the problems of reading them. */
interface SearchReplaceReading {
  readonly blocks: readonly SearchReplaceBlock[];
  readonly diagnostics: readonly Diagnostic[];
}

// The words of aider, its former ones, and the markers of Cline.
const headPattern = /^\s*(<{5,9}|-{5,9}) ?(?:SEARCH|ORIGINAL)\s*>?\s*$/;
const dividerPattern = /^\s*={5,9}\s*$/;
const endPattern = /^\s*(?:>{5,9}|\+{5,9}) ?(?:REPLACE|UPDATED)\s*<?\s*$/;
const fencePattern = /^\s*(?:`{3,}|~{3,})/;

/** Whether a text contains the start of such a block. */
export function holdsSearchReplace(text: string): boolean {
  return /^[ \t]*(?:<{5,9}|-{5,9}) ?(?:SEARCH|ORIGINAL)[ \t]*>?[ \t]*\r?$/m.test(text);
}

/**
 * Reads the blocks of a text and ignores the text around them. A block with an error is left out.
 *
 * It accepts what aider's `find_original_update_blocks` and Agentless'
 * `split_edit_multifile_commands` accept, with three differences, since theirs lose code. A second
 * `=======` does not end a block, since code may contain such lines. A block that is cut off is an
 * error and never applied in part. A fence or a path within the sides belongs to the code.
 */
export function parseSearchReplace(text: string): SearchReplaceReading {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const blocks: SearchReplaceBlock[] = [];
  const diagnostics: Diagnostic[] = [];
  let path: { name: string; line: number } | undefined;
  for (let i = 0; i < lines.length; i += 1) {
    if (!headPattern.test(lines[i] ?? '')) continue;
    path = findPath(lines, i) ?? path;
    const { dividers, end, next } = findEnd(lines, i);
    const tell = (problem: BlockProblem): void =>
      void diagnostics.push({ line: i + 1, ...problem });
    if (dividers.length === 0) tell(noDivider);
    else if (end === undefined) tell(cutOff(next + 1));
    else if (path === undefined) tell(noPath);
    else {
      if (end.mended) tell(noLastLine(end.at + 1));
      const { startLine, from } = readFields(lines, i + 1, dividers[0] ?? i + 1);
      blocks.push({
        line: i + 1,
        endLine: end.mended ? end.at : end.at + 1,
        path: path.name,
        pathLine: path.line,
        body: lines.slice(from, end.at),
        bodyLine: from + 1,
        ...(startLine !== undefined && { startLine }),
        dividers: dividers.map((at) => at - from),
      });
    }
    i = next - 1;
  }
  return { blocks, diagnostics };
}

type BlockProblem = Omit<Diagnostic, 'line'>;

const noDivider: BlockProblem = {
  severity: 'error',
  code: 'incomplete',
  message: 'The SEARCH block has no line "======="',
  hint: 'Write "=======" between the old and the new lines',
};

const noPath: BlockProblem = {
  severity: 'error',
  code: 'missing-header',
  message: 'The block does not say which file it changes',
  hint: 'Write the path in the line before "<<<<<<< SEARCH", or before its fence',
};

const endFix = (at: number): Fix => ({
  title: 'Write ">>>>>>> REPLACE" after the code',
  edits: [{ from: at, to: at, lines: ['>>>>>>> REPLACE'] }],
});

const cutOff = (at: number): BlockProblem => ({
  severity: 'error',
  code: 'incomplete',
  message: 'The block ends before its line ">>>>>>> REPLACE"',
  hint: 'Complete the block; incomplete blocks are not applied',
  fixes: [endFix(at)],
});

const noLastLine = (at: number): BlockProblem => ({
  severity: 'warning',
  code: 'missing-end',
  message: 'The last line of the block, ">>>>>>> REPLACE", is missing',
  hint: 'Write ">>>>>>> REPLACE" after the code',
  fixes: [endFix(at)],
});

/**
 * Reads the lines `:start_line:12` and `:end_line:15` and the line `-------` below them, as in Roo
 * Code.
 */
function readFields(
  lines: readonly string[],
  from: number,
  to: number,
): { startLine: number | undefined; from: number } {
  let at = from;
  let startLine: number | undefined;
  for (; at < to; at += 1) {
    const field = /^\s*:(start|end)_line:\s*(\d{1,7})\s*$/.exec(lines[at] ?? '');
    if (field === null) break;
    if (field[1] === 'start') startLine = Number(field[2]);
  }
  if (at > from && at < to && /^\s*-{5,9}\s*$/.test(lines[at] ?? '')) at += 1;
  return { startLine, from: at };
}

interface Ending {
  dividers: number[];
  /** Where the second side ends; undefined if nothing marks the end. */
  end: { at: number; mended: boolean } | undefined;
  /** The line at which reading continues; it is after the line of `head`. */
  next: number;
}

function findEnd(lines: readonly string[], head: number): Ending {
  const dividers: number[] = [];
  let closing: number | undefined;
  let i = head + 1;
  for (; i < lines.length; i += 1) {
    const line = lines[i] ?? '';
    if (headPattern.test(line)) break;
    if (endPattern.test(line)) {
      return {
        dividers: likely(lines, dividers, head),
        end: { at: i, mended: false },
        next: i + 1,
      };
    }
    if (dividerPattern.test(line)) dividers.push(i);
    else if (/^\s*(?:`{3,}|~{3,})\s*$/.test(line) && dividers.length > 0) closing = i;
  }
  // Only a closing fence shows that the answer was not cut off.
  if (closing === undefined) return { dividers, end: undefined, next: i };
  const within = dividers.filter((at) => at < (closing ?? 0));
  return { dividers: likely(lines, within, head), end: { at: closing, mended: true }, next: i };
}

/** Of the possible dividers, those written like the head, if there are any. */
function likely(lines: readonly string[], dividers: readonly number[], head: number): number[] {
  const [, indent = '', mark = ''] = /^(\s*)([<-]*)/.exec(lines[head] ?? '') ?? [];
  const isLong = (at: number): boolean => (lines[at] ?? '').trim().length === mark.length;
  const isDeep = (at: number): boolean => /^\s*/.exec(lines[at] ?? '')?.[0] === indent;
  for (const isLikely of [(at: number) => isLong(at) && isDeep(at), isLong]) {
    const alike = dividers.filter(isLikely);
    if (alike.length > 0) return alike;
  }
  return [...dividers];
}

/**
 * The path of the block whose head is `lines[head]`. It is within the three non-blank lines before
 * the head, which are fences or the path itself.
 */
function findPath(
  lines: readonly string[],
  head: number,
): { name: string; line: number } | undefined {
  let fences = 0;
  for (let i = head - 1, seen = 0; i >= 0 && seen < 3; i -= 1) {
    const line = lines[i] ?? '';
    if (line.trim() === '') continue;
    seen += 1;
    if (endPattern.test(line)) return undefined;
    if (fencePattern.test(line)) {
      const name = pathOfFence(line);
      if (name !== undefined) return { name, line: i + 1 };
      // A path alone may be in a fence of its own.
      fences += 1;
      if (fences > 2) return undefined;
      continue;
    }
    const name = pathOfLine(line);
    return name === undefined ? undefined : { name, line: i + 1 };
  }
  return undefined;
}

/**
 * Reads the path after a fence: `python tests/a.py`, `python:tests/a.py`, `tests/a.py` or `python
 * title="tests/a.py"`.
 */
function pathOfFence(line: string): string | undefined {
  const info = line.replace(fencePattern, '').trim();
  const titled = /(?:title|file|filename|path)=(?:"([^"]+)"|'([^']+)'|([^"'\s}]+))/.exec(info);
  const title = titled?.[1] ?? titled?.[2] ?? titled?.[3];
  if (title !== undefined) return clean(title);
  const rest = info.replace(/^\w+(?:\s+|:)/, '');
  if (isSpacedPath(rest)) return clean(rest);
  const name = info.split(/[\s:]+/).findLast((word) => looksLikePath(word));
  return name === undefined ? undefined : clean(name);
}

/**
 * Reads a path on a line: `tests/a.py`, `### tests/a.py`, `**tests/a.py**:`, `File: tests/a.py`, or
 * in a sentence.
 */
function pathOfLine(line: string): string | undefined {
  const plain = line
    .trim()
    .replace(/^(?:#+|\/\/|[-*+]|\d+[.)]|>)\s+/, '')
    .replace(/^#+/, '')
    .replace(/^[*_]*(?:in\s+)?(?:file(?:\s*name|\s*path)?|path)[*_]*\s*:\s*[*_]*/i, '')
    .replace(/[:\s]+$/, '');
  const quoted = /^[*_]*`([^`]+)`[*_]*$/.exec(plain)?.[1];
  if (quoted !== undefined) return clean(quoted);
  const isMarked = /^\*\*[^*]+\*\*$/.test(plain) || /^[*_]*(?:file|path)[^:]*:/i.test(line.trim());
  const bare = plain.replace(/^[*_"'`<]+(?=[\w./])/, '').replace(/[*_"'`>:]+$/, '');
  if (looksLikePath(bare) || isSpacedPath(bare) || (isMarked && isSpacedName(bare))) {
    return clean(bare);
  }
  // Prose that names one file: "In `tests/a.py`:"
  const named = [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
  const paths = [...new Set(named.filter((name) => looksLikePath(name) && name.includes('.')))];
  return paths.length === 1 && /:\s*$/.test(line) ? clean(paths[0] ?? '') : undefined;
}

/**
 * Whether a text is a path with blanks and not prose. The blanks follow a slash and precede the
 * only ending.
 */
function isSpacedPath(text: string): boolean {
  return /^\S+\//.test(text) && isSpacedName(text);
}

function isSpacedName(text: string): boolean {
  const words = text.split(/ +/);
  return (
    words.length > 1 &&
    /^[^\s`*"'<>|,;:(){}[\]=]+(?: +[^\s`*"'<>|,;:(){}[\]=]+)*\.\w{1,5}$/.test(text) &&
    words.slice(0, -1).every((word) => !/\.\w+$/.test(word))
  );
}

function looksLikePath(text: string): boolean {
  if (text === '' || /[\s`*"'<>|,;(){}[\]=]/.test(text)) return false;
  return /[^/.]\.\w+$/.test(text) || /\w\/[\w.]/.test(text) || /^(Makefile|Dockerfile)$/.test(text);
}

const clean = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
