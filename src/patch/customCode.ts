import type { Definition } from '../python/definitions';
import { readModule, type ImportStatement, type PythonModule } from '../python/module';
import type { PythonParser } from '../python/parser';
import type { CustomBlock } from './custom';
import type { CustomFile } from './customFile';
import { indentOf, type IndentedCode } from './indentation';

/** What the code of a block holds. */
export interface BlockCode {
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
export function readCode(
  block: CustomBlock,
  python: PythonParser,
  tell: CustomFile['tell'],
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

/** How many lines at the head of a block are imports at the margin, or blank behind them. */
function headImports(lines: readonly string[]): number {
  let end = 0;
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? '';
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (!/^(import|from)\s/.test(line)) break;
    const closing = line.includes('(') && !line.includes(')') ? ')' : undefined;
    while (closing !== undefined && i + 1 < lines.length && !(lines[i] ?? '').includes(closing))
      i += 1;
    while ((lines[i] ?? '').endsWith('\\') && i + 1 < lines.length) i += 1;
    end = i + 1;
  }
  while (end > 0 && end < lines.length && lines[end]?.trim() === '') end += 1;
  return end;
}

/** Names of what a class defines. */
export function methodNames(module: PythonModule, definition: Definition): string[] {
  return module.definitions.filter((d) => d.parent === definition).map((d) => d.name);
}
