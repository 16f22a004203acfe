import type { Definition } from '../python/definitions';
import { readModule, type ImportStatement, type PythonModule } from '../python/module';
import type { PythonParser } from '../python/parser';
import type { ReadFile } from './apply';
import type { CustomBlock } from './custom';
import { hasErrors, type Diagnostic } from './diagnostic';
import { indentOf, indentUnit, reindent, type IndentedCode } from './indentation';
import { unsafePath } from './safety';
import type { FileEdit } from './write';

/**
 * What blocks of the custom format make of the files they name, all of them or, with any error, none.
 * Blocks are placed in the files as `read` gives them, so line numbers are those of R and the order of
 * blocks does not move them.
 */
export async function customEdits(
  blocks: readonly CustomBlock[],
  { read, python }: { read: ReadFile; python: PythonParser },
): Promise<{ edits: FileEdit[]; diagnostics: Diagnostic[] }> {
  const byPath = Map.groupBy(blocks, (block) => block.path);
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

/** A change of a file: `text`, lines without line ends, in place of the lines `from` to `to`. */
interface LineEdit {
  /** 0-based; equal to `to` for an insertion before that line. */
  from: number;
  to: number;
  text: string[];
  block: CustomBlock;
  /** Blank lines wanted around an insertion; undefined for a replacement. */
  apart?: number;
  isImport?: boolean;
}

interface Context {
  readonly path: string;
  readonly lines: readonly string[];
  readonly module: PythonModule;
  readonly unit: string;
  readonly edits: LineEdit[];
  readonly tell: (
    severity: Diagnostic['severity'],
    line: number,
    message: string,
    hint?: string,
  ) => void;
}

function editFile(
  path: string,
  before: string | undefined,
  blocks: readonly CustomBlock[],
  python: PythonParser,
  diagnostics: Diagnostic[],
): string | undefined {
  const eol = before?.includes('\r\n') === true ? '\r\n' : '\n';
  const lines = (before ?? '').split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  const module = readModule(python, lines.join('\n'));
  const tell: Context['tell'] = (severity, line, message, hint) => {
    diagnostics.push({ severity, line, message, ...(hint !== undefined && { hint }) });
  };
  const context: Context = { path, lines, module, unit: indentUnit(lines), edits: [], tell };

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
      context.edits.push({ from: place, to: place, text, block, apart: isPython ? 2 : 0 });
    } else {
      const code = readCode(block, python, tell, { keepImports: false });
      if (code === undefined) continue;
      addImports(context, block, code.imports);
      if (code.code.lines.length === 0) continue;
      if (block.action === 'rewrite') rewrite(context, block, code);
      else insert(context, block, code);
    }
  }
  if (hasErrors(diagnostics)) return undefined;
  const after = join(context, before);
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
  // The text was split at \n alone, so only files with \r\n throughout come back as they were.
  return eol === '\n' ? after : after.replaceAll('\n', eol);
}

interface BlockCode {
  readonly code: IndentedCode;
  /** Functions and classes that do not lie in one another, by lines of `code`. */
  readonly definitions: readonly {
    definition: Definition;
    from: number;
    to: number;
    methods: string[];
  }[];
  readonly imports: readonly { statement: ImportStatement; text: string[] }[];
}

