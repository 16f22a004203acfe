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
  /** Source of the function with its decorators. */
  readonly text: string;
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
    testsIn(definitionsIn(root, 'without heads'), source, path),
  );
}

/** Like `findTests`, for definitions that were read before. */
export function testsIn(
  definitions: readonly Definition[],
  source: string,
  path: string,
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
    const className = parent?.qualifiedName.replaceAll('.', '::');
    const id = [path, ...(className === undefined ? [] : [className]), name].join('::');
    tests.delete(id);
    tests.set(id, {
      id,
      name,
      style,
      defLine: definition.defLine,
      range,
      column: definition.column,
      ...(className !== undefined && { className }),
      text: source.slice(range.start, range.end),
    });
  }
  return [...tests.values()];
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
