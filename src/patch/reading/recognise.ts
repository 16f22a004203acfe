import { patchFormats, type AskedFormat, type Conversion, type PatchFormat } from './conversion';
import { holdsCustomBlocks, readBlockParts } from '../custom/readBlocks';
import type { Diagnostic } from '../diagnostic';
import { holdsSearchReplace, parseSearchReplace } from '../searchReplace/parseSearchReplace';
import { parseUnified } from '../parseUnified';
import type { FilePatch } from '../parsedPatch';

/** A part of a text that changes one file: a part of a unified diff, or one block. */
interface Part {
  readonly format: PatchFormat;
  /** 1-based lines, both included. */
  readonly line: number;
  readonly endLine: number;
  /** Paths that it changes. */
  readonly paths: readonly string[];
  /** False when its end is missing. */
  readonly complete: boolean;
  /**
   * Whether another part of the same format and path makes the same change, or an alternative to
   * it.
   */
  readonly isSame: (other: Part) => boolean;
}

/** The patch that was found in a text. */
interface Recognised {
  readonly format: Conversion['format'];
  /** The text with blank lines for the parts that were left out, so that line numbers stay. */
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Finds the patch in a text that may be a whole answer of a model. Such an answer can contain
 * reasoning, prose that quotes code, and several fenced blocks, some of them patches.
 *
 * - Patches in a section of reasoning, such as `<think>`, are left out if there are others outside.
 * - Two fenced blocks may change the same lines of a file, define the same test, or search the same
 *   lines. Then the later one is the answer, unless its end is missing.
 * - If there are several formats, the last one is the answer, provided that it changes all files of
 *   the others. Otherwise it is an error, since either choice would lose something.
 *
 * Each of these choices is reported. `fuzzy` is never detected, only requested.
 */
export function recognise(text: string, asked: AskedFormat): Recognised {
  if (text.trim() === '') return { format: 'empty', text, diagnostics: [] };
  if (isPlain(text))
    return { format: asked === 'auto' ? guess(text) : asked, text, diagnostics: [] };
  const lines = text.split('\n');
  const all = partsOf(text, asked);
  const diagnostics: Diagnostic[] = [];
  const places = findFences(lines, all);
  let kept = withoutReasoning(lines, all, diagnostics);
  const format = asked === 'auto' ? formatOf(kept, diagnostics) : asked;
  if (format === undefined) {
    return { format: asked === 'auto' ? guess(text) : asked, text, diagnostics };
  }
  kept = withoutRepeated(
    kept.filter((part) => part.format === format),
    places,
    diagnostics,
  );
  const stays = new Set(kept);
  const left = all.filter((part) => !stays.has(part));
  return { format, text: left.length === 0 ? text : without(lines, left), diagnostics };
}

/**
 * Whether a text can contain only one answer in one format, so that there is nothing to choose and
 * one reading is enough.
 */
function isPlain(text: string): boolean {
  return (
    !/^[ \t]*(?:```|~~~)/m.test(text) &&
    !/<\/(?:th|reas|ana|scr|refl)\w+>/i.test(text) &&
    [holdsUnified, holdsSearchReplace, holdsCustom].filter((holds) => holds(text)).length < 2
  );
}

/**
 * {@link holdsCustomBlocks}, which checks every line, only if a line ends with a word of the
 * format.
 */
const holdsCustom = (text: string): boolean =>
  /(?:diff|rewrite|insert)[\s>"'`*]*$/im.test(text) && holdsCustomBlocks(text);

function holdsUnified(text: string): boolean {
  return /^(?:diff --git |@@ -\d)/m.test(text) || /^--- \S.*\n\+\+\+ \S/m.test(text);
}

/** Guesses the format of a text without a complete part, by the way each format begins. */
function guess(text: string): Conversion['format'] {
  if (holdsCustom(text)) return 'custom';
  if (holdsSearchReplace(text)) return 'search-replace';
  return holdsUnified(text) ? 'unified' : 'unknown';
}

/** The parts of a text in the requested formats, in order, without parts inside other parts. */
export function partsOf(text: string, asked: AskedFormat): Part[] {
  const parts: Part[] = [];
  const wants = (format: PatchFormat): boolean => asked === 'auto' || asked === format;
  if (wants('unified') || asked === 'fuzzy') {
    const format = asked === 'fuzzy' ? 'fuzzy' : 'unified';
    parts.push(...unifiedParts(text, format));
  }
  if (wants('custom') && holdsCustom(text)) parts.push(...customParts(text));
  if (wants('search-replace') && holdsSearchReplace(text)) parts.push(...searchReplaceParts(text));
  parts.sort((a, b) => a.line - b.line || b.endLine - a.endLine);
  let end = 0;
  return parts.filter((part) => {
    if (part.line <= end) return false;
    end = part.endLine;
    return true;
  });
}

function unifiedParts(text: string, format: 'unified' | 'fuzzy'): Part[] {
  const { files } = parseUnified(text, format === 'fuzzy' ? 'loose' : 'git');
  const cut = cutHunk(text, files);
  const told = new Map<Part, FilePatch>();
  const parts = files.map((file): Part => {
    const part: Part = {
      format,
      line: file.line,
      endLine: file.endLine,
      paths: [file.oldPath, file.newPath].filter((path) => path !== null),
      complete: cut === undefined || cut.file !== file,
      isSame: (other) => {
        const theirs = told.get(other);
        return theirs !== undefined && changesSame(file, theirs);
      },
    };
    told.set(part, file);
    return part;
  });
  return parts;
}

function changesSame(one: FilePatch, other: FilePatch): boolean {
  if ((one.newPath ?? one.oldPath) !== (other.newPath ?? other.oldPath)) return false;
  if (one.hunks.length === 0 || other.hunks.length === 0) return true;
  if (one.kind === 'added' || other.kind === 'added') return true;
  const old = (hunk: FilePatch['hunks'][number]): string =>
    hunk.lines
      .filter((line) => line.kind !== 'added')
      .map((line) => line.text.trimEnd())
      .join('\n');
  return one.hunks.some((a) =>
    other.hunks.some((b) => {
      if (a.oldLines > 0 && old(a) === old(b)) return true;
      if (a.unnumbered === true || b.unnumbered === true) return false;
      return a.oldStart < b.oldStart + b.oldLines && b.oldStart < a.oldStart + a.oldLines;
    }),
  );
}

/**
 * The last hunk, if the text ends within it. Its header then counts more lines than follow, and a
 * fence around it is never closed. Without a fence, a wrong count is the likelier fault.
 */
export function cutHunk(
  text: string,
  files: readonly FilePatch[],
): { file: FilePatch; hunk: FilePatch['hunks'][number] } | undefined {
  const file = files.at(-1);
  const hunk = file?.hunks.at(-1);
  if (file === undefined || hunk === undefined) return undefined;
  const lines = text.split('\n');
  if (lines.slice(file.endLine).some((line) => line.trim() !== '')) return undefined;
  if (!fallsShort(lines, hunk)) return undefined;
  const isOpen =
    lines.slice(0, file.line - 1).filter((line) => /^(?:```|~~~)/.test(line)).length % 2 === 1;
  return isOpen ? { file, hunk } : undefined;
}

/** Whether a hunk of a text has fewer lines than its header counts. */
export function fallsShort(lines: readonly string[], hunk: FilePatch['hunks'][number]): boolean {
  const header = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[hunk.line - 1] ?? '');
  if (header === null) return false;
  return hunk.oldLines < Number(header[1] ?? 1) || hunk.newLines < Number(header[2] ?? 1);
}

function customParts(text: string): Part[] {
  const lines = text.split('\n');
  const keys = new Map<Part, string>();
  return readBlockParts(text).map((block): Part => {
    const code = lines.slice(block.code.from - 1, block.code.to - 1).map((line) => line.trimEnd());
    const name = code
      .map((line) => definition.exec(line)?.[1])
      .find((found) => found !== undefined);
    const part: Part = {
      format: 'custom',
      line: block.line,
      endLine: block.endLine,
      paths: block.path === undefined ? [] : [block.path.value],
      complete: block.missing.length === 0,
      isSame: (other) => keys.get(other) === keys.get(part),
    };
    const fields = [block.path?.value, block.keyword?.value, block.place?.value];
    keys.set(part, JSON.stringify([...fields, name ?? code]));
    return part;
  });
}

const definition = /^\s*(?:\d+[|:]?\s+)?(?:async\s+def|def|class)\s+(\w+)/;

function searchReplaceParts(text: string): Part[] {
  const keys = new Map<Part, string>();
  return parseSearchReplace(text).blocks.map((block): Part => {
    const part: Part = {
      format: 'search-replace',
      line: block.line,
      endLine: block.endLine,
      paths: [block.path],
      complete: true,
      isSame: (other) => keys.get(other) === keys.get(part),
    };
    const search = block.body.slice(0, block.dividers[0]).map((line) => line.trimEnd());
    const whole = search.every((line) => line === '') ? block.body : search;
    keys.set(part, JSON.stringify([block.path, whole]));
    return part;
  });
}

const fence = /^\s*(`{3,}|~{3,})/;
const reasoning =
  /<(\/?)(think|thinking|thought|thoughts|reasoning|analysis|scratchpad|reflection)>/gi;

/**
 * For each part the number of the fenced block around it, 0 for none. Fences inside parts are code.
 */
function findFences(lines: readonly string[], parts: readonly Part[]): ReadonlyMap<Part, number> {
  const found = new Map<Part, number>();
  const starts = new Map(parts.map((part) => [part.line, part]));
  let open = '';
  let count = 0;
  for (let line = 1; line <= lines.length; line += 1) {
    const part = starts.get(line);
    if (part !== undefined) {
      found.set(part, open === '' ? 0 : count);
      line = Math.max(line, part.endLine);
      continue;
    }
    const text = lines[line - 1] ?? '';
    const mark = fence.exec(text)?.[1];
    if (mark === undefined) continue;
    if (open === '') {
      open = mark;
      count += 1;
    } else if (mark.startsWith(open) && text.trim() === mark) open = '';
    else if (text.trim() !== mark && parts.some((each) => each.line > line)) {
      // A block that opens inside another: the outer one wraps it, or was never closed.
      open = mark;
      count += 1;
    }
  }
  return found;
}

function withoutReasoning(
  lines: readonly string[],
  parts: readonly Part[],
  diagnostics: Diagnostic[],
): readonly Part[] {
  const inPart = (line: number): boolean =>
    parts.some((part) => part.line <= line && line <= part.endLine);
  let from: number | undefined;
  const sections: { from: number; to: number }[] = [];
  for (const [i, line] of lines.entries()) {
    if (!line.includes('<') || line.length > 1000) continue;
    for (const match of line.matchAll(reasoning)) {
      if (inPart(i + 1)) continue;
      if (match[1] === '') from ??= i + 1;
      // Some models get the opening tag from the prompt and write only the closing one.
      else {
        sections.push({ from: from ?? (sections.at(-1)?.to ?? 0) + 1, to: i + 1 });
        from = undefined;
      }
    }
  }
  const isInside = (part: Part): boolean =>
    sections.some((section) => section.from <= part.line && part.line <= section.to);
  const outside = parts.filter((part) => !isInside(part));
  const first = parts.find(isInside);
  if (first === undefined || outside.length === 0) return parts;
  diagnostics.push({
    severity: 'info',
    code: 'several-answers',
    line: first.line,
    endLine: first.endLine,
    message: 'Patches in the reasoning are left out, since there are others outside it',
  });
  return outside;
}

function formatOf(parts: readonly Part[], diagnostics: Diagnostic[]): PatchFormat | undefined {
  const last = parts.findLast((part) => part.complete) ?? parts.at(-1);
  if (last === undefined) return undefined;
  const paths = new Set(
    parts.filter((part) => part.format === last.format).flatMap((part) => part.paths),
  );
  const others = parts.filter((part) => part.format !== last.format);
  for (const format of patchFormats) {
    const own = others.filter((part) => part.format === format);
    const [first] = own;
    if (first === undefined) continue;
    const lost = own.find((part) => part.paths.some((path) => !paths.has(path)));
    diagnostics.push({
      severity: lost === undefined ? 'warning' : 'error',
      code: 'several-answers',
      line: (lost ?? first).line,
      endLine: (lost ?? first).endLine,
      message:
        lost === undefined
          ? `The text holds a patch in the format ${format} as well; the later one, ${last.format}, is taken`
          : `The text holds a patch in the format ${format} here and one in the format ${last.format} in line ${last.line}, about other files`,
      hint:
        lost === undefined
          ? 'Remove the one that is not meant'
          : 'Write all parts in one format, or say with --format which one is meant',
    });
  }
  return last.format;
}

function withoutRepeated(
  parts: readonly Part[],
  places: ReadonlyMap<Part, number>,
  diagnostics: Diagnostic[],
): readonly Part[] {
  const blocks = new Set(parts.map((part) => places.get(part) ?? 0));
  if (blocks.size < 2) return parts;
  const byPath = new Map<string, Part[]>();
  for (const part of parts) {
    for (const path of part.paths) {
      const own = byPath.get(path);
      if (own === undefined) byPath.set(path, [part]);
      else own.push(part);
    }
  }
  const dropped = new Set<Part>();
  for (const own of byPath.values()) {
    for (const [i, part] of own.entries()) {
      const later = own
        .slice(i + 1)
        .findLast((other) => places.get(other) !== places.get(part) && other.isSame(part));
      if (later === undefined || dropped.has(part)) continue;
      const [gone, stays] = later.complete || !part.complete ? [part, later] : [later, part];
      dropped.add(gone);
      diagnostics.push({
        severity: 'warning',
        code: 'several-answers',
        line: gone.line,
        endLine: gone.endLine,
        message:
          `${gone.paths.at(-1)}: the text makes the same change here and in line ${stays.line}; ` +
          (stays === later
            ? 'the later one is taken'
            : 'the other is taken, as this one is cut off'),
        hint: 'Remove the one that is not meant',
      });
    }
  }
  return parts.filter((part) => !dropped.has(part));
}

/** The text with blank lines in place of the given parts. */
export function without(lines: readonly string[], parts: readonly Part[]): string {
  const out = [...lines];
  for (const part of parts) {
    for (let i = part.line - 1; i < part.endLine && i < out.length; i += 1) out[i] = '';
  }
  return out.join('\n');
}
