import { classNames, testId } from '../domain/testId';
import { definitionsIn, type Definition, type SourceRange } from './definitions';
import type { PythonParser } from './parser';

/** One test function as a runner would find it. A parametrised test is one. */
export interface PythonTest {
  /** `tests/test_a.py::A::test_x`, as pytest names it, without parameters. */
  readonly id: string;
  readonly name: string;
  /** `unittest` if unittest can run it. */
  readonly style: 'unittest' | 'pytest';
  /** 1-based line of `def`. */
  readonly defLine: number;
  /** With decorators. */
  readonly range: SourceRange;
  /** 0-based column of `def`. */
  readonly column: number;
  /** Enclosing classes, joined by `::`. */
  readonly className?: string;
  /** Lines of these classes, from 1; absent where only the line of the test could be read. */
  readonly classLines?: readonly ClassLines[];
  /** Source of the function with its decorators. */
  readonly text: string;
}

/** Where a class stands: from its `class` to its last line. */
interface ClassLines {
  readonly defLine: number;
  readonly endLine: number;
}

/**
 * The tests of a source. They are the functions and methods of `Test…` classes that pytest collects
 * by default. They are also the methods of subclasses of `unittest.TestCase`, as far as the file
 * itself shows the base. An inherited test belongs to the class that defines it.
 */
export function findTests(
  python: PythonParser,
  source: string,
  { path }: { path: string },
): PythonTest[] {
  return python.parse(source, (root) =>
    testsIn(definitionsIn(root, 'without heads'), source, path, root.hasError),
  );
}

/**
 * Like `findTests`, for definitions that were read before.
 *
 * @param broken whether the parser could not read all of the source, so that definitions may be
 *   missing: its lines are then searched for more
 */
export function testsIn(
  definitions: readonly Definition[],
  source: string,
  path: string,
  broken = false,
): PythonTest[] {
  const styleOf = classStyles(definitions, source);
  // A later definition of the same name replaces an earlier one when the module runs.
  const tests = new Map<string, PythonTest>();
  for (const definition of definitions) {
    const { parent, name, range } = definition;
    if (definition.kind === 'class' || definition.local || !name.startsWith('test')) continue;
    const style = parent === undefined ? 'pytest' : styleOf(parent);
    if (style === undefined || isFixture(definition)) continue;
    if (parent !== undefined && isProperty(definition)) continue;
    const classes = parent?.qualifiedName.split('.') ?? [];
    const id = testId(path, ...classes, name);
    tests.set(id, {
      id,
      name,
      style,
      defLine: definition.defLine,
      range,
      column: definition.column,
      ...(classes.length > 0 && {
        className: classNames(classes),
        classLines: linesOfClasses(parent),
      }),
      text: source.slice(range.start, range.end),
    });
  }
  const known = new Set(tests.keys());
  for (const test of broken ? testsOnLines(source, path) : []) {
    if (!known.has(test.id)) tests.set(test.id, test);
  }
  return [...tests.values()].sort((one, other) => one.defLine - other.defLine);
}

/** Lines of a class and of the classes around it, the outermost first. */
function linesOfClasses(definition: Definition | undefined): ClassLines[] {
  if (definition === undefined) return [];
  const { defLine, range, parent } = definition;
  return [...linesOfClasses(parent), { defLine, endLine: range.endLine }];
}

