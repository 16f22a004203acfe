import { classesIn, nameOf, scopeOf } from '../domain/testId';
import { atOnce, type Stepwise } from '../domain/work';
import { sha256, sha256OfJson } from '../files/digest';
import { definitionsIn, rangeOf, type Definition } from './definitions';
import type { Node, PythonParser } from './parser';
import { isFixture, testsIn, type PythonTest, findTests } from './tests';

/** How the tests of a file differ between two versions. */
interface TestChanges {
  readonly added: readonly PythonTest[];
  /**
   * Tests with a change in their own code, or in code of the file that they use; as they are after
   * the edit.
   */
  readonly changed: readonly PythonTest[];
  /** Tests of the old version that are gone; as they were. */
  readonly removed: readonly PythonTest[];
  /** Names of helpers, fixtures and constants of the file whose own code changed. */
  readonly helpers: readonly string[];
  /** Whether module statements that bind no name changed, so that any test may depend on them. */
  readonly moduleCode: boolean;
}

/** Names that take effect around every test of the module, even if no test mentions them. */
const moduleWide =
  /^(set[uU]p_?[mM]odule|tear[dD]own_?[mM]odule|setup_function|teardown_function|pytestmark|pytest_plugins)$/;

/** Names that take effect around the tests of a class, even if no test mentions them. */
const classWide =
  /^(set[uU]p|tear[dD]own)(Class|_class|_method|TestData)?$|^(asyncSetUp|asyncTearDown|__init_subclass__|runTest|run)$/;

/** A helper, fixture, constant or class of a file. */
interface Unit {
  readonly text: string;
  /** Names that the code mentions. */
  readonly mentions: ReadonlySet<string>;
}

/** A test file, read once for comparison with many later versions. */
export interface ComparableTestFile {
  readonly tests: readonly PythonTest[];
  /**
   * Helpers by the name that code uses for them. The unit of a class omits the tests of the class.
   */
  readonly units: ReadonlyMap<string, Unit>;
  /** Names of the units that affect every test. */
  readonly everywhere: ReadonlySet<string>;
  /** The text of module statements that bind no name. */
  readonly loose: string;
  /** Whether Python cannot parse the file, so that the other fields are a guess. */
  readonly broken: boolean;
}

/**
 * Finds the tests that an edit of a file adds, changes and removes. It compares functions, not
 * lines, so moving a test or editing comments and imports changes nothing. A test also counts as
 * changed when code that it uses changed. That code is its class without the other tests, or a
 * helper, fixture or constant that it mentions, directly or through others.
 *
 * It yields after each file it reads, and before each test or helper it compares.
 *
 * @param before undefined when the file is new
 */
export function* changedTestsSteps(
  python: PythonParser,
  before: string | undefined,
  after: string,
  { path }: { path: string },
): Stepwise<TestChanges> {
  const read = (source: string): ComparableTestFile =>
    python.parse(source, (root) => testFile(root, source, path));
  const old = read(before ?? '');
  yield;
  const now = read(after);
  yield;
  return yield* compareSteps(python, old, now);
}

/** Like `changedTestsSteps` at once, for files that were read before. */
export const compareTests = (
  python: PythonParser,
  old: ComparableTestFile,
  now: ComparableTestFile,
): TestChanges => atOnce(compareSteps(python, old, now));

function* compareSteps(
  python: PythonParser,
  old: ComparableTestFile,
  now: ComparableTestFile,
): Stepwise<TestChanges> {
  const same = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && (a === b || codeOf(python, a) === codeOf(python, b));

  const helpers: string[] = [];
  for (const name of new Set([...old.units.keys(), ...now.units.keys()])) {
    yield;
    if (!same(old.units.get(name)?.text, now.units.get(name)?.text)) helpers.push(name);
  }
  const affected = spread(new Set(helpers), now.units);
  const all = [...affected].some((name) => now.everywhere.has(name) || old.everywhere.has(name));

  const oldTests = new Map(old.tests.map((test) => [test.id, test]));
  const nowIds = new Set(now.tests.map((test) => test.id));
  const added: PythonTest[] = [];
  const changed: PythonTest[] = [];
  for (const test of now.tests) {
    yield;
    const was = oldTests.get(test.id);
    if (was === undefined) {
      added.push(test);
    } else if (
      all ||
      !same(dedent(was), dedent(test)) ||
      classesOf(test).some((name) => affected.has(name)) ||
      (affected.size > 0 && mentionsAny(mentionsOf(test.text), affected))
    ) {
      changed.push(test);
    }
  }
  return {
    added,
    changed,
    removed: old.tests.filter((test) => !nowIds.has(test.id)),
    helpers,
    moduleCode: !same(old.loose, now.loose),
  };
}

