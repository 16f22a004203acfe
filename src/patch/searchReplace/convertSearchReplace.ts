import { turnsOf, type Turns } from '../../domain/work';
import { failed, type Conversion } from '../reading/conversion';
import { nearestPaths } from '../custom/findTarget';
import { hasErrors, type Diagnostic, type DiagnosticCode, type Fix } from '../diagnostic';
import { hunksOf } from '../fuzzy/editFuzzyFile';
import { TreeLines } from '../fuzzy/treeLines';
import type { HunkLine } from '../unified/hunk';
import { unsafePath } from '../unsafePath';
import { parseSearchReplace, type SearchReplaceBlock } from './parseSearchReplace';
import { ImageLines, type ImageLine } from './imageLines';
import type { Sides } from './indentLike';
import { placeBlock, type BlockPlace, type BlockRefusal } from './placeBlock';
import type { PatchTree } from '../reading/patchTree';
import { formatFilePatch, makeUnified } from '../makeUnified';

/** The most lines that a fix adds to a SEARCH part to make its place unique. */
const mostAbove = 20;

interface OpenFile {
  readonly before: string | undefined;
  readonly bom: string;
  readonly lineEnd: string;
  /** The line end of the last line, empty if it has none; `\n` for a new file. */
  readonly lastEnd: string;
  readonly image: ImageLines;
}

type Tell = (
  severity: Diagnostic['severity'],
  code: DiagnosticCode,
  line: number,
  message: string,
  more?: Partial<Diagnostic>,
) => void;

/**
 * Converts blocks of the search/replace format: all of them, or none if there is any error. Each
 * block applies to the result of the blocks before it.
 *
 * An empty SEARCH makes a new file. If the file exists, its lines are added at the end, as in
 * aider. This is reported, since a model that wants to replace the whole file writes the same.
 *
 * @throws Cancelled
 */
export async function convertSearchReplace(
  text: string,
  tree: PatchTree,
  turns: Turns = turnsOf(undefined),
): Promise<Conversion> {
  const { blocks, diagnostics } = parseSearchReplace(text);
  const all: Diagnostic[] = [...diagnostics];
  const tell: Tell = (severity, code, line, message, more) =>
    void all.push({ severity, line, message, code, ...more });
  if (blocks.length === 0 && !hasErrors(all)) {
    tell('error', 'no-patch', 1, 'The text contains no SEARCH/REPLACE block', {
      hint: 'Write the path, "<<<<<<< SEARCH", the lines, "=======", the new lines and ">>>>>>> REPLACE", each in its line',
    });
  }
  const files = new Map<string, OpenFile>();
  const paths = new Map<string, string | undefined>();
  for (const block of blocks) {
    await turns.pause();
    if (!paths.has(block.path)) paths.set(block.path, await pathFor(block, tree, tell));
    const path = paths.get(block.path);
    if (path === undefined) continue;
    let file = files.get(path);
    if (file === undefined) files.set(path, (file = openFile(path, await tree.read(path))));
    applyBlock(file, path, block, tell);
  }
  all.sort((a, b) => a.line - b.line);
  if (hasErrors(all)) return failed('search-replace', all);
  await turns.pause();
  const changed = [...files]
    .map(([path, file]) => ({ path, file, before: file.before, after: textOf(file) }))
    .filter(({ before, after }) => before !== after);
  if (changed.length === 0) {
    tell(
      'error',
      'no-change',
      1,
      'The blocks change nothing: the files already contain this code',
      {
        hint: 'Write the changed lines into the REPLACE parts',
      },
    );
    return failed('search-replace', all);
  }
  return {
    patch: changed
      .map((edit) => partFromLines(edit.path, edit.file) ?? makeUnified([edit]))
      .join(''),
    format: 'search-replace',
    diagnostics: all,
    files: new Map(changed.map(({ path, after }) => [path, after])),
    left: [],
  };
}

/** The path of a block's file; undefined, with an error, if it cannot be determined. */
async function pathFor(
  block: SearchReplaceBlock,
  tree: PatchTree,
  tell: Tell,
): Promise<string | undefined> {
  const { path, pathLine } = block;
  const unsafe = unsafePath(path);
  if (unsafe === undefined && (await tree.read(path)) !== undefined) return path;
  const isNew = sidesOf(block).every(({ search }) => isBlank(search));
  if (unsafe === undefined && isNew) return path;
  const near = nearestPaths((await tree.paths?.()) ?? [], path);
  const fixes = near.map((name): Fix => ({
    title: `Write ${name}`,
    edits: [{ from: block.line, to: block.line, lines: [name] }],
  }));
  const hint =
    near.length > 0
      ? `Did you mean ${near.join(' or ')}?`
      : "Use the file's path in the repository; an empty SEARCH part creates a new file";
  const more = { hint, ...(fixes.length > 0 && { fixes }) };
  if (unsafe !== undefined) {
    const message = `${JSON.stringify(path)} cannot be patched: ${unsafe}`;
    tell('error', 'unsafe-path', pathLine, message, more);
  } else {
    tell('error', 'unknown-file', pathLine, `There is no file ${path}`, more);
  }
  return undefined;
}

