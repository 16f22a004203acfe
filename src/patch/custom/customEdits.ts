import { atOnce, inTurns, turnsOf, type Stepwise, type Turns } from '../../domain/work';
import type { Definition } from '../../python/definitions';
import { PartedModule } from '../../python/partedModule';
import type { PythonParser } from '../../python/parser';
import { replaceLine, type CustomBlock, type ReplacedLines } from './parseCustom';
import { checkResult } from './checkResult';
import { readCode } from './readCode';
import type { BlockCode } from './blockCode';
import { joinEdits, lineEndAt, type CustomFile, type LineEdit } from './customFile';
import { addImports } from './addImports';
import { insert } from './insert';
import { blocksByPath, pathFixes, reportNewFile } from './blocksByPath';
import { namedTargets, rewrite } from './rewrite';
import { nameSearch } from './findTarget';
import { hasErrors, type Diagnostic } from '../diagnostic';
import { belowFile, fileAbove, type PatchTree } from '../reading/patchTree';
import { blockingLink, unsafePath } from '../unsafePath';
import { isTestPath } from '../testFiles';
import { splitLines, type FileEdit } from '../makeUnified';

/** What {@link customEdits} needs to place blocks. */
export interface CustomOptions {
  readonly tree: PatchTree;
  readonly python: PythonParser;
  /** Report edits outside tests. */
  readonly outsideTests?: boolean;
  /** Opens a file in which blocks are placed; {@link openFile} if absent. */
  readonly open?: typeof openFile;
  /** Turns with other work; those of `turnsOf` without a signal if absent. */
  readonly turns?: Turns;
}

/** The place of one block, or of a part of it. */
export interface PlanPart {
  readonly kind: 'rewrite' | 'insert' | 'imports';
  /** 1-based lines of the file in the tree, `to` excluded; equal for an insertion before `from`. */
  readonly from: number;
  readonly to: number;
  /** The definition that is replaced, or the class that receives an insertion. */
  readonly definition?: Definition;
  /** The new lines with their final indentation; empty after a syntax error. */
  readonly lines: readonly string[];
  /** Lines of the given text from which this comes, 1-based, `to` excluded. */
  readonly source: { readonly from: number; readonly to: number };
}

/** The effect of a block on the tree. */
export interface BlockPlan {
  readonly block: CustomBlock;
  readonly newFile: boolean;
  /** Empty if the block has no place, for a reason in the diagnostics. */
  readonly parts: readonly PlanPart[];
}

export interface CustomPlan {
  /** One for each block, in the order of the text. */
  readonly plans: readonly BlockPlan[];
  /** The changed files; empty if there is any error. */
  readonly edits: FileEdit[];
  readonly diagnostics: Diagnostic[];
}

/**
 * Applies blocks of the custom format to the files that they name: all blocks, or none if there is
 * any error. Each block is placed in the file of the tree. So line numbers are those of R, whatever
 * the order of the blocks.
 *
 * @throws Cancelled
 */
export async function customEdits(
  blocks: readonly CustomBlock[],
  options: CustomOptions,
): Promise<{ edits: FileEdit[]; diagnostics: Diagnostic[] }> {
  const { edits, diagnostics } = await planCustom(blocks, options);
  return { edits, diagnostics };
}

/**
 * Like {@link customEdits}, with the place of each block, even if another block has an error.
 *
 * @throws Cancelled
 */
