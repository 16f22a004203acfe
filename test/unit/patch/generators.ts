import {
  diffTexts,
  formatFilePatch,
  splitLines,
  type FileEdit,
} from '../../../src/patch/makeUnified';

/** The output of a generator, and the edits that the format cannot express. */
export interface Written {
  readonly text: string;
  readonly left: readonly { readonly path: string; readonly why: string }[];
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32, public domain). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export const pick = <T>(random: () => number, all: readonly T[]): T => {
  const found = all[Math.floor(random() * all.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
};

/** A change of lines of a file, with its context. */
interface Span {
  /** 0-based lines of the original file; `to` is excluded. */
  from: number;
  to: number;
  /** The lines that replace them, with their line ends. */
  text: string[];
}

/**
 * The changes of an edit, with enough context that each span occurs only once in the original file
 * and no two touch. Each thus has one place, whatever number it is given.
 */
function uniqueSpans(before: string, after: string): Span[] {
  const lines = splitLines(before);
  const spans: Span[] = diffTexts(before, after).map((hunk) => {
    const from = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    const text = hunk.lines
      .filter((line) => line.kind !== 'removed')
      .map((line) => line.text + (line.noNewline ? '' : '\n'));
    return { from, to: from + hunk.oldLines, text };
  });
  for (;;) {
    const joined = join(spans, lines);
    const common = joined.find((span) => !isUnique(lines, span));
    if (common === undefined) return joined;
    if (common.from > 0) common.text.unshift(lines[--common.from] ?? '');
    if (common.to < lines.length) common.text.push(lines[common.to++] ?? '');
    spans.splice(0, spans.length, ...joined);
  }
}

/** Merges spans that touch or overlap. */
function join(spans: readonly Span[], lines: readonly string[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last === undefined || last.to < span.from) {
      joined.push({ ...span, text: [...span.text] });
      continue;
    }
    // Overlapping spans have both grown by context, which each of them contains.
    last.text.push(...span.text.slice(last.to - span.from));
    last.to = Math.max(last.to, span.to);
  }
  return joined.map((span) => ({ ...span, to: Math.min(span.to, lines.length) }));
}

function isUnique(lines: readonly string[], { from, to }: Span): boolean {
  if (from === 0 && to === lines.length) return true;
  const wanted = lines.slice(from, to);
  // Blank lines and brackets alone do not identify a place, even where only one such line exists.
  if (!wanted.some((line) => /\w/.test(line))) return false;
  let found = 0;
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (wanted.every((line, i) => sameButBlanks(lines[at + i], line))) found += 1;
  }
  return found === 1;
}

/**
 * Compares without white space: placing tolerates differences in it, so it must not be the only
 * difference of two places.
 */
const sameButBlanks = (a: string | undefined, b: string): boolean => a?.trim() === b.trim();

/** Styles of a hunk's line number. */
const headers = ['far', 'near', 'plain', 'dots'] as const;

/**
 * Unified diffs in the style of models: numbers are wrong or missing, and context identifies one
 * place.
 */
export function writeFuzzy(edits: readonly FileEdit[], random: () => number): Written {
  const left: { path: string; why: string }[] = [];
  let text = '';
  for (const { path, before, after } of edits) {
    if (before === after) continue;
    if (before === undefined || after === undefined) {
      text += fileAsWhole({ path, before, after });
      continue;
    }
    text += `--- a/${path}\n+++ b/${path}\n`;
    const lines = splitLines(before);
    for (const span of uniqueSpans(before, after)) {
      const old = lines.slice(span.from, span.to);
      const shift = Math.floor(random() * 60) - 30;
      const start = Math.max(1, span.from + 1 + shift);
      text += {
        far: `@@ -${start},${old.length} +${start},${span.text.length} @@\n`,
        near: `@@ -${Math.max(1, span.from)},${old.length + 2} +${span.from + 2},${span.text.length} @@\n`,
        plain: '@@\n',
        dots: '@@ ... @@\n',
      }[pick(random, headers)];
      text += hunkBody(old, span.text);
    }
  }
  return { text, left };
}

/** A new file or a deleted one, whose place cannot be wrong. */
const fileAsWhole = ({ path, before, after }: FileEdit): string =>
  formatFilePatch({
    oldPath: before === undefined ? null : path,
    newPath: after === undefined ? null : path,
    kind: before === undefined ? 'added' : 'deleted',
    binary: false,
    hunks: diffTexts(before ?? '', after ?? ''),
    git: true,
    line: 1,
    endLine: 1,
  });

/**
 * The body of a hunk from the lines before and after, with the differences in one place or several.
 */