const isBlank = (lines: readonly string[]): boolean => lines.every((line) => line.trim() === '');

/**
 * The most lines that are tried as the divider of SEARCH and REPLACE, since each try splits the
 * whole block.
 */
const mostDividers = 64;

function sidesOf({ body, dividers }: SearchReplaceBlock): Sides[] {
  return dividers
    .slice(0, mostDividers)
    .map((at) => ({ search: body.slice(0, at), replace: body.slice(at + 1) }));
}

function openFile(path: string, before: string | undefined): OpenFile {
  const bom = before?.startsWith('\ufeff') === true ? '\ufeff' : '';
  const texts = (before ?? '').slice(bom.length).split('\n');
  const last = texts.length - 1;
  if (texts[last] === '') texts.pop();
  const lines = texts.map((text, i): ImageLine => {
    const end = i === last ? '' : text.endsWith('\r') ? '\r\n' : '\n';
    const plain = end === '\r\n' ? text.slice(0, -1) : text;
    return { text: plain, lineEnd: end, written: false, origin: i + 1 };
  });
  const lineEnd = lines.find((line) => line.lineEnd !== '')?.lineEnd ?? '\n';
  const lastEnd = lines.at(-1)?.lineEnd ?? lineEnd;
  return { before, bom, lineEnd, lastEnd, image: new ImageLines(lines, /\.pyi?$/.test(path)) };
}

function textOf({ bom, lineEnd, lastEnd, image }: OpenFile): string {
  const last = image.length - 1;
  return (
    bom +
    image
      .toArray()
      .map(
        (line, i) =>
          line.text + (i === last ? lastEnd : line.lineEnd === '' ? lineEnd : line.lineEnd),
      )
      .join('')
  );
}

/**
 * The diff of a file whose lines all end with `\n`, from the changes of the blocks to its lines.
 * Comparing long texts would take longer than everything else. Undefined for any other file.
 */
function partFromLines(path: string, { before, bom, image }: OpenFile): string | undefined {
  if (before === undefined || bom !== '' || !before.endsWith('\n') || before.includes('\r')) {
    return undefined;
  }
  const tree = new TreeLines(before);
  const deleted = new Set<number>();
  const inserts = new Map<number, HunkLine[]>();
  let done = 0;
  let written: string[] = [];
  const settle = (until: number): void => {
    let [head, tail] = [0, 0];
    const most = Math.min(written.length, until - done);
    while (head < most && written[head] === tree.text[done + head]) head += 1;
    while (
      tail < most - head &&
      written[written.length - 1 - tail] === tree.text[until - 1 - tail]
    ) {
      tail += 1;
    }
    for (let line = done + head; line < until - tail; line += 1) deleted.add(line);
    const texts = written.slice(head, written.length - tail);
    const lines = texts.map((text): HunkLine => ({ kind: 'added', text, noNewline: false }));
    if (lines.length > 0) inserts.set(until - tail, lines);
    written = [];
    done = until + 1;
  };
  for (const { text, origin } of image.toArray()) {
    if (origin === undefined) written.push(text);
    else settle(origin - 1);
  }
  settle(tree.length);
  const changes = [...new Set([...deleted, ...inserts.keys()])].sort((a, b) => a - b);
  const hunks = hunksOf(tree, deleted, inserts, changes);
  const names = {
    oldPath: path,
    newPath: path,
    kind: 'modified' as const,
    binary: false,
    git: true,
  };
  return formatFilePatch({ ...names, hunks, line: 1, endLine: 1 });
}

function applyBlock(file: OpenFile, path: string, block: SearchReplaceBlock, tell: Tell): void {
  const readings = sidesOf(block);
  const [first] = readings;
  if (first !== undefined && isBlank(first.search)) {
    addAtEnd(file, path, block, first.replace, tell);
    return;
  }
  const found = placeBlock(file.image, readings, block.startLine);
  if ('refusal' in found) {
    const { code, message, hint } = found.refusal;
    const fixes = fixesFor(found.refusal, block, found.sides, file);
    tell('error', code, block.line, `${path}: ${message}`, {
      hint,
      endLine: block.endLine,
      ...(fixes.length > 0 && { fixes }),
    });
    return;
  }
  const { place, sides } = found;
  if (place.otherwise === true) {
    const line = block.bodyLine + sides.search.length;
    tell(
      'warning',
      'ambiguous',
      line,
      `${path}: several lines may divide SEARCH and REPLACE; this one is used`,
      {
        hint: 'Write more marks in the lines of the block, or fewer, if its code contains lines like "======="',
      },
    );
  }
  if (place.how !== 'exact') tellHow(place, path, block, sides, file, tell);
  if (place.deleted.size === 0 && place.inserted.size === 0) {
    tell('warning', 'no-change', block.line, `${path}: SEARCH and REPLACE are the same`, {
      hint: 'Remove the block',
    });
    return;
  }
  put(file, place);
}