export async function planCustom(
  blocks: readonly CustomBlock[],
  {
    tree,
    python,
    outsideTests = false,
    open = openFile,
    turns = turnsOf(undefined),
  }: CustomOptions,
): Promise<CustomPlan> {
  const edits: FileEdit[] = [];
  const diagnostics: Diagnostic[] = [];
  const byPath = blocksByPath(blocks, (diagnostic) => diagnostics.push(diagnostic));
  const plans = new Map<CustomBlock, BlockPlan>();
  for (const [path, own] of byPath) {
    await turns.pause();
    const read = await readTarget(path, own, byPath, tree);
    if ('problem' in read) {
      diagnostics.push(read.problem);
      continue;
    }
    const { before } = read;
    if (before === undefined) diagnostics.push(...(await newFileDiagnostics(path, own, tree)));
    if (outsideTests && !isTestPath(path)) {
      for (const { pathLine: line } of own) {
        const message = `${path} is outside the tests`;
        const hint = 'A candidate contains only tests; other changes can break runs';
        diagnostics.push({ severity: 'warning', code: 'outside-tests', line, message, hint });
      }
    }
    const known = before === undefined ? undefined : open(path, before, python);
    const given = {
      ...{ path, before, blocks: own, python },
      ...(known !== undefined && { known }),
    };
    const result = await inTurns(editSteps(given), turns);
    diagnostics.push(...result.diagnostics);
    for (const plan of result.plans) plans.set(plan.block, plan);
    if (result.after !== undefined) edits.push({ path, before, after: result.after });
  }
  return {
    plans: blocks.map((block) => plans.get(block) ?? { block, newFile: false, parts: [] }),
    edits: hasErrors(diagnostics) ? [] : edits,
    diagnostics,
  };
}

/** Reads the file that blocks name, or finds why it cannot be changed. */
async function readTarget(
  path: string,
  own: readonly CustomBlock[],
  byPath: ReadonlyMap<string, readonly CustomBlock[]>,
  tree: PatchTree,
): Promise<{ readonly before: string | undefined } | { readonly problem: Diagnostic }> {
  const [line = 1] = own.map((block) => block.pathLine);
  const unsafe = unsafePath(path);
  if (unsafe !== undefined) {
    const message = `${JSON.stringify(path)} cannot be patched: ${unsafe}`;
    const hint = "Use the file's path in the repository";
    const fixes = await pathFixes(tree, own);
    return {
      problem: { severity: 'error', code: 'unsafe-path', line, message, hint, ...fixes },
    };
  }
  const before = await tree.read(path);
  const link = blockingLink(tree, path);
  if (link !== undefined) return { problem: { ...link, line } };
  const above = before === undefined ? await fileAbove(path, tree, byPath) : undefined;
  return above === undefined ? { before } : { problem: { ...belowFile(path, above), line } };
}

/** The diagnostics of blocks that make a new file. */
async function newFileDiagnostics(
  path: string,
  own: readonly CustomBlock[],
  tree: PatchTree,
): Promise<Diagnostic[]> {
  const told = reportNewFile(path, own);
  if (told.length > 0) {
    const fixes = await pathFixes(tree, own);
    return told.map((diagnostic) => ({ ...diagnostic, ...fixes }));
  }
  // A new file with a path near that of an existing file may be a mistake for it.
  const { fixes } = await pathFixes(tree, own, 'same name');
  if (fixes === undefined) return [];
  const [line = 1] = own.map((block) => block.pathLine);
  const message = `There is no file ${path}, so the block creates it`;
  return [{ severity: 'info', code: 'unknown-file', line, message, fixes }];
}

/** A file, the blocks about it, and what is needed to place them. */
interface FileBlocks {
  readonly path: string;
  readonly before: string | undefined;
  readonly blocks: readonly CustomBlock[];
  readonly python: PythonParser;
  /** The opened file, if the caller has it already. */
  readonly known?: CustomFile;
  /** Whether the result need not be checked for syntax errors. */
  readonly trusted?: boolean;
}

interface CustomEditResult {
  /** The new text; undefined if there is any error. */
  readonly after: string | undefined;
  readonly plans: readonly BlockPlan[];
  readonly diagnostics: readonly Diagnostic[];
}

const isPython = (path: string): boolean => /\.pyi?$/.test(path);

/** Opens a file, so that blocks can be placed in it. */
export function openFile(path: string, before: string, python: PythonParser): CustomFile {
  const mark = before.startsWith('\ufeff') ? '\ufeff' : '';
  const text = before.slice(mark.length);
  const raw = splitLines(text);
  const lines = raw.map((line) =>
    line.endsWith('\n') ? line.slice(0, line.endsWith('\r\n') ? -2 : -1) : line,
  );
  const source = lines.join('\n');
  const module = new PartedModule(python, isPython(path) ? source : '');
  const tell = (): void => undefined;
  const named = (): Set<Definition> => new Set();
  const own = {
    ...{ edits: [], imported: new Set<string>(), named, added: new Map(), tell },
    names: nameSearch(),
  };
  return { path, raw, lines, mark, module, blanksOnly: !/[\t\r\f\v]/.test(source), ...own };
}

