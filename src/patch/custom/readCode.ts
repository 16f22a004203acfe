import type { Definition } from '../../python/definitions';
import { readCodeModule, readModule, type PythonModule } from '../../python/module';
import type { PythonParser } from '../../python/parser';
import type { BlockCode, BlockDefinition, BlockImport } from './blockCode';
import type { CustomBlock } from './parseCustom';
import { longLine, tooLong, tooMuch } from './checkResult';
import type { CustomFile } from './customFile';
import { membersOf } from './findTarget';
import { indentationOf, type IndentedCode } from '../reading/indentation';

/** The parsed code of a block, independent of the block's other parts. */
interface CodeRead {
  /** Number of lines of the imports at its head. */
  readonly count: number;
  readonly head: PythonModule | undefined;
  readonly code: IndentedCode;
  readonly definitions: readonly BlockDefinition[];
  /** 1-based line of the first syntax error. */
  readonly errorLine: number | undefined;
}

/** Reads the code of a block. After a syntax error the result has its readable parts. */
export function readCode(
  block: CustomBlock,
  python: PythonParser,
  tell: CustomFile['tell'],
  { keepImports }: { keepImports: boolean },
): BlockCode {
  const long = longLine(block.code);
  const unread = long === undefined ? tooMuch(block) : tooLong(block, long);
  if (unread !== undefined) {
    tell(unread);
    return unreadable(block);
  }
  const { count, head, code, definitions, errorLine } = readLines(block.code, python, keepImports);
  if (errorLine !== undefined) {
    const text = (block.code[errorLine - 1] ?? '').trim();
    tell({
      severity: 'error',
      code: 'python-syntax',
      line: block.codeLine + Math.max(errorLine, 1) - 1,
      message: `The code has a syntax error near ${JSON.stringify(inShort(text))}`,
      hint: 'The block must contain whole functions or classes; check that it ends with "end diff"',
    });
  }
  return {
    code,
    firstLine: block.codeLine + count,
    definitions,
    imports: head === undefined ? [] : readImports(block, head),
    broken: errorLine !== undefined,
  };
}

function readLines(all: readonly string[], python: PythonParser, keepImports: boolean): CodeRead {
  const { count, head } = keepImports ? { count: 0, head: undefined } : readHead(all, python);
  const lines = all.slice(count);
  const firstLine = lines.find((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const indent = indentationOf(firstLine ?? '');
  // Indented code is not a module on its own, so it is parsed below an `if`.
  const shift = indent === '' ? 0 : 1;
  const source = [...(shift === 1 ? ['if 1:'] : []), ...lines].join('\n');
  const module = readCodeModule(python, source);
  const wrong = module.errorLine;
  const strings = module.longStrings.flatMap((string) =>
    Array.from({ length: string.endLine - string.startLine }, (_, k) => ({
      line: string.startLine + k - shift,
      docstring: string.docstring,
    })),
  );
  return {
    count,
    head,
    code: {
      lines,
      indent,
      inString: new Set(strings.map((s) => s.line)),
      inDocstring: new Set(strings.filter((s) => s.docstring).map((s) => s.line)),
    },
    definitions: module.definitions
      .filter((definition) => definition.parent === undefined)
      .map((definition) => readDefinition(module, definition, shift)),
    errorLine: head?.errorLine ?? (wrong && wrong - shift + count),
  };
}

/** The result for code that is not parsed. */
function unreadable(block: CustomBlock): BlockCode {
  return {
    code: { lines: block.code, indent: '', inString: new Set(), inDocstring: new Set() },
    firstLine: block.codeLine,
    definitions: [],
    imports: [],
    broken: true,
  };
}

const inShort = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)} …` : text);

function readDefinition(
  module: PythonModule,
  definition: Definition,
  shift: number,
): BlockDefinition {
  const members = membersOf(module, definition);
  const [first] = members;
  return {
    definition,
    from: definition.range.startLine - 1 - shift,
    to: definition.range.endLine - shift,
    defLine: definition.defLine - 1 - shift,
    ...(first !== undefined && { firstMember: first.range.startLine - 1 - shift }),
    methods: members.map((d) => d.name),
  };
}

/**
 * The imports at the head of a block, and the number of their lines, with blank ones after them.
 */
function readHead(
  lines: readonly string[],
  python: PythonParser,
): { count: number; head: PythonModule | undefined } {
  let count = headImports(lines);
  if (count === 0) return { count, head: undefined };
  const head = readModule(python, lines.slice(0, count).join('\n'));
  // `import a; x = 1` is code, and so is everything after it.
  const other = head.statements.find((statement) => statement.type !== 'import');
  if (other === undefined || head.errorLine !== undefined) return { count, head };
  count = other.range.startLine - 1;
  if (count === 0) return { count, head: undefined };
  return { count, head: readModule(python, lines.slice(0, count).join('\n')) };
}

/** Number of lines at the head of a block that are top-level imports, or blank lines after them. */
function headImports(lines: readonly string[]): number {
  let end = 0;
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? '';
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (!/^(import|from)\s/.test(line)) break;
    const code = withoutComment(line);
    if (code.includes('(') && !code.includes(')')) {
      while (i + 1 < lines.length && !withoutComment(lines[i] ?? '').includes(')')) i += 1;
    }
    while ((lines[i] ?? '').endsWith('\\') && i + 1 < lines.length) i += 1;
    end = i + 1;
  }
  while (end > 0 && end < lines.length && lines[end]?.trim() === '') end += 1;
  return end;
}

function withoutComment(line: string): string {
  const at = line.indexOf('#');
  return at < 0 ? line : line.slice(0, at);
}

function readImports(block: CustomBlock, head: PythonModule): BlockImport[] {
  return head.imports.map((statement) => {
    let from = statement.range.startLine - 1;
    while (from > 0 && (block.code[from - 1] ?? '').startsWith('#')) from -= 1;
    const to = statement.range.endLine;
    return {
      statement,
      text: block.code.slice(from, to),
      source: { from: block.codeLine + from, to: block.codeLine + to },
    };
  });
}