/** Adds to `names` the helpers that mention one of them, directly or through others. */
function spread(names: Set<string>, units: ReadonlyMap<string, Unit>): Set<string> {
  const mentionedBy = new Map<string, string[]>();
  for (const [name, { mentions }] of units) {
    for (const mentioned of mentions) {
      const known = mentionedBy.get(mentioned);
      if (known === undefined) mentionedBy.set(mentioned, [name]);
      else known.push(name);
    }
  }
  // The loop also visits the names that it adds.
  for (const name of names) for (const by of mentionedBy.get(name) ?? []) names.add(by);
  return names;
}

function mentionsAny(mentions: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  const [few, many] = names.size < mentions.size ? [names, mentions] : [mentions, names];
  for (const name of few) if (many.has(name)) return true;
  return false;
}

/** The identifiers in a text, also in its strings, since these can name fixtures. */
function mentionsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\p{L}_][\p{L}\p{N}_]*/gu));
}

function classesOf(test: PythonTest): string[] {
  return classesIn(test.className);
}

/**
 * Digests of what tests depend on in their file apart from their own text. That is the code of their
 * classes, of the module, and of the helpers, fixtures and constants that they use, directly or
 * through others. Call `of` with one version of a file after the other, so that an edit costs only
 * what it changes.
 */
export class TestBases {
  private last: ComparableTestFile | undefined;
  /** Test id to the text of the test and the names of units in it, one name per line. */
  private uses: ReadonlyMap<string, { readonly text: string; readonly names: string }> = new Map();
  /** Digests by these names. */
  private digests: ReadonlyMap<string, string> = new Map();

  /**
   * @returns SHA-256 digests (hexadecimal) by the tests' ids, equal as long as the code that the
   *   test depends on stays the same. Empty for a broken file, since the dependencies of its tests
   *   are unknown.
   */
  of(file: ComparableTestFile): ReadonlyMap<string, string> {
    const bases = new Map<string, string>();
    if (file.broken) return bases;
    const hasSameNames = sameNames(this.last?.units, file.units);
    const isSame = hasSameNames && this.last !== undefined && sameHelpers(this.last, file);
    let digestOf: ((names: string) => string) | undefined;
    const uses = new Map<string, { text: string; names: string }>();
    const digests = new Map<string, string>();
    for (const test of file.tests) {
      const { id, text } = test;
      const known = hasSameNames ? this.uses.get(id) : undefined;
      const names = known?.text === text ? known.names : namesUsed(file, test);
      const digest =
        digests.get(names) ??
        (isSame ? this.digests.get(names) : undefined) ??
        (digestOf ??= digester(file))(names);
      // Store the text of this version, since the text of an earlier one would keep that whole
      // source in memory.
      uses.set(id, { text, names });
      digests.set(names, digest);
      bases.set(id, digest);
    }
    this.last = file;
    this.uses = uses;
    this.digests = digests;
    return bases;
  }
}

function sameNames(
  a: ReadonlyMap<string, Unit> | undefined,
  b: ReadonlyMap<string, Unit>,
): boolean {
  return a?.size === b.size && [...b.keys()].every((name) => a.has(name));
}

/** Whether two files, whose units have the same names, have the same code outside their tests. */
function sameHelpers(a: ComparableTestFile, b: ComparableTestFile): boolean {
  return (
    a.loose === b.loose &&
    a.everywhere.size === b.everywhere.size &&
    [...b.everywhere].every((name) => a.everywhere.has(name)) &&
    [...b.units].every(([name, { text }]) => a.units.get(name)?.text === text)
  );
}