/** Places the blocks of one file. */
export const editFile = (given: FileBlocks): CustomEditResult => atOnce(editSteps(given));

/** Like {@link editFile}, one block at a step. */
function* editSteps(given: FileBlocks): Stepwise<CustomEditResult> {
  const { path, before, blocks, python, known, trusted = false } = given;
  if (before === undefined) return yield* makeFile({ path, before, blocks, python });
  const diagnostics: Diagnostic[] = [];
  const opened = known ?? openFile(path, before, python);
  let named: ReadonlySet<Definition> | undefined;
  const file: CustomFile = {
    ...opened,
    edits: [],
    imported: new Set(),
    named: () => (named ??= namedTargets(file, read)),
    added: new Map(),
    names: nameSearch(),
    tell: (diagnostic) => diagnostics.push(diagnostic),
  };
  const read: { block: CustomBlock; code: BlockCode | undefined }[] = [];
  for (const block of blocks) {
    yield;
    const isRead = isPython(path) && typeof block.place !== 'object';
    const code = isRead ? readCode(block, python, file.tell, { keepImports: false }) : undefined;
    read.push({ block, code });
  }
  for (const { block, code } of read) {
    yield;
    if (typeof block.place === 'object') replaceLines(file, block, block.place);
    else if (code !== undefined) {
      addImports(file, block, code.imports);
      if (code.code.lines.length === 0) continue;
      if (block.action === 'rewrite') yield* rewriteOnce(file, block, code);
      else insert(file, block, code);
    } else insertText(file, block);
  }
  yield;
  const after = hasErrors(diagnostics) ? undefined : joinEdits(file);
  if (after !== undefined && isPython(path) && !trusted) {
    const codes = read.flatMap(({ code }) => (code?.broken === false ? [code.code] : []));
    // Indented code is not a module on its own.
    const plain = codes.flatMap(({ indent, lines }) => (indent === '' ? [lines] : []));
    checkResult(file, blocks, after.slice(file.mark.length), { python, sound: plain });
  }
  return {
    after: hasErrors(diagnostics) ? undefined : after,
    plans: plansOf(file, blocks, false),
    diagnostics,
  };
}

interface Rewritten {
  readonly edits: readonly LineEdit[];
  readonly told: readonly Diagnostic[];
}

/** Cached by file and block, for texts under edit. */
const rewritten = new WeakMap<PartedModule, WeakMap<CustomBlock, Rewritten>>();

/** Like `rewrite`, but caches a result that does not depend on other blocks. */
function* rewriteOnce(file: CustomFile, block: CustomBlock, code: BlockCode): Stepwise<void> {
  let ofFile = rewritten.get(file.module);
  if (ofFile === undefined) rewritten.set(file.module, (ofFile = new WeakMap()));
  let result = ofFile.get(block);
  if (result === undefined) {
    const edits: LineEdit[] = [];
    const told: Diagnostic[] = [];
    let isAlone = true;
    const named = (): ReadonlySet<Definition> => {
      isAlone = false;
      return file.named();
    };
    yield* rewrite({ ...file, edits, named, tell: (each) => told.push(each) }, block, code);
    result = { edits, told };
    if (isAlone) ofFile.set(block, result);
  }
  file.edits.push(...result.edits);
  for (const each of result.told) file.tell(each);
}

function plansOf(file: CustomFile, blocks: readonly CustomBlock[], newFile: boolean): BlockPlan[] {
  const edits = new Map<CustomBlock, CustomFile['edits']>();
  for (const edit of file.edits) {
    const own = edits.get(edit.block);
    if (own === undefined) edits.set(edit.block, [edit]);
    else own.push(edit);
  }
  return blocks.map((block) => ({
    block,
    newFile,
    parts: (edits.get(block) ?? []).map(({ kind, from, to, definition, text, source }) => ({
      kind,
      from: from + 1,
      to: to + 1,
      ...(definition !== undefined && { definition }),
      lines: text,
      source,
    })),
  }));
}

