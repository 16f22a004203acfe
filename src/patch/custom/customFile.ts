import type { Definition } from '../../python/definitions';
import type { ImportedName } from '../../python/module';
import type { PartedModule } from '../../python/partedModule';
import type { CustomBlock } from './parseCustom';
import type { Diagnostic } from '../diagnostic';

/** A change of a file: `text`, without line ends, replaces the lines `from` to `to`. */
export interface LineEdit {
  readonly kind: 'rewrite' | 'insert' | 'imports';
  /** 0-based, `to` excluded; equal to `to` for an insertion before that line. */
  readonly from: number;
  readonly to: number;
  readonly text: readonly string[];
  readonly block: CustomBlock;
  /** Lines of the given text from which this comes, 1-based, `to` excluded. */
  readonly source: { readonly from: number; readonly to: number };
  /** The definition that is replaced, or the class that receives an insertion. */
  readonly definition?: Definition;
  /** Blank lines wanted around an insertion. */
  readonly apart?: number;
  /** The lines of the range form with their line ends, which are inserted as they are. */
  readonly raw?: readonly string[];
}

/**
 * The search for names that blocks of one file may mean: results so far, and the remaining budget.
 */
export interface NameSearch {
  /** How many more names may be compared. */
  left: number;
  readonly found: Map<string, readonly Definition[]>;
}

/** A file while its blocks are placed. */
export interface CustomFile {
  readonly path: string;
  /** Without line ends. */
  readonly lines: readonly string[];
  /** With line ends. */
  readonly raw: readonly string[];
  /**
   * The byte order mark at the start of the file, which no line contains; empty if there is none.
   */
  readonly mark: string;
  readonly module: PartedModule;
  /** Whether blanks and line ends are its only white space. */
  readonly blanksOnly: boolean;
  readonly edits: LineEdit[];
  /** Names that the blocks placed so far import. */
  readonly imported: Set<string>;
  /** Definitions that a block names exactly, so that no other block can mean them. */
  readonly named: () => ReadonlySet<Definition>;
  /** Where blocks add a name. The key is the class that receives it, and the name. */
  readonly added: Map<string, { readonly block: CustomBlock; readonly line: number }>;
  /** The search for names that its blocks may mean. */
  readonly names: NameSearch;
  readonly tell: (diagnostic: Diagnostic) => void;
}

/** A key that only equal imports share. */
export function importKey({ from, name, alias }: ImportedName): string {
  return [from, name, alias].join('\0');
}

/**
 * The line end for lines that an edit adds: that of the line it replaces, else of the one before or
 * after.
 */
export function lineEndAt(
  raw: readonly string[],
  { from, to }: { from: number; to: number },
): string {
  const near = [...(to > from ? [raw[from]] : []), raw[from - 1], raw[from]];
  const ended = near.find((line) => line?.endsWith('\n') === true);
  return ended?.endsWith('\r\n') === true ? '\r\n' : '\n';
}

/**
 * Applies the edits to the lines. All other lines stay as they are.
 *
 * @returns undefined, with a diagnostic, when two edits touch the same lines
 */
export function joinEdits(file: CustomFile): string | undefined {
  const { raw, path } = file;
  const order = file.edits.map((edit, i) => ({ edit, i }));
  order.sort(
    (a, b) =>
      a.edit.from - b.edit.from ||
      Number(b.edit.kind === 'imports') - Number(a.edit.kind === 'imports') ||
      a.edit.to - b.edit.to ||
      a.i - b.i,
  );
  const out: string[] = [];
  let done = 0;
  let last: LineEdit | undefined;
  for (const [i, { edit }] of order.entries()) {
    if (edit.from < done && last !== undefined) {
      const other = last.block === edit.block ? 'The block' : 'Another block';
      file.tell({
        severity: 'error',
        code: 'overlap',
        line: edit.block.line,
        endLine: edit.block.endLine,
        message: `${other} changes line ${edit.from + 1} of ${path} too (from line ${last.block.line})`,
        hint: 'Join the blocks into one',
      });
      return undefined;
    }
    last = edit;
    for (; done < edit.from; done += 1) out.push(raw[done] ?? '');
    const eol = lineEndAt(raw, edit);
    const above = out.at(-1);
    if (above !== undefined && !above.endsWith('\n') && edit.text.length > 0) {
      out[out.length - 1] = above + eol;
    }
    if (edit.raw !== undefined) out.push(...edit.raw);
    else {
      const following = order[i + 1]?.edit;
      for (const line of withApart(out, edit, file.lines, following)) out.push(line + eol);
    }
    done = Math.max(done, edit.to);
    const replaced = edit.to > edit.from ? raw[edit.to - 1] : undefined;
    const unended = edit.raw === undefined && replaced?.endsWith('\n') === false;
    if (unended) out.push((out.pop() ?? '').slice(0, -eol.length));
  }
  for (; done < raw.length; done += 1) out.push(raw[done] ?? '');
  const after = out.join('');
  return after.startsWith(file.mark) ? after : file.mark + after;
}

const blank = (line: string | undefined): boolean => line !== undefined && line.trim() === '';

/** The lines of an edit, with the blank lines that it needs around it and that are missing. */
function withApart(
  out: readonly string[],
  edit: LineEdit,
  lines: readonly string[],
  following: LineEdit | undefined,
): string[] {
  const last = out.at(-1);
  const next = lines[edit.to];
  if (edit.kind === 'imports') {
    const parted = last === undefined || blank(last) || /^(import|from|[)#\s])/.test(last);
    const joined = following?.kind === 'imports' && following.from === edit.from;
    const parts = joined || next === undefined || blank(next) || /^(import|from)\s/.test(next);
    return [...(parted ? [] : ['']), ...edit.text, ...(parts ? [] : [''])];
  }
  const apart = edit.apart ?? 0;
  let before = 0;
  while (blank(out.at(-1 - before))) before += 1;
  const isFirst = before === out.length;
  const opensClass = apart === 1 && /:\s*(?:#[^]*)?$/.test(last ?? '');
  let after = 0;
  while (blank(lines[edit.to + after])) after += 1;
  const isLast = edit.to + after >= lines.length;
  return [
    ...Array<string>(isFirst || opensClass ? 0 : Math.max(0, apart - before)).fill(''),
    ...edit.text,
    ...Array<string>(isLast ? 0 : Math.max(0, apart - after)).fill(''),
  ];
}
