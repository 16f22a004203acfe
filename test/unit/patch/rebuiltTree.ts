import type { ParsedPatch, FilePatch } from '../../../src/patch/parsedPatch';
import type { PythonParser } from '../../../src/python/parser';

/**
 * The files that a patch changes, rebuilt from the patch alone. The lines in the patch stand at
 * their numbers, and different comments fill the gaps between them. After each gap, the function
 * and class of the next hunk are opened again (their names come from the hunk's heading). Python
 * files thus parse, and most changes lie in a function, as they do in the repository.
 */
export function rebuildFiles(patch: ParsedPatch, python: PythonParser): Map<string, string> {
  const files = new Map<string, string>();
  for (const file of patch.files) {
    if (file.oldPath !== null) files.set(file.oldPath, rebuild(file, python));
  }
  return files;
}

/** Lines after the last hunk where the file continues. */
const tailLength = 6;

function rebuild(file: FilePatch, python: PythonParser): string {
  const isPython = file.oldPath?.endsWith('.py') === true;
  const hunks = [...file.hunks].sort((a, b) => a.oldStart - b.oldStart);
  const lines: string[] = [];
  // The end of the file without the filler lines, which is much faster to parse.
  let dense: string[] = [];
  let noNewline = false;
  const fill = (until: number): void => {
    while (lines.length < until) {
      lines.push(`${isPython ? '# ' : ''}line ${lines.length + 1}`);
    }
  };
  for (const [index, hunk] of hunks.entries()) {
    const old = hunk.lines.filter((line) => line.kind !== 'added');
    const shown = old.map((line) => line.text);
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    noNewline = old.at(-1)?.noNewline === true;
    let trailing = 0;
    while (hunk.lines.at(-1 - trailing)?.kind === 'context') trailing += 1;
    const next = hunks[index + 1];
    const room = {
      before: start - lines.length,
      behind:
        next !== undefined
          ? next.oldStart - 1 - (start + shown.length)
          : trailing >= 3 && !noNewline
            ? tailLength
            : 0,
    };
    const { openers, closers } = isPython
      ? frame(python, dense, { shown, heading: hunk.section, number: start }, room)
      : { openers: [], closers: [] };
    fill(start - openers.length);
    lines.push(...openers, ...shown, ...closers);
    dense = [...(openers.length > 0 ? [] : dense), ...openers, ...shown, ...closers];
    if (isPython && !parses(python, dense)) dense = [];
    if (next === undefined && room.behind > 0) fill(lines.length - closers.length + tailLength);
  }
  return lines.length === 0 ? '' : lines.join('\n') + (noNewline ? '' : '\n');
}

const parses = (python: PythonParser, lines: readonly string[]): boolean =>
  python.parse(lines.join('\n'), (root) => !root.hasError);

interface Shown {
  readonly shown: readonly string[];
  readonly heading: string;
  /** A number that makes names distinct. */
  readonly number: number;
}

/** Lines to put before and after the lines of a hunk, so that they parse; none if nothing helps. */
function frame(
  python: PythonParser,
  before: readonly string[],
  hunk: Shown,
  room: { before: number; behind: number },
): { openers: string[]; closers: string[] } {
  const first = hunk.shown.find((line) => line.trim() !== '') ?? '';
  const last = hunk.shown.findLast((line) => line.trim() !== '') ?? '';
  const indent = (line: string): number => line.length - line.trimStart().length;
  const own = Math.floor(indent(first) / 4);
  const least = Math.floor(
    Math.min(...hunk.shown.filter((line) => line.trim() !== '').map(indent), 16) / 4,
  );
  const depths = [...new Set([own, least, least + 1])].filter((depth) => depth < 4);
  const inner = (depth: number): string[][] => {
    const blanks = '    '.repeat(depth);
    return [
      [],
      [`${blanks}if filler_${hunk.number}:`, `${blanks}    pass`],
      [`${blanks}try:`, `${blanks}    pass`],
      ...['(', '[', '{', '"""', 'f(g('].map((open) => [`${blanks}filler_${hunk.number} = ${open}`]),
    ];
  };
  const ends = [
    [],
    [`${' '.repeat(indent(last) + 4)}pass`],
    ...[')', ']', '}', '"""', '))', '])', '})', '""")'].map((close) => [close]),
    [`${' '.repeat(Math.max(0, indent(last) - 4))}finally:`, `${' '.repeat(indent(last))}pass`],
  ];
  for (const closers of ends) {
    if (closers.length > room.behind) continue;
    for (let kind = 0; kind < inner(0).length; kind += 1) {
      for (const depth of depths) {
        const openers = [...scopes(depth, hunk, first), ...(inner(depth)[kind] ?? [])];
        if (openers.length > room.before) continue;
        // Lines that open a scope stand at the margin, and the text before is complete.
        const whole = [...(openers.length > 0 ? [] : before), ...openers, ...hunk.shown];
        if (parses(python, [...whole, ...closers])) return { openers, closers };
      }
    }
  }
  return { openers: [], closers: [] };
}

/** Opens this many levels of indentation, among them the function or class of the heading. */
function scopes(depth: number, { heading, number }: Shown, first: string): string[] {
  if (depth === 0) return [];
  const isMember = /^\s*(async\s+def\b|def\b|class\b|@)/.test(first);
  const name = /^(?:async\s+)?(def|class)\s+(\w+)/.exec(heading);
  const takesSelf = /\((self|cls)\b/.test(heading);
  const className = name?.[1] === 'class' ? (name[2] ?? '') : `Filler${number}`;
  const functionName = name?.[1] === 'def' ? (name[2] ?? '') : `filler_${number}`;
  const method = `    def ${functionName}(self):`;
  if (depth === 1) {
    if (name?.[1] === 'class' || (isMember && !takesSelf)) return [`class ${className}:`];
    if (takesSelf) return [`class ${className}:`, method, `        filler_${number} = ${number}`];
    return [`def ${functionName}():`];
  }
  const deeper = Array.from(
    { length: depth - 2 },
    (_, level) => `${'    '.repeat(level + 2)}if filler_${number}:`,
  );
  if (name?.[1] === 'def' && !takesSelf) {
    return [`def ${functionName}():`, `    if filler_${number}:`, ...deeper];
  }
  return [`class ${className}:`, method, ...deeper];
}