/** Names of the units that a test mentions or that are its classes, sorted, one per line. */
function namesUsed(file: ComparableTestFile, test: PythonTest): string {
  const names = new Set([...mentionsOf(test.text), ...classesOf(test)]);
  return [...names]
    .filter((name) => file.units.has(name))
    .sort()
    .join('\n');
}

/**
 * Returns a function from names of units, one per line, to a digest of these units and all they
 * use.
 */
function digester(file: ComparableTestFile): (names: string) => string {
  const digests = new Map<string, string>();
  const further = new Map<string, readonly string[]>();
  for (const [name, { text, mentions }] of file.units) {
    digests.set(name, sha256(text));
    further.set(
      name,
      [...mentions].filter((each) => file.units.has(each)),
    );
  }
  return (names) => {
    const wanted = [...names.split('\n'), ...file.everywhere];
    const used = new Set<string>();
    for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
      if (used.has(name) || !file.units.has(name)) continue;
      used.add(name);
      wanted.push(...(further.get(name) ?? []));
    }
    const parts = [...used].sort().map((name) => [name, digests.get(name)]);
    return sha256OfJson([file.loose, parts]);
  };
}

/**
 * The text of a test without its indentation, so that moving the test to another depth changes
 * nothing.
 */
function dedent(test: Pick<PythonTest, 'text' | 'column'>): string {
  const first = test.text.indexOf('\n');
  if (first < 0 || test.column === 0) return test.text;
  return test.text.replace(new RegExp(`^[ \\t]{1,${test.column}}`, 'gm'), '');
}

/** Reads the tests and units of a file. Broken code yields its readable parts. */
export function testFile(root: Node, source: string, path: string): ComparableTestFile {
  const definitions = definitionsIn(root, 'without heads');
  const tests = testsIn(definitions, source, path, root.hasError);
  const units = new Map<string, Unit>();
  const everywhere = new Set<string>();
  const parts: { name: string; text: string }[] = [];
  let loose = '';

  const testStarts = new Set(tests.map((test) => test.range.start));
  const testClasses = new Set(
    definitions.filter((d) => testStarts.has(d.range.start)).flatMap(ancestors),
  );
  const byStart = new Map(definitions.map((d) => [d.range.start, d]));
  for (const node of root.namedChildren) {
    if (node === null || node.type === 'comment' || isImportOrString(node)) continue;
    const definition = byStart.get(node.startIndex);
    if (definition === undefined) {
      const names = boundNames(node, definitions);
      for (const name of names) parts.push({ name, text: node.text });
      if (names.length === 0) loose += `${node.text}\n`;
    } else if (testClasses.has(definition)) {
      parts.push(...classParts(definition, definitions, testStarts, testClasses, source));
    } else if (!testStarts.has(definition.range.start)) {
      parts.push({ name: definition.name, text: node.text });
      const auto =
        isFixture(definition) && /\bautouse\s*=\s*True/.test(definition.decorators.join());
      if (auto) everywhere.add(definition.name);
    }
  }
  const texts = new Map<string, string[]>();
  for (const { name, text } of parts) texts.set(name, [...(texts.get(name) ?? []), text]);
  for (const [name, all] of texts) {
    const text = all.join('\n');
    units.set(name, { text, mentions: mentionsOf(text) });
    if (moduleWide.test(name)) everywhere.add(name);
  }
  return { tests, units, everywhere, loose, broken: root.hasError };
}

function ancestors(definition: Definition): Definition[] {
  const { parent } = definition;
  return parent === undefined ? [] : [parent, ...ancestors(parent)];
}

/**
 * The units of a class of tests. The unit with the name of the class holds its head, statements,
 * fixtures and set-up code. Each other method that is not a test is a unit of its own.
 */