/** Tests by the lines that define them, in a source with a syntax error. */
function testsOnLines(source: string, path: string): PythonTest[] {
  const found: PythonTest[] = [];
  const classes: { readonly name: string; readonly bases: string; readonly column: number }[] = [];
  let start = 0;
  for (const [index, line] of source.split('\n').entries()) {
    const [, indent = '', , def, cls, name = ''] =
      /^([ \t]*)(async\s+)?(?:(def)|(class))\s+(\w+)/.exec(line) ?? [];
    const column = indent.length;
    if (def !== undefined || cls !== undefined) {
      while ((classes.at(-1)?.column ?? -1) >= column) classes.pop();
    }
    const parent = classes.at(-1);
    const style = /TestCase\b/.test(parent?.bases ?? '') ? 'unittest' : 'pytest';
    const isRunnable =
      parent === undefined ? column === 0 : style === 'unittest' || /^Test/.test(parent.name);
    if (cls !== undefined) classes.push({ name, bases: line, column });
    if (def !== undefined && name.startsWith('test') && isRunnable) {
      const names = classes.map((each) => each.name);
      const text = source.slice(start + column, endOfBlock(source, start, column)).trimEnd();
      const defLine = index + 1;
      found.push({
        id: testId(path, ...names, name),
        ...{ name, style, column, defLine, text },
        range: {
          start: start + column,
          end: start + column + text.length,
          startLine: defLine,
          endLine: index + text.split('\n').length,
        },
        ...(names.length > 0 && { className: classNames(names) }),
      });
    }
    start += line.length + 1;
  }
  return found;
}

/** The offset after the block whose first line starts at an offset: of the next line that is no deeper. */
function endOfBlock(source: string, start: number, column: number): number {
  let at = source.indexOf('\n', start) + 1;
  while (at > 0 && at < source.length) {
    const next = source.indexOf('\n', at);
    const line = source.slice(at, next < 0 ? source.length : next);
    if (line.trim() !== '' && line.search(/\S/) <= column) return at;
    at = next + 1;
  }
  return source.length;
}

/** Whether a source imports pytest anywhere, so that it cannot be loaded without pytest. */
export function importsPytest(source: string): boolean {
  return /^\s*(import\s+(\w+\s*,\s*)*pytest\b|from\s+pytest\b)/m.test(source);
}

export function isFixture(definition: Definition): boolean {
  return definition.decorators.some((text) => /^(pytest\s*\.\s*)?(yield_)?fixture\b/.test(text));
}

function isProperty(definition: Definition): boolean {
  return definition.decorators.some((text) => /^(cached_)?property$|\.setter$/.test(text));
}

/**
 * Returns the runner whose rules a class of tests follows. It is unittest if a base is a TestCase.
 * Else it is pytest if the name begins with Test and the class can be made without arguments.
 */
function classStyles(
  definitions: readonly Definition[],
  source: string,
): (definition: Definition) => PythonTest['style'] | undefined {
  const classes = new Map(
    definitions.filter((d) => d.kind === 'class').map((d) => [d.qualifiedName, d]),
  );
  const isTestCase = (definition: Definition, seen: ReadonlySet<Definition>): boolean =>
    definition.bases.some((base) => {
      const here = classes.get(base) ?? classes.get(`${definition.parent?.qualifiedName}.${base}`);
      if (here !== undefined && !seen.has(here)) return isTestCase(here, new Set([...seen, here]));
      return /TestCase$/.test(base.replace(/[[(].*$/s, ''));
    });
  const cannotBeMade = (definition: Definition): boolean =>
    definitions.some((d) => d.parent === definition && /^__(init|new)__$/.test(d.name));
  const isOff = (definition: Definition): boolean =>
    /^[ \t]+__test__\s*=\s*False\b/m.test(
      source.slice(definition.range.start, definition.range.end),
    );

  const known = new Map<Definition, PythonTest['style'] | undefined>();
  const styleOf = (definition: Definition): PythonTest['style'] | undefined => {
    if (known.has(definition)) return known.get(definition);
    const { parent } = definition;
    let style: PythonTest['style'] | undefined;
    if (definition.kind !== 'class' || definition.local || isOff(definition)) style = undefined;
    else if (isTestCase(definition, new Set([definition]))) style = 'unittest';
    else if (definition.name.startsWith('Test') && !cannotBeMade(definition)) {
      style = parent === undefined || styleOf(parent) === 'pytest' ? 'pytest' : undefined;
    }
    // Runners look for TestCase classes only at the top of a module.
    if (style === 'unittest' && parent !== undefined && styleOf(parent) !== 'pytest') {
      style = undefined;
    }
    known.set(definition, style);
    return style;
  };
  return styleOf;
}