/** Reads the code of a block; undefined after a syntax error. */
function readCode(
  block: CustomBlock,
  python: PythonParser,
  tell: Context['tell'],
  { keepImports }: { keepImports: boolean },
): BlockCode | undefined {
  const count = keepImports ? 0 : headImports(block.code);
  const head = readModule(python, block.code.slice(0, count).join('\n'));
  const lines = block.code.slice(count);
  const firstLine = lines.find((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const indent = indentOf(firstLine ?? '');
  // Indented code is no module of its own, so it is read below an `if`.
  const shift = indent === '' ? 0 : 1;
  const module = readModule(python, [...(shift === 1 ? ['if 1:'] : []), ...lines].join('\n'));
  const errorLine = head.errorLine ?? (module.errorLine && module.errorLine - shift + count);
  if (errorLine !== undefined) {
    const text = (block.code[errorLine - 1] ?? '').trim();
    tell(
      'error',
      block.codeLine + errorLine - 1,
      `The code has a syntax error near ${JSON.stringify(text)}`,
      'The block has to hold whole functions or classes; check that it ends with "end diff"',
    );
    return undefined;
  }
  const strings = module.longStrings.flatMap((string) =>
    Array.from({ length: string.endLine - string.startLine }, (_, k) => ({
      line: string.startLine + k - shift,
      docstring: string.docstring,
    })),
  );
  return {
    code: {
      lines,
      indent,
      inString: new Set(strings.map((s) => s.line)),
      inDocstring: new Set(strings.filter((s) => s.docstring).map((s) => s.line)),
    },
    definitions: module.definitions
      .filter((definition) => definition.parent === undefined)
      .map((definition) => ({
        definition,
        from: definition.range.startLine - 1 - shift,
        to: definition.range.endLine - shift,
        methods: methodNames(module, definition),
      })),
    imports: head.imports.map((statement) => ({
      statement,
      text: block.code.slice(statement.range.startLine - 1, statement.range.endLine),
    })),
  };
}

/** How many lines at the head of a block are imports at the margin. */
function headImports(lines: readonly string[]): number {
  let end = 0;
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? '';
    if (line.trim() === '') continue;
    if (!/^(import|from)\s/.test(line)) break;
    const closing = line.includes('(') && !line.includes(')') ? ')' : undefined;
    while (closing !== undefined && i + 1 < lines.length && !(lines[i] ?? '').includes(closing))
      i += 1;
    while ((lines[i] ?? '').endsWith('\\') && i + 1 < lines.length) i += 1;
    end = i + 1;
  }
  return end;
}

function methodNames(module: PythonModule, definition: Definition): string[] {
  return module.definitions.filter((d) => d.parent === definition).map((d) => d.name);
}

/** Replaces each function and class of the block that the file has; the others go in beside them. */
function rewrite(context: Context, block: CustomBlock, code: BlockCode): void {
  const { tell, module } = context;
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
    .map((own) => ({ ...own, target: findTarget(context, block, own.definition) }))
    .filter((own) => own.target !== undefined);
  for (const own of code.definitions) {
    if (matched.some((m) => m.definition === own.definition)) continue;
    const { kind, name } = own.definition;
    const near = nearestNames(module, name);
    tell(
      matched.length === 0 ? 'error' : 'warning',
      block.codeLine + own.from,
      `${context.path} has no ${kind === 'class' ? 'class' : 'function'} ${name}`,
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
    from += repeatedComments(code.code.lines.slice(from, own.from), context.lines.slice(0, start));
    const indent = indentOf(context.lines[target.defLine - 1] ?? '');
    const lost = methodNames(module, target).filter((name) => !own.methods.includes(name));
    if (own.definition.kind === 'class' && lost.length > 0) {
      tell(
        'warning',
        block.codeLine + own.from,
        `Class ${target.name} loses ${lost.slice(0, 5).join(', ')}${lost.length > 5 ? ', …' : ''}`,
        'A class is rewritten as a whole; give the method alone to change only that',
      );
    }
    context.edits.push({
      from: start,
      to: target.range.endLine,
      text: reindent(code.code, from, to, indent, context.unit),
      block,
    });
  });
}

/** The function or class of the file that a block means: by name, then nearest to its line. */
function findTarget(
  context: Context,
  block: CustomBlock,
  wanted: Definition,
): Definition | undefined {
  const isClass = wanted.kind === 'class';
  const narrow = (all: Definition[], keep: (d: Definition) => boolean): Definition[] => {
    const kept = all.filter(keep);
    return kept.length > 0 ? kept : all;
  };
  let found = context.module.definitions.filter(
    (d) => d.name === wanted.name && (d.kind === 'class') === isClass,
  );
  found = narrow(found, (d) => !d.local);
  found = narrow(found, (d) => takesSelf(d) === takesSelf(wanted));
  const line =
    block.place === 'BOF' ? 1 : block.place === 'EOF' ? context.lines.length : block.place;
  const distance = ({ range }: Definition): number =>
    Math.max(0, range.startLine - line, line - range.endLine);
  const [best] = [...found].sort((a, b) => distance(a) - distance(b));
  if (best !== undefined && found.length > 1) {
    context.tell(
      'info',
      block.codeLine,
      `${context.path} has ${found.length} of the name ${wanted.name}; ` +
        `${best.qualifiedName} in line ${best.defLine} is the nearest to ${block.place}`,
    );
  }
  return best;
}

function takesSelf(definition: Definition): boolean {
  return /^(self|cls)$/.test(definition.parameters[0] ?? '');
}

/** How many comment lines above a block's function stand above the file's function already. */
function repeatedComments(own: readonly string[], above: readonly string[]): number {
  if (own.length === 0 || !own.every((line) => line.trimStart().startsWith('#'))) return 0;
  const there = above.slice(-own.length);
  return own.every((line, i) => line.trim() === there[i]?.trim()) ? own.length : 0;
}

function nearestNames(module: PythonModule, name: string): string {
  return module.definitions
    .map((d) => ({ d, away: editDistance(d.name, name) / Math.max(d.name.length, name.length) }))
    .filter(({ away }) => away <= 0.5)
    .sort((a, b) => a.away - b.away)
    .slice(0, 3)
    .map(({ d }) => `${d.qualifiedName} (line ${d.defLine})`)
    .join(', ');
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Adds the code of a block at its place: into a class when it is a method, else at the margin. */
function insert(context: Context, block: CustomBlock, code: BlockCode): void {
  const { lines, module, tell } = context;
  const first = code.definitions[0]?.definition;
  const wantsClass = first !== undefined && (code.code.indent !== '' || takesSelf(first));
  const home = wantsClass ? findHome(context, block) : undefined;
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
      `${context.path} has ${twin.qualifiedName} in line ${twin.defLine} already; the later one hides the other`,
      'Use "rewrite" to replace it, or give the new one another name',
    );
  }
  const at = home === undefined ? moduleLine(context, block) : classLine(context, block, home);
  context.edits.push({
    from: at,
    to: at,
    text: reindent(code.code, 0, code.code.lines.length, indent, context.unit),
    block,
    apart: home === undefined ? 2 : 1,
  });
}

