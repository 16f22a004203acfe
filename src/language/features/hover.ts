import { MarkupKind, type Hover, type Position } from 'vscode-languageserver';
import { asShown } from '../../patch/bytes';
import type { PlanPart } from '../../patch/customFormat';
import { isTestPath } from '../../patch/testFiles';
import { blockAction, isIn, blockLine, blockPath, blockRole } from './blocks';
import { moduleOfPath, partAt, planAt, type CheckedDiff, type CheckContext } from './check';
import { positionInDiff, rangeIn } from '../customDiffs';
import { plural } from '../../domain/text';

/** Maximum number of lines of replaced code in a hover. */
const mostLines = 60;
/** Lines of R shown on either side of a place. */
const around = 3;

/** The content of a hover: a sentence of this program, and text of the tree as it is. */
interface Shown {
  readonly words: string;
  readonly code?: { readonly language: 'python' | 'text'; readonly lines: readonly string[] };
}

/**
 * Describes a position of a custom diff: a summary of its file, the code that will be replaced, or
 * the place of new code.
 *
 * @param kind the markup that the editor can show
 */
export async function hover(
  checked: CheckedDiff,
  position: Position,
  surroundings: CheckContext,
  kind: MarkupKind,
): Promise<Hover | undefined> {
  const { diff } = checked;
  const { line, column } = positionInDiff(diff, position);
  const { role, block } = blockRole(diff.lines, diff.blocks, line);
  const path = block === undefined ? undefined : blockPath(block);
  if (block === undefined || path === undefined) return undefined;
  const field = { path: block.path, keyword: block.keyword, place: block.place }[role as 'path'];
  if (role !== 'code' && !isIn(field, line, column)) return undefined;
  const source = await surroundings.tree.read(path);
  const lines = (source ?? '').split(/\r?\n/);
  const seen = ((): Shown | undefined => {
    if (role === 'path') return aboutFile(path, source, surroundings);
    if (role === 'keyword') return aboutKeyword(blockAction(block));
    if (source === undefined || (role !== 'place' && role !== 'code')) return undefined;
    const plan = planAt(checked, line);
    const part = role === 'place' ? mainPart(plan?.parts) : plan && partAt(plan, line);
    if (part !== undefined) return aboutPart(part, lines);
    const at = blockLine(block);
    return role === 'place' && at !== undefined ? aboutLine(at, lines) : undefined;
  })();
  if (seen === undefined) return undefined;
  const to =
    field === undefined ? (diff.lines[line - 1]?.length ?? 0) : field.column + field.value.length;
  return { contents: contents(seen, kind), range: rangeIn(diff, line, field?.column ?? 0, to) };
}

const mainPart = (parts: readonly PlanPart[] = []): PlanPart | undefined =>
  parts.find((part) => part.kind !== 'imports') ?? parts[0];

function aboutFile(
  path: string,
  source: string | undefined,
  surroundings: CheckContext,
): Shown | undefined {
  const kind = isTestPath(path) ? 'a test file' : 'not a test file';
  if (source === undefined) return { words: `There is no such file. By its path it is ${kind}.` };
  const count = source.split('\n').length - (source.endsWith('\n') ? 1 : 0);
  const words = `${plural(count, 'line')}, ${kind}.`;
  if (!/\.pyi?$/.test(path)) return { words };
  const outline = moduleOfPath(surroundings, path, source)
    .definitions.filter((each) => !each.local)
    .map((each) => {
      const depth = '  '.repeat(each.qualifiedName.split('.').length - 1);
      const word = each.kind === 'class' ? 'class' : 'def';
      return `${String(each.defLine).padStart(5)}  ${depth}${word} ${each.name}`;
    });
  return { words, ...(outline.length > 0 && { code: { language: 'text', lines: outline } }) };
}

function aboutKeyword(action: 'rewrite' | 'insert' | undefined): Shown | undefined {
  if (action === undefined) return undefined;
  return {
    words:
      action === 'rewrite'
        ? 'Replaces the function or class of the same name that is nearest to the line below.'
        : 'Adds code at the line below, at the end (EOF) or at the beginning (BOF) of the file; creates the file if it does not exist.',
  };
}

function aboutPart(part: PlanPart, lines: readonly string[]): Shown {
  const { from, to, kind } = part;
  if (to > from) {
    const words =
      to - from === 1 ? `Replaces line ${from}:` : `Replaces lines ${from} to ${to - 1}:`;
    return { words, code: { language: 'python', lines: lines.slice(from - 1, to - 1) } };
  }
  const what = kind === 'imports' ? 'Imports that are missing go in' : 'Goes in';
  if (from > lines.length || (from === lines.length && lines.at(-1) === '')) {
    return nearby(`${what} at the end of the file:`, from, lines);
  }
  return nearby(`${what} before line ${from}:`, from, lines);
}

const aboutLine = (at: number, lines: readonly string[]): Shown =>
  at > lines.length
    ? { words: `The file has ${plural(lines.length, 'line')}.` }
    : nearby(`Around line ${at}:`, at, lines);

function nearby(words: string, at: number, lines: readonly string[]): Shown {
  const shown = lines.slice(Math.max(0, at - 1 - around), at - 1 + around);
  return { words, code: { language: 'python', lines: shown } };
}

/**
 * Puts code from the tree into a fence that nothing in the code can close, so none of it is read as
 * Markdown.
 */
function contents({ words, code }: Shown, kind: MarkupKind): { kind: MarkupKind; value: string } {
  if (code === undefined || code.lines.length === 0) return { kind, value: words };
  const more = code.lines.length - mostLines;
  const shown = [...code.lines.slice(0, mostLines), ...(more > 0 ? [`… ${more} more lines`] : [])];
  const text = asShown(shown.join('\n'));
  if (kind === MarkupKind.PlainText) return { kind, value: `${words}\n\n${text}` };
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return { kind, value: `${words}\n\n${fence}${code.language}\n${text}\n${fence}` };
}
