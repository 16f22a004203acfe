import { mutantsIn } from '../../../src/mutation/mutantsIn';
import { type Node, type PythonParser, syntaxFaults } from '../../../src/python/parser';
import { findTests } from '../../../src/python/tests';

/** A Python file of T*. */
export interface GoldenTestFile {
  readonly path: string;
  readonly source: string;
  /** 1-based lines that T* adds. */
  readonly added: ReadonlySet<number>;
}

/** T* in another form. */
export interface FaultyTest {
  /** What was done, for tables; for a small fault, its operator. */
  readonly kind: string;
  /** The changed files, by path. */
  readonly sources: ReadonlyMap<string, string>;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/**
 * Candidates in place of a model's: the tests of T* one by one, its assertions one by one, none of
 * them, some turned round, an import that fails, and one small fault in T* or in one of its tests.
 * Lines that T* does not add stay as they are. Equal ones, and such as are not Python, are left out.
 *
 * @returns those of whole tests and assertions, and those with small faults by `mutantsIn`
 */
export function faultyTestsOf(
  python: PythonParser,
  files: readonly GoldenTestFile[],
): { readonly whole: FaultyTest[]; readonly small: FaultyTest[] } {
  const golden = new Map(files.map(({ path, source }) => [path, source]));
  const seen = new Set([keyOf(golden)]);
  const isNew = ({ sources }: FaultyTest): boolean => {
    const key = keyOf(sources);
    const isSound = [...sources.values()].every((each) => syntaxFaults(python, each).length === 0);
    if (seen.has(key) || !isSound) return false;
    seen.add(key);
    return true;
  };
  const tests = oneTestAlone(python, files).filter(isNew);
  const whole = [
    ...tests,
    ...editedAssertions(python, files).filter(isNew),
    ...[{ kind: 'failing import', sources: withFailingImport(files) }].filter(isNew),
  ];
  const small = [{ kind: 'golden', sources: golden }, ...tests].flatMap(({ sources }) =>
    files.flatMap(({ path, added }) =>
      mutantsIn(
        python,
        { path, source: sources.get(path) ?? '' },
        { changed: added, executable: added },
      ).map(({ operator, source }) => ({
        kind: operator,
        sources: new Map([...sources, [path, source]]),
      })),
    ),
  );
  return { whole, small: small.filter(isNew) };
}

const keyOf = (sources: ReadonlyMap<string, string>): string => JSON.stringify([...sources]);

/** Keeps the number of lines, so that line numbers of T* stay valid. */
const edited = (source: string, edits: readonly Edit[]): string =>
  [...edits]
    .sort((one, other) => other.start - one.start)
    .reduce((text, { start, end, by }) => {
      const lines = (of: string): number => of.split('\n').length;
      const missing = lines(text.slice(start, end)) - lines(by);
      return text.slice(0, start) + by + '\n'.repeat(Math.max(0, missing)) + text.slice(end);
    }, source);

const isAdded = (first: number, last: number, added: ReadonlySet<number>): boolean =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at).every((line) => added.has(line));

/** For each test that T* adds, T* without the other ones. */
function oneTestAlone(python: PythonParser, files: readonly GoldenTestFile[]): FaultyTest[] {
  const tests = files.flatMap(({ path, source, added }) =>
    findTests(python, source, { path })
      .filter(({ range }) => isAdded(range.startLine, range.endLine, added))
      .map(({ range, id }) => ({ path, id, start: range.start, end: range.end })),
  );
  if (tests.length < 2) return [];
  return tests.map((kept) => ({
    kind: 'one test alone',
    sources: new Map(
      files.map(({ path, source }) => [
        path,
        edited(
          source,
          tests
            .filter((each) => each !== kept && each.path === path)
            .map(({ start, end }) => ({ start, end, by: '' })),
        ),
      ]),
    ),
  }));
}

