import { readModule, type ImportedName } from '../python/module';
import type { PythonParser } from '../python/parser';
import type { ReadFile } from './apply';
import type { CustomBlock } from './custom';
import { methodNames, readCode, type BlockCode } from './customCode';
import { joinEdits, type CustomFile } from './customFile';
import {
  classLine,
  findHome,
  findTarget,
  headEnd,
  moduleLine,
  nearestNames,
  takesSelf,
} from './customPlace';
import { hasErrors, type Diagnostic } from './diagnostic';
import { indentOf, indentUnit, reindent } from './indentation';
import { unsafePath } from './safety';
import { splitLines, type FileEdit } from './write';

/**
 * What blocks of the custom format make of the files they name, all of them or, with any error, none.
 * Blocks are placed in the files as `read` gives them, so line numbers are those of R and the order of
 * blocks does not move them.
 */
export async function customEdits(
  blocks: readonly CustomBlock[],
  { read, python }: { read: ReadFile; python: PythonParser },
): Promise<{ edits: FileEdit[]; diagnostics: Diagnostic[] }> {
  const byPath = new Map<string, CustomBlock[]>();
  for (const block of blocks) {
    byPath.set(block.path, [...(byPath.get(block.path) ?? []), block]);
  }
  const edits: FileEdit[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [path, own] of byPath) {
    const unsafe = unsafePath(path);
    const first = own[0];
    if (unsafe !== undefined && first !== undefined) {
      diagnostics.push({
        severity: 'error',
        line: first.pathLine,
        message: `${JSON.stringify(path)} cannot be patched: ${unsafe}`,
        hint: 'Name the file by its path in the repository',
      });
      continue;
    }
    const before = await read(path);
    const after = editFile(path, before, own, python, diagnostics);
    if (after !== undefined) edits.push({ path, before, after });
  }
  return hasErrors(diagnostics) ? { edits: [], diagnostics } : { edits, diagnostics };
}

function editFile(
  path: string,
  before: string | undefined,
  blocks: readonly CustomBlock[],
  python: PythonParser,
  diagnostics: Diagnostic[],
): string | undefined {
  const eol = before?.includes('\r\n') === true ? '\r\n' : '\n';
  const raw = splitLines(before ?? '');
  const lines = raw.map((line) => line.replace(/\r?\n$/, ''));
  const module = readModule(python, lines.join('\n'));
  const tell: CustomFile['tell'] = (severity, line, message, hint) => {
    diagnostics.push({ severity, line, message, ...(hint !== undefined && { hint }) });
  };
  const imported = new Set(module.imports.flatMap((found) => found.names.map(importKey)));
  const file: CustomFile = {
    path,
    lines,
    module,
    unit: indentUnit(lines),
    edits: [],
    imported,
    tell,
  };

  for (const block of blocks) {
    const isPython = /\.pyi?$/.test(path);
    if (block.action === 'rewrite' && (before === undefined || !isPython)) {
      tell(
        'error',
        block.pathLine,
        before === undefined ? `There is no file ${path}` : `${path} is not a Python file`,
        'Only functions and classes of Python files can be rewritten; "insert" makes a new file',
      );
    } else if (!isPython || before === undefined) {
      const place = isPython || block.place !== 'BOF' ? lines.length : 0;
      const code = isPython
        ? readCode(block, python, tell, { keepImports: true })?.code
        : undefined;
      const text =
        code === undefined
          ? [...block.code]
          : reindent(code, 0, code.lines.length, '', code.indent || '    ');
      file.edits.push({ from: place, to: place, text, block, apart: isPython ? 2 : 0 });
    } else {
      const code = readCode(block, python, tell, { keepImports: false });
      if (code === undefined) continue;
      addImports(file, block, code.imports);
      if (code.code.lines.length === 0) continue;
      if (block.action === 'rewrite') rewrite(file, block, code);
      else insert(file, block, code);
    }
  }
  if (hasErrors(diagnostics)) return undefined;
  const after = joinEdits(file, raw, eol);
  if (after === undefined) return undefined;

  const wrong = /\.pyi?$/.test(path) ? readModule(python, after).errorLine : undefined;
  if (wrong !== undefined && module.errorLine === undefined) {
    const text = after.split('\n')[wrong - 1]?.trim() ?? '';
    tell(
      'error',
      blocks[0]?.line ?? 1,
      `${path} would have a syntax error in line ${wrong}: ${text}`,
      'Check the indentation of the code and where it goes',
    );
    return undefined;
  }
  return after;
}