function classParts(
  definition: Definition,
  definitions: readonly Definition[],
  testStarts: ReadonlySet<number>,
  testClasses: ReadonlySet<Definition>,
  source: string,
): { name: string; text: string }[] {
  const parts: { name: string; text: string }[] = [];
  let own = '';
  let at = definition.range.start;
  for (const member of definitions) {
    if (member.parent !== definition) continue;
    own += source.slice(at, member.range.start);
    at = member.range.end;
    if (testStarts.has(member.range.start)) continue;
    const text = source.slice(member.range.start, member.range.end);
    if (testClasses.has(member)) {
      parts.push(...classParts(member, definitions, testStarts, testClasses, source));
    } else if (classWide.test(member.name) || isFixture(member)) {
      own += text;
    } else {
      parts.push({ name: member.name, text });
    }
  }
  own += source.slice(at, definition.range.end);
  return [{ name: definition.name, text: blankLess(own) }, ...parts];
}

/**
 * Removes comment lines, blank lines and white space at line ends, which vary with the tests left
 * out.
 */
function blankLess(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.trimStart().startsWith('#'))
    .join('\n');
}

function isImportOrString(node: Node): boolean {
  if (/^(import|import_from|future_import)_statement$/.test(node.type)) return true;
  return node.type === 'expression_statement' && /string$/.test(node.namedChild(0)?.type ?? '');
}

/** The names that a statement of the module binds, also below `if`, `try` and `with`. */
function boundNames(node: Node, definitions: readonly Definition[]): string[] {
  const { start, end } = rangeOf(node);
  const defined = definitions.filter(
    (d) => !d.local && d.range.start >= start && d.range.end <= end,
  );
  const targets = node
    .descendantsOfType(['assignment', 'augmented_assignment'])
    .flatMap(
      (found) => found?.childForFieldName('left')?.text.match(/^[\p{L}_][\p{L}\p{N}_]*/u) ?? [],
    );
  return [...new Set([...defined.map((d) => d.name), ...targets])];
}

/** The tokens of a text with their depth, without comments and white space. */
function codeOf(python: PythonParser, text: string): string {
  return python.parse(text, (root) => {
    const tokens: string[] = [];
    const cursor = root.walk();
    for (let depth = 0; ;) {
      const whole = cursor.nodeType === 'string';
      if (cursor.nodeType !== 'comment' && !whole && cursor.gotoFirstChild()) {
        depth += 1;
        continue;
      }
      if (cursor.nodeType !== 'comment') tokens.push(`${depth} ${cursor.nodeText}`);
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) {
          cursor.delete();
          return tokens.join('\n');
        }
        depth -= 1;
      }
    }
  });
}

/** The effect of an edit on the tests of a file. */
interface EditedTests {
  /** Ids of tests whose own code the edit adds or changes. */
  readonly edited: readonly string[];
  /** Ids of tests that the edit removes. */
  readonly removed: readonly string[];
  /**
   * Whether the edit leaves the rest of the file as it was: imports, fixtures, helpers, decorators
   * and code that runs around tests. If false, any test of the file may behave differently.
   */
  readonly onlyTests: boolean;
  /** Ids of unchanged tests, with the number of lines by which each moved. */
  readonly moved: ReadonlyMap<string, number>;
}

/**
 * Compares a file of tests before and after an edit, in a cautious way. A comment in a test counts
 * as an edit of that test. Code outside tests affects all of them.
 */
export function editedTests(
  python: PythonParser,
  before: string,
  after: string,
  { path }: { path: string },
): EditedTests {
  const old = findTests(python, before, { path });
  const now = findTests(python, after, { path });
  const was = new Map(old.map((test) => [test.id, test]));
  const there = new Set(now.map((test) => test.id));
  const edited: string[] = [];
  const moved = new Map<string, number>();
  for (const test of now) {
    const earlier = was.get(test.id);
    if (earlier?.text === test.text) moved.set(test.id, test.defLine - earlier.defLine);
    else edited.push(test.id);
  }
  return {
    edited,
    removed: old.flatMap(({ id }) => (there.has(id) ? [] : [id])),
    onlyTests: restOf(before, old) === restOf(after, now),
    moved,
  };
}