/** Assertions that T* adds: turned round one by one and together, one alone, and none. */
function editedAssertions(python: PythonParser, files: readonly GoldenTestFile[]): FaultyTest[] {
  const all = files.flatMap(({ path, source, added }) =>
    assertionsIn(python, source, added).map((each) => ({ ...each, path })),
  );
  const turned = all.flatMap(({ path, turnedRound }) =>
    turnedRound === undefined ? [] : [{ path, edit: turnedRound }],
  );
  const removed = all.map(({ path, start, end }) => ({ path, edit: { start, end, by: 'pass' } }));
  const withEdits = (
    kind: string,
    edits: readonly { readonly path: string; readonly edit: Edit }[],
  ): FaultyTest => ({
    kind,
    sources: new Map(
      files.map(({ path, source }) => [
        path,
        edited(
          source,
          edits.flatMap((each) => (each.path === path ? [each.edit] : [])),
        ),
      ]),
    ),
  });
  /** Of all assertions one is left, as it is or changed. */
  const alone = (at: number, left: readonly (typeof removed)[number][]) => [
    ...removed.filter((_, other) => other !== at),
    ...left,
  ];
  const several = removed.length < 2 ? [] : [...all.keys()];
  return [
    withEdits('no assertion', removed),
    withEdits('all assertions turned round', turned),
    ...turned.map((one) => withEdits('one assertion turned round', [one])),
    ...several.map((at) => withEdits('one assertion alone', alone(at, []))),
    ...several.flatMap((at) => {
      const { path, turnedRound: edit } = all[at] ?? {};
      if (path === undefined || edit === undefined) return [];
      return [withEdits('one assertion alone, turned round', alone(at, [{ path, edit }]))];
    }),
  ];
}

interface Assertion {
  readonly start: number;
  readonly end: number;
  readonly turnedRound: Edit | undefined;
}

function assertionsIn(
  python: PythonParser,
  source: string,
  added: ReadonlySet<number>,
): Assertion[] {
  return python.parse(source, (root) =>
    root.descendantsOfType(['assert_statement', 'expression_statement']).flatMap((node) => {
      if (node === null) return [];
      const { startPosition, endPosition, startIndex: start, endIndex: end } = node;
      if (!isAdded(startPosition.row + 1, endPosition.row + 1, added)) return [];
      const turnedRound = turnedRoundOf(node);
      return turnedRound === 'no assertion' ? [] : [{ start, end, turnedRound }];
    }),
  );
}

const opposites: Readonly<Record<string, string>> = {
  ...{ assertEqual: 'assertNotEqual', assertNotEqual: 'assertEqual' },
  ...{ assertTrue: 'assertFalse', assertFalse: 'assertTrue' },
  ...{ assertIn: 'assertNotIn', assertNotIn: 'assertIn' },
  ...{ assertIs: 'assertIsNot', assertIsNot: 'assertIs' },
  ...{ assertIsNone: 'assertIsNotNone', assertIsNotNone: 'assertIsNone' },
};

/** What turns an assertion round; undefined where nothing simple does. */
function turnedRoundOf(statement: Node): Edit | 'no assertion' | undefined {
  const [first] = statement.namedChildren;
  if (first === null || first === undefined) return 'no assertion';
  if (statement.type === 'assert_statement') {
    return { start: first.startIndex, end: first.endIndex, by: `not (${first.text})` };
  }
  const called = first.type === 'call' ? first.childForFieldName('function') : null;
  const name = called?.childForFieldName('attribute') ?? called;
  if (name === null || !/^(?:assert\w*|raises|fail)$/.test(name.text)) return 'no assertion';
  const by = opposites[name.text];
  return by === undefined ? undefined : { start: name.startIndex, end: name.endIndex, by };
}

/** Every file with added lines imports what is not there. */
const withFailingImport = (files: readonly GoldenTestFile[]): Map<string, string> =>
  new Map(files.map(({ path, source }) => [path, `import a_module_that_is_not_there\n${source}`]));