/** Replaces each function and class of the block that the file has; the others go in beside them. */
function rewrite(file: CustomFile, block: CustomBlock, code: BlockCode): void {
  const { tell, module } = file;
  if (code.definitions.length === 0) {
    tell(
      'error',
      block.codeLine,
      'The block to rewrite holds no function or class',
      'Write the whole function or class, with its "def" or "class" line',
    );
    return;
  }
  const matched = code.definitions
    .map((own) => ({ ...own, target: findTarget(file, block, own.definition) }))
    .filter((own) => own.target !== undefined);
  for (const own of code.definitions) {
    if (matched.some((m) => m.definition === own.definition)) continue;
    const { kind, name } = own.definition;
    const near = nearestNames(module, name);
    tell(
      matched.length === 0 ? 'error' : 'warning',
      block.codeLine + own.from,
      `${file.path} has no ${kind === 'class' ? 'class' : 'function'} ${name}`,
      matched.length === 0
        ? `${near === '' ? '' : `Did you mean ${near}? `}Use "insert" to add a new one`
        : 'It is added beside the one that is rewritten',
    );
  }
  matched.forEach((own, i) => {
    const { target } = own;
    if (target === undefined) return;
    let from = i === 0 ? 0 : (matched[i - 1]?.to ?? 0);
    let to = i === matched.length - 1 ? code.code.lines.length : own.to;
    const isBlank = (at: number): boolean => (code.code.lines[at] ?? '').trim() === '';
    while (isBlank(from) && from < to) from += 1;
    while (isBlank(to - 1) && to > from) to -= 1;
    const start = target.range.startLine - 1;
    from += repeatedComments(code.code.lines.slice(from, own.from), file.lines.slice(0, start));
    const indent = indentOf(file.lines[target.defLine - 1] ?? '');
    const lost = methodNames(module, target).filter((name) => !own.methods.includes(name));
    if (own.definition.kind === 'class' && lost.length > 0) {
      tell(
        'warning',
        block.codeLine + own.from,
        `Class ${target.name} loses ${lost.slice(0, 5).join(', ')}${lost.length > 5 ? ', …' : ''}`,
        'A class is rewritten as a whole; give the method alone to change only that',
      );
    }
    file.edits.push({
      from: start,
      to: target.range.endLine,
      text: reindent(code.code, from, to, indent, file.unit),
      block,
    });
  });
}

/** How many comment lines above a block's function stand above the file's function already. */
function repeatedComments(own: readonly string[], above: readonly string[]): number {
  if (own.length === 0 || !own.every((line) => line.trimStart().startsWith('#'))) return 0;
  const there = above.slice(-own.length);
  return own.every((line, i) => line.trim() === there[i]?.trim()) ? own.length : 0;
}

/** Adds the code of a block at its place: into a class when it is a method, else at the margin. */
function insert(file: CustomFile, block: CustomBlock, code: BlockCode): void {
  const { lines, module, tell } = file;
  const first = code.definitions[0]?.definition;
  const wantsClass = first !== undefined && (code.code.indent !== '' || takesSelf(first));
  const home = wantsClass ? findHome(file, block) : undefined;
  const indent = home === undefined ? '' : indentOf(lines[home.body.startLine - 1] ?? '');
  if (first !== undefined && takesSelf(first) && (home === undefined || code.code.indent === '')) {
    tell(
      'warning',
      block.codeLine,
      home === undefined
        ? `${first.name} takes ${first.parameters[0]}, but there is no class at ${block.place}`
        : `${first.name} takes ${first.parameters[0]}, so it goes into class ${home.qualifiedName}`,
      home === undefined ? 'Give a line inside the class as the place' : 'Indent it as a method',
    );
  }
  for (const { definition } of code.definitions) {
    const twin = module.definitions.find((d) => d.parent === home && d.name === definition.name);
    if (twin === undefined) continue;
    tell(
      'warning',
      block.codeLine,
      `${file.path} has ${twin.qualifiedName} in line ${twin.defLine} already; the later one hides the other`,
      'Use "rewrite" to replace it, or give the new one another name',
    );
  }
  const at = home === undefined ? moduleLine(file, block) : classLine(file, block, home);
  file.edits.push({
    from: at,
    to: at,
    text: reindent(code.code, 0, code.code.lines.length, indent, file.unit),
    block,
    apart: home === undefined ? 2 : 1,
  });
}

/** Adds what a block imports and the file does not. */
function addImports(file: CustomFile, block: CustomBlock, imports: BlockCode['imports']): void {
  for (const { statement, text } of imports) {
    const missing = statement.names.filter((name) => !file.imported.has(importKey(name)));
    if (missing.length === 0) continue;
    for (const name of missing) file.imported.add(importKey(name));
    const some = missing
      .map((n) => (n.alias === '' ? n.name : `${n.name} as ${n.alias}`))
      .join(', ');
    const from = missing[0]?.from ?? '';
    const whole = missing.length === statement.names.length;
    const written = whole ? text : [from === '' ? `import ${some}` : `from ${from} import ${some}`];
    const at = headEnd(file, statement.future ? (found) => found.future : undefined);
    file.edits.push({ from: at, to: at, text: written, block, isImport: true });
  }
}

function importKey({ from, name, alias }: ImportedName): string {
  return [from, name, alias].join('\0');
}