/**
 * A source without blank lines, comments, and its tests from their `def` on. Decorators remain,
 * since they run when the file is imported.
 */
function restOf(source: string, tests: readonly PythonTest[]): string {
  const lines = source.split('\n');
  for (const { defLine, range } of tests) lines.fill('', defLine - 1, range.endLine);
  return lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.trimStart().startsWith('#'))
    .join('\n');
}

/**
 * Whether a test checks nothing: its body is only `pass`, constants, assertions of constants, or a
 * return of nothing before anything else.
 */
export const isEmptyTest = (
  python: PythonParser,
  test: Pick<PythonTest, 'text' | 'column'>,
): boolean =>
  python.parse(dedent(test), (root) => {
    const [found] = root.descendantsOfType('function_definition');
    const statements = found?.childForFieldName('body')?.namedChildren ?? [];
    for (const statement of statements) {
      if (statement === null || statement.type === 'comment') continue;
      if (!isIdle(statement)) return false;
      if (statement.type === 'return_statement') return true;
    }
    return true;
  });

function isIdle(statement: Node): boolean {
  if (statement.type === 'pass_statement') return true;
  if (!/^(expression|assert|return)_statement$/.test(statement.type)) return false;
  return statement.namedChildren.every((child) =>
    /^(string|concatenated_string|integer|float|true|none|ellipsis|comment)$/.test(
      child?.type ?? '',
    ),
  );
}

/**
 * Finds tests that were only renamed since their texts were stored. They are in the same class or
 * file, and differ in nothing but the name. Ambiguous matches are left out.
 *
 * @param now the present tests of the files
 * @param before the stored texts by test id
 * @returns present id to earlier id
 */
export function renamedTests(
  now: readonly Pick<PythonTest, 'id' | 'name' | 'text'>[],
  before: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const there = new Set(now.map((test) => test.id));
  const fresh = now.filter((test) => !before.has(test.id));
  if (fresh.length === 0) return new Map();
  const gone = new Map<string, string | undefined>();
  for (const [id, text] of before) {
    if (there.has(id)) continue;
    const key = keyOf(id, text);
    gone.set(key, gone.has(key) ? undefined : id);
  }
  const found = new Map<string, string>();
  const taken = new Map<string, string>();
  for (const { id, text } of fresh) {
    const was = gone.get(keyOf(id, text));
    if (was === undefined) continue;
    const other = taken.get(was);
    if (other !== undefined) found.delete(other);
    else found.set(id, was);
    taken.set(was, id);
  }
  return found;
}

/**
 * Finds tests of an earlier version that a later one only renames, or moves to another class or
 * file. Where several have the same code, those with the same name belong together.
 *
 * @param added tests that only the later version has
 * @param removed tests that only the earlier version has
 * @returns later id by earlier id
 */
export function movedTests(
  added: readonly PythonTest[],
  removed: readonly PythonTest[],
): ReadonlyMap<string, string> {
  const places = new Map<string, PythonTest[]>();
  for (const test of added) {
    const code = codeBesideName(test.name, test.text);
    places.set(code, [...(places.get(code) ?? []), test]);
  }
  const moved = new Map<string, string>();
  for (const sameName of [true, false]) {
    for (const { id, name, text } of removed) {
      if (moved.has(id)) continue;
      const free = places.get(codeBesideName(name, text)) ?? [];
      const at = free.findIndex((test) => !sameName || test.name === name);
      const [test] = at < 0 ? [] : free.splice(at, 1);
      if (test !== undefined) moved.set(id, test.id);
    }
  }
  return moved;
}

/** The class or file of a test, and its text without its name. */
function keyOf(id: string, text: string): string {
  return `${scopeOf(id) ?? id}\0${codeBesideName(nameOf(id), text)}`;
}

/** The text of a test without its name. */
const codeBesideName = (name: string, text: string): string =>
  text.replace(new RegExp(`(\\bdef\\s+)${escaped(name)}(?=\\s*[(\\[])`), '$1_');

const escaped = (name: string): string => name.replace(/[$]/g, '\\$&');