function hunkBody(before: readonly string[], after: readonly string[]): string {
  const marks = { context: ' ', removed: '-', added: '+' };
  const written: string[] = [];
  let at = 0;
  for (const each of diffTexts(before.join(''), after.join(''))) {
    const from = each.oldLines === 0 ? each.oldStart : each.oldStart - 1;
    for (; at < from; at += 1) written.push(` ${before[at]?.replace(/\n$/, '') ?? ''}`);
    for (const line of each.lines) {
      written.push(marks[line.kind] + line.text);
      if (line.noNewline) written.push('\\ No newline at end of file');
    }
    at = from + each.oldLines;
  }
  for (; at < before.length; at += 1) {
    const line = before[at] ?? '';
    written.push(` ${line.replace(/\n$/, '')}`);
    if (!line.endsWith('\n')) written.push('\\ No newline at end of file');
  }
  return `${written.join('\n')}\n`;
}

/** Styles of a block's path. */
const pathStyles = ['before', 'before the fence', 'heading', 'carried on'] as const;

/** Search/replace blocks, with paths in the styles of aider and Agentless. */
export function writeSearchReplace(edits: readonly FileEdit[], random: () => number): Written {
  const left: { path: string; why: string }[] = [];
  const blocks: string[] = [];
  for (const { path, before, after } of edits) {
    if (before === after) continue;
    if (after === undefined) {
      left.push({ path, why: 'deleted file' });
      continue;
    }
    if (after === '') {
      left.push({ path, why: before === undefined ? 'new file without content' : 'emptied file' });
      continue;
    }
    if (!after.endsWith('\n') || (before !== undefined && !/(^|\n)$/.test(before))) {
      left.push({ path, why: 'no newline at the end of the file' });
      continue;
    }
    const spans =
      before === undefined ? [{ from: 0, to: 0, text: [after] }] : uniqueSpans(before, after);
    const lines = splitLines(before ?? '');
    for (const [i, span] of spans.entries()) {
      const style = pick(random, i === 0 ? pathStyles.slice(0, 3) : pathStyles);
      blocks.push(searchReplaceBlock(path, lines.slice(span.from, span.to), span.text, style));
    }
  }
  return { text: blocks.join('\n'), left };
}

function searchReplaceBlock(
  path: string,
  old: readonly string[],
  now: readonly string[],
  style: (typeof pathStyles)[number],
): string {
  const content = [...old, ...now].join('');
  const width = [7, 5, 6, 8, 9].find(
    (count) => !new RegExp(`^[<=>]{${count}}( |$)`, 'm').test(content),
  );
  if (width === undefined) throw new Error('no length of markers is free');
  const body =
    `${'<'.repeat(width)} SEARCH\n${old.join('')}${'='.repeat(width)}\n` +
    `${now.join('')}${'>'.repeat(width)} REPLACE\n`;
  const fence = content.includes('```') ? '~~~~' : '```';
  switch (style) {
    case 'before':
      return `${fence}python\n${path}\n${body}${fence}\n`;
    case 'before the fence':
      return `${path}\n${fence}python\n${body}${fence}\n`;
    case 'heading':
      return `${fence}python\n### ${path}\n${body}${fence}\n`;
    case 'carried on':
      return `${fence}python\n${body}${fence}\n`;
  }
}

/** A unified diff as git writes it. */
export function writeUnified(edits: readonly FileEdit[]): string {
  return edits
    .filter((edit) => edit.before !== edit.after)
    .map((edit) =>
      edit.before === undefined || edit.after === undefined
        ? fileAsWhole(edit)
        : formatFilePatch({
            oldPath: edit.path,
            newPath: edit.path,
            kind: 'modified',
            binary: false,
            hunks: diffTexts(edit.before, edit.after),
            git: true,
            line: 1,
            endLine: 1,
          }),
    )
    .join('');
}

/**
 * The same in the style of people and models: without lines that only git writes, and with
 * additions of mail and chat.
 */
export function asWrittenByHand(patch: string, random: () => number): string {
  const time = '\t2024-05-01 10:00:00.000000000 +0200';
  const stamped = random() < 0.5;
  const prefixed = random() < 0.5;
  let inHeader = false;
  const lines = patch.split('\n').flatMap((line) => {
    if (line.startsWith('diff --git ')) inHeader = true;
    if (line.startsWith('@@')) {
      inHeader = false;
      return [random() < 0.5 ? line.replace(/^(@@ .*? @@).*/, '$1') : line];
    }
    if (!inHeader) return [line];
    const name = /^(---|\+\+\+) (.*)$/.exec(line);
    if (name === null) return [];
    const [, mark = '', path = ''] = name;
    const bare = prefixed || path === '/dev/null' ? path : path.replace(/^[ab]\//, '');
    return [`${mark} ${bare}${stamped ? time : ''}`];
  });
  return ['Here are the tests:', '', '```diff', ...lines.slice(0, -1), '```', '', 'Done.', ''].join(
    '\n',
  );
}