/** Makes a file from the first block, and places the others in it. */
function* makeFile({ path, blocks, python }: FileBlocks): Stepwise<CustomEditResult> {
  const [first, ...rest] = blocks;
  if (first === undefined) return { after: undefined, plans: [], diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const file: CustomFile = {
    ...openFile(path, '', python),
    tell: (diagnostic) => diagnostics.push(diagnostic),
  };
  if (typeof first.place === 'object') replaceLines(file, first, first.place);
  else {
    const asCode = isPython(path)
      ? readCode(first, python, file.tell, { keepImports: true }).code
      : undefined;
    const margin = asCode?.indent ?? '';
    const lines = first.code.map((line, i) =>
      asCode?.inString.has(i) !== true && line.startsWith(margin)
        ? line.slice(margin.length)
        : line,
    );
    const source = { from: first.codeLine, to: first.codeLine + first.code.length };
    const text = lines.length === 0 ? { text: [], raw: [] } : { text: lines };
    file.edits.push({ kind: 'insert', from: 0, to: 0, ...text, block: first, source });
  }
  const after = hasErrors(diagnostics) ? undefined : joinEdits(file);
  const made = plansOf(file, [first], true);
  if (after === undefined || rest.length === 0) return { after, plans: made, diagnostics };
  // A new file has no lines of R, so a number can only mean its end. A range refers to the new
  // text.
  const placed = rest.map((block) =>
    typeof block.place === 'number' ? { ...block, place: 'EOF' as const } : block,
  );
  const more = yield* editSteps({ path, before: after, blocks: placed, python });
  const plans = more.plans.map((plan, i) => ({
    ...plan,
    block: rest[i] ?? plan.block,
    newFile: true,
    parts: plan.parts.map((part) => ({ ...part, from: 1, to: 1 })),
  }));
  return {
    after: more.after,
    plans: [...made, ...plans],
    diagnostics: [...diagnostics, ...more.diagnostics],
  };
}

/** Inserts the code of a block into a file that is not Python. */
function insertText(file: CustomFile, block: CustomBlock): void {
  if (block.action === 'rewrite') {
    file.tell({
      severity: 'error',
      code: 'not-python',
      line: block.pathLine,
      message: `${file.path} is not a Python file`,
      hint: 'Only functions and classes in Python files can be rewritten; use the lines to replace, as in 3-5',
    });
    return;
  }
  const last = file.lines.length;
  const { place } = block;
  const at = place === 'BOF' ? 0 : typeof place === 'number' ? Math.min(place - 1, last) : last;
  const source = { from: block.codeLine, to: block.codeLine + block.code.length };
  file.edits.push({ kind: 'insert', from: at, to: at, text: block.code, block, source });
}

/** Replaces lines of a file by the code of a block as it is. */
function replaceLines(file: CustomFile, block: CustomBlock, span: ReplacedLines): void {
  const count = file.lines.length;
  const [from, to] = [span.from - 1, span.to];
  if (to > count || from > count) {
    const fixed = from < count ? `${span.from}-${count}` : `${count + 1}-${count}`;
    file.tell({
      severity: 'error',
      code: 'outside-file',
      line: block.placeLine,
      message: `${file.path} has only ${count} lines`,
      hint: `Line numbers refer to the current file; ${count + 1}-${count} adds code after its end`,
      fixes: [replaceLine(`Write ${fixed}`, block.placeLine, fixed)],
    });
    return;
  }
  const ownEnds = block.code.some((line) => line.endsWith('\r'));
  const eol =
    span.lineEnd === 'CRLF'
      ? '\r\n'
      : span.lineEnd === 'LF' || ownEnds
        ? '\n'
        : lineEndAt(file.raw, { from, to });
  const raw = block.code.map((line) => line + eol);
  if (block.noNewline && to === count) raw.push((raw.pop() ?? '').slice(0, -eol.length));
  const source = { from: block.codeLine, to: block.codeLine + block.code.length };
  file.edits.push({ kind: 'rewrite', from, to, text: block.code, raw, block, source });
}