/** Applies a placed block. New lines take the line end of the line before them. */
function put(file: OpenFile, { from, to, deleted, inserted }: BlockPlace): void {
  const out: ImageLine[] = [];
  const end = Math.max(to, ...[...inserted.keys()]);
  const start = Math.min(from, ...[...inserted.keys()]);
  let lineEnd = file.image.at(start)?.lineEnd ?? '';
  for (let at = start; at <= end; at += 1) {
    const line = file.image.at(at);
    if (deleted.has(at) && line !== undefined) lineEnd = line.lineEnd;
    for (const text of inserted.get(at) ?? []) {
      out.push({ text, lineEnd: lineEnd === '' ? file.lineEnd : lineEnd, written: true });
    }
    if (line === undefined || at === end || deleted.has(at)) continue;
    out.push(line);
    lineEnd = line.lineEnd;
  }
  file.image.replace(start, end, out);
}

function addAtEnd(
  file: OpenFile,
  path: string,
  block: SearchReplaceBlock,
  replace: readonly string[],
  tell: Tell,
): void {
  if (isBlank(replace)) {
    tell('error', 'missing-code', block.line, `${path}: both parts of the block are empty`, {
      hint: 'Write the lines of the new file into the REPLACE part',
    });
    return;
  }
  if (file.image.length > 0) {
    tell(
      'warning',
      'file-exists',
      block.line,
      `${path} exists already, so the lines of the block are added at its end`,
      { hint: 'To replace lines instead, write them into the SEARCH part' },
    );
  }
  const written = replace.map((text) => ({ text, lineEnd: file.lineEnd, written: true }));
  file.image.replace(file.image.length, file.image.length, written);
}

function tellHow(
  place: BlockPlace,
  path: string,
  block: SearchReplaceBlock,
  sides: Sides,
  file: OpenFile,
  tell: Tell,
): void {
  const lines =
    place.to - place.from === 1
      ? `line ${place.from + 1}`
      : `lines ${place.from + 1} to ${place.to}`;
  const fix = takeLines(block, sides, file, place);
  const how =
    place.how === 'white-space'
      ? `The SEARCH part differs from ${lines} of ${path} in whitespace; theirs is kept`
      : `The SEARCH part is like ${lines} of ${path}, not the same (${Math.round(place.fit * 100)} % agrees); lines that stay are kept as they are`;
  const code = place.how === 'white-space' ? 'white-space' : 'low-confidence';
  tell('warning', code, block.line, how, {
    hint: 'Check the place, or copy the lines to search for from the file without changes',
    endLine: block.endLine,
    fixes: [fix],
  });
  const [left] = place.left ?? [];
  if (left === undefined) return;
  const first = block.bodyLine + sides.search.length + 1;
  tell(
    'info',
    'white-space',
    first + left,
    `${path}: the code of the block is indented as the file is, the text in its new strings stays as it is written`,
    { endLine: first + (place.left?.at(-1) ?? left), hint: 'Indent the block as the file does' },
  );
}

function takeLines(
  block: SearchReplaceBlock,
  sides: Sides,
  file: OpenFile,
  { from, to }: { from: number; to: number },
): Fix {
  return {
    title: `Search lines ${from + 1} to ${to} as they are in the file`,
    edits: [
      {
        from: block.bodyLine,
        to: block.bodyLine + sides.search.length,
        lines: file.image.slice(from, to).map((line) => line.text),
      },
    ],
  };
}

function fixesFor(
  { candidates, nearest, code }: BlockRefusal,
  block: SearchReplaceBlock,
  sides: Sides,
  file: OpenFile,
): Fix[] {
  // The line numbers of a fix are right only as long as no block has changed the file.
  if (file.image.isChanged) return [];
  if (code !== 'ambiguous')
    return nearest === undefined ? [] : [takeLines(block, sides, file, nearest)];
  const start = block.bodyLine;
  const divider = start + sides.search.length;
  return candidates.slice(0, 5).flatMap((at): Fix[] => {
    const above = linesThatTell(file.image, candidates, at);
    if (above === undefined) return [];
    return [
      {
        title: `Choose line ${at + 1}: add the lines above it to both parts`,
        edits: [
          { from: start, to: start, lines: above },
          { from: divider + 1, to: divider + 1, lines: above },
        ],
      },
    ];
  });
}

/** The fewest lines directly above a place that make it unique; undefined if there are none. */
function linesThatTell(
  image: ImageLines,
  places: readonly number[],
  at: number,
): string[] | undefined {
  for (let n = 1; n <= Math.min(mostAbove, at); n += 1) {
    const text = (place: number): string =>
      JSON.stringify(image.slice(Math.max(0, place - n), place).map((line) => line.text));
    if (places.every((other) => other === at || text(other) !== text(at))) {
      return image.slice(at - n, at).map((line) => line.text);
    }
  }
  return undefined;
}