/** The class that a method belongs into: around the line, or the one that ends right before it. */
function findHome(context: Context, block: CustomBlock): Definition | undefined {
  const { module, lines } = context;
  if (block.place === 'BOF') return undefined;
  const line = block.place === 'EOF' ? lines.length : Math.min(block.place, lines.length);
  const classes = module.definitions.filter((d) => d.kind === 'class' && !d.local);
  const open = classes.filter((d) => d.body.startLine > d.defLine);
  const around = open.filter((d) => d.range.startLine <= line && line <= d.range.endLine);
  if (around.length > 0) return around.at(-1);
  const before = module.statements.filter((s) => s.range.startLine <= line).at(-1);
  return open.find((d) => d.parent === undefined && d.range.endLine === before?.range.endLine);
}

/** The line before which to insert in a class: between members, never inside one. */
function classLine(context: Context, block: CustomBlock, home: Definition): number {
  const members = context.module.definitions.filter((d) => d.parent === home);
  if (block.place === 'EOF' || block.place === 'BOF') return home.range.endLine;
  return (
    between(
      context,
      members.map((d) => d.range),
      block.place,
    ) ?? home.range.endLine
  );
}

/** The line before which to insert at the margin: between statements, behind the first imports. */
function moduleLine(context: Context, block: CustomBlock): number {
  const { lines, module } = context;
  const head = headEnd(context);
  if (block.place === 'EOF' || (block.place !== 'BOF' && block.place > lines.length))
    return lines.length;
  if (block.place === 'BOF') return head;
  const at = between(
    context,
    module.statements.map((s) => s.range),
    block.place,
  );
  return Math.max(head, at ?? lines.length);
}

/** Before the span that begins at the line or next after it, behind the span that holds it. */
function between(
  context: Context,
  spans: readonly { startLine: number; endLine: number }[],
  line: number,
): number | undefined {
  const around = spans.find((span) => span.startLine < line && line <= span.endLine);
  if (around !== undefined) return around.endLine;
  const next = spans.find((span) => span.startLine >= line);
  if (next === undefined) return undefined;
  let at = next.startLine - 1;
  // Comments right above belong to what they stand above.
  while (at > 0 && (context.lines[at - 1] ?? '').trimStart().startsWith('#')) at -= 1;
  return at;
}

