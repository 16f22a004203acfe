import type { Diagnostic } from '../diagnostic';
import type { Conversion } from './conversion';
import type { FormatDescriptor, Part } from './formatDescriptor';

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
 * Each of these choices is reported.
 *
 * @param formats the unified format, then the others
 * @param asked the one that the text is in; undefined to detect it
 */
export function recognise(
  text: string,
  formats: readonly FormatDescriptor[],
  asked?: FormatDescriptor,
): Recognised {
  if (text.trim() === '') return { format: 'empty', text, diagnostics: [] };
  const guessed = (): string => asked?.name ?? guess(text, formats);
  if (isPlain(text, formats)) return { format: guessed(), text, diagnostics: [] };
  const lines = text.split('\n');
  const wanted = formats.filter((format) => format.holds !== undefined);
  const all = partsOf(text, asked === undefined ? wanted : [asked]);
  const diagnostics: Diagnostic[] = [];
  const places = findFences(lines, all);
  let kept = withoutReasoning(lines, all, diagnostics);
  const format = asked?.name ?? formatOf(kept, formats, diagnostics);
  if (format === undefined) return { format: guessed(), text, diagnostics };
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
function isPlain(text: string, formats: readonly FormatDescriptor[]): boolean {
  return (
    !/^[ \t]*(?:```|~~~)/m.test(text) &&
    !/<\/(?:th|reas|ana|scr|refl)\w+>/i.test(text) &&
    formats.filter((format) => format.holds?.(text) === true).length < 2
  );
}

/**
 * Guesses the format of a text without a complete part, by the way each format begins. The unified
 * one comes last, since parts of the others may have such lines.
 */
function guess(text: string, [unified, ...others]: readonly FormatDescriptor[]): string {
  const found = [...others, unified].find((format) => format?.holds?.(text) === true);
  return found?.name ?? 'unknown';
}

/** The parts of a text in some formats, in order, without parts inside other parts. */
export function partsOf(text: string, formats: readonly FormatDescriptor[]): Part[] {
  const parts = formats.flatMap((format) => format.partsOf(text));
  parts.sort((a, b) => a.line - b.line || b.endLine - a.endLine);
  let end = 0;
  return parts.filter((part) => {
    if (part.line <= end) return false;
    end = part.endLine;
    return true;
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
    message: 'Patches in the reasoning are ignored because there are others outside it',
  });
  return outside;
}

function formatOf(
  parts: readonly Part[],
  formats: readonly FormatDescriptor[],
  diagnostics: Diagnostic[],
): string | undefined {
  const last = parts.findLast((part) => part.complete) ?? parts.at(-1);
  if (last === undefined) return undefined;
  const paths = new Set(
    parts.filter((part) => part.format === last.format).flatMap((part) => part.paths),
  );
  const others = parts.filter((part) => part.format !== last.format);
  for (const { name: format } of formats) {
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
          ? `The text contains a patch in the format ${format} too; the later one, ${last.format}, is used`
          : `The text contains a patch in the format ${format} here and one in the format ${last.format} in line ${last.line}, about other files`,
      hint:
        lost === undefined
          ? 'Remove the one that you do not want'
          : 'Write all parts in one format, or choose one with --format',
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
            ? 'the later one is used'
            : 'the other one is used because this one is truncated'),
        hint: 'Remove the one that you do not want',
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
