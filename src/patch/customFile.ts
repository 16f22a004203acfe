import type { PythonModule } from '../python/module';
import type { CustomBlock } from './custom';
import type { Diagnostic } from './diagnostic';

/** A change of a file: `text`, lines without line ends, in place of the lines `from` to `to`. */
export interface LineEdit {
  /** 0-based; equal to `to` for an insertion before that line. */
  from: number;
  to: number;
  text: string[];
  block: CustomBlock;
  /** Blank lines wanted around an insertion; undefined for a replacement. */
  apart?: number;
  isImport?: boolean;
}

/** A file while the blocks about it are placed in it. */
export interface CustomFile {
  readonly path: string;
  /** Without line ends. */
  readonly lines: readonly string[];
  readonly module: PythonModule;
  readonly unit: string;
  readonly edits: LineEdit[];
  /** Names that the module imports, those of blocks already placed included. */
  readonly imported: Set<string>;
  readonly tell: (
    severity: Diagnostic['severity'],
    line: number,
    message: string,
    hint?: string,
  ) => void;
}

/**
 * Puts the edits into the lines.
 *
 * @param raw the lines of the file with their line ends, which stay as they are
 * @param eol the line end of what is added
 * @returns undefined, with a diagnostic, when two edits touch the same lines
 */
export function joinEdits(
  file: CustomFile,
  raw: readonly string[],
  eol: string,
): string | undefined {
  const order = file.edits.map((edit, i) => ({ edit, i }));
  order.sort(
    (a, b) =>
      a.edit.from - b.edit.from ||
      Number(b.edit.isImport ?? false) - Number(a.edit.isImport ?? false) ||
      a.edit.to - b.edit.to ||
      a.i - b.i,
  );
  const out: string[] = [];
  let done = 0;
  for (const { edit } of order) {
    if (edit.from < done) {
      file.tell(
        'error',
        edit.block.line,
        `Another block changes line ${edit.from + 1} of ${file.path} as well`,
        'Join the blocks into one',
      );
      return undefined;
    }
    for (; done < edit.from; done += 1) out.push(raw[done] ?? '');
    const last = out.at(-1);
    if (last !== undefined && !last.endsWith('\n')) out[out.length - 1] = last + eol;
    for (const line of withApart(out, edit, file.lines)) out.push(line + eol);
    done = Math.max(done, edit.to);
  }
  for (; done < raw.length; done += 1) out.push(raw[done] ?? '');
  return out.join('');
}

const blank = (line: string | undefined): boolean => line !== undefined && line.trim() === '';

/** The lines of an edit, with the blank lines that it wants around it and that are not there. */
function withApart(out: readonly string[], edit: LineEdit, lines: readonly string[]): string[] {
  const last = out.at(-1);
  const next = lines[edit.to];
  if (edit.isImport === true) {
    const parted = last === undefined || blank(last) || /^(import|from|[)#\s])/.test(last);
    const parts = next === undefined || blank(next) || /^(import|from)\s/.test(next);
    return [...(parted ? [] : ['']), ...edit.text, ...(parts ? [] : [''])];
  }
  const apart = edit.apart ?? 0;
  let before = 0;
  while (blank(out.at(-1 - before))) before += 1;
  const isFirst = before === out.length;
  const opensClass = apart === 1 && /:\s*(#.*)?$/.test(last ?? '');
  let after = 0;
  while (blank(lines[edit.to + after])) after += 1;
  const isLast = edit.to + after >= lines.length;
  return [
    ...Array<string>(isFirst || opensClass ? 0 : Math.max(0, apart - before)).fill(''),
    ...edit.text,
    ...Array<string>(isLast ? 0 : Math.max(0, apart - after)).fill(''),
  ];
}