/** How many lines the docstring and the imports at the top take, or else the comments there. */
function headEnd(context: Context, only?: (statement: ImportStatement) => boolean): number {
  const { module, lines } = context;
  let end = 0;
  for (const [i, statement] of module.statements.entries()) {
    const found = module.imports.find((s) => s.range.start === statement.range.start);
    const inHead =
      found !== undefined ? (only?.(found) ?? true) : i === 0 && statement.type === 'string';
    if (!inHead) break;
    end = statement.range.endLine;
  }
  if (end === 0) while ((lines[end] ?? '').startsWith('#')) end += 1;
  return end;
}

/** Adds what a block imports and the file does not. */
function addImports(context: Context, block: CustomBlock, imports: BlockCode['imports']): void {
  const key = (n: { from: string; name: string; alias: string }): string =>
    [n.from, n.name, n.alias].join('\0');
  const there = new Set(context.module.imports.flatMap((s) => s.names.map(key)));
  for (const edit of context.edits)
    if (edit.isImport === true) edit.text.forEach((t) => there.add(t));
  for (const { statement, text } of imports) {
    const missing = statement.names.filter((name) => !there.has(key(name)));
    const joined = text.join('\n');
    if (missing.length === 0 || there.has(joined)) continue;
    const some = missing
      .map((n) => (n.alias === '' ? n.name : `${n.name} as ${n.alias}`))
      .join(', ');
    const from = missing[0]?.from ?? '';
    const whole = missing.length === statement.names.length;
    const written = whole ? text : [from === '' ? `import ${some}` : `from ${from} import ${some}`];
    const at = headEnd(context, statement.future ? (found) => found.future : undefined);
    context.edits.push({ from: at, to: at, text: written, block, isImport: true });
  }
}

/** Puts the edits into the lines; undefined, with a diagnostic, when two of them touch the same ones. */
function join(context: Context, before: string | undefined): string | undefined {
  const { lines, tell } = context;
  const order = context.edits.map((edit, i) => ({ edit, i }));
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
      tell(
        'error',
        edit.block.line,
        `Another block changes line ${edit.from + 1} of ${context.path} as well`,
        'Join the blocks into one',
      );
      return undefined;
    }
    for (; done < edit.from; done += 1) out.push(lines[done] ?? '');
    addApart(out, edit, lines);
    done = Math.max(done, edit.to);
  }
  for (; done < lines.length; done += 1) out.push(lines[done] ?? '');
  const endsOpen = before !== undefined && before !== '' && !before.endsWith('\n');
  const lastIsOld = !order.some(({ edit }) => edit.to === lines.length);
  return out.join('\n') + (endsOpen && lastIsOld ? '' : '\n');
}

/** Appends an edit, with the blank lines that it wants around it and that are not there. */
function addApart(out: string[], edit: LineEdit, lines: readonly string[]): void {
  const blank = (line: string | undefined): boolean => line !== undefined && line.trim() === '';
  const next = lines[edit.to];
  if (edit.isImport === true) {
    const last = out.at(-1);
    const follows = last !== undefined && !blank(last) && !/^(import|from|[)#\s])/.test(last);
    if (follows) out.push('');
    out.push(...edit.text);
    if (next !== undefined && !blank(next) && !/^(import|from)\s/.test(next)) out.push('');
    return;
  }
  const apart = edit.apart ?? 0;
  const opens = /:\s*(#.*)?$/.test(out.at(-1) ?? '') && apart === 1;
  if (out.some((line) => !blank(line)) && !opens) {
    let have = 0;
    while (blank(out.at(-1 - have))) have += 1;
    for (; have < apart; have += 1) out.push('');
  }
  out.push(...edit.text);
  if (next === undefined) return;
  let have = 0;
  while (blank(lines[edit.to + have])) have += 1;
  if (edit.to + have < lines.length) for (; have < apart; have += 1) out.push('');
}
