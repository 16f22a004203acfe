// Ids of tests: `tests/test_a.py::A::test_x[param]`, with the path relative to the tree, the classes
// around the function, and the parameters of a case. This file alone takes them apart and makes
// them. A path may contain brackets, and parameters may contain `::`.

/** The id of a test, class or function below a file. */
export const testId = (path: string, ...names: readonly string[]): string =>
  [path, ...names].join('::');

/** Whether an id names a test or class, not a file alone. */
export const isTestId = (id: string): boolean => id.includes('::');

/**
 * The file of a test: `tests/test_a.py::A::test_x` becomes `tests/test_a.py`. A path alone stays as
 * it is.
 */
export function fileOf(test: string): string {
  const names = test.indexOf('::');
  return names < 0 ? test : test.slice(0, names);
}

/** The function of a test: without the parameters of a case, `[...]`. */
export function functionOf(test: string): string {
  const names = test.indexOf('::');
  const bracket = names < 0 ? -1 : test.indexOf('[', names);
  return bracket < 0 ? test : test.slice(0, bracket);
}

/** The parameters of a case: `test_x[a-b]` has `a-b`. Empty for a test without. */
export const parametersOf = (test: string): string =>
  test.slice(functionOf(test).length).slice(1, -1);

/**
 * The classes and the function of a test, the last with its parameters: `A` and `test_x[1]`. Empty
 * for a path alone.
 */
export function namesOf(test: string): string[] {
  const whole = functionOf(test);
  const names = whole.split('::').slice(1);
  return names.map((name, at) =>
    at === names.length - 1 ? name + test.slice(whole.length) : name,
  );
}

/** The last name of an id with its parameters; a path alone stays as it is. */
export const nameOf = (test: string): string => namesOf(test).at(-1) ?? test;

/** The names of a test for the user: `A › test_x[1]`; a path alone stays as it is. */
export const namesInWords = (test: string): string =>
  namesOf(test).filter(Boolean).join(' › ') || test;

/** The class or file around a test; undefined for a file. */
export function scopeOf(test: string): string | undefined {
  const names = namesOf(test);
  return names.length === 0 ? undefined : testId(fileOf(test), ...names.slice(0, -1));
}

/** Whether a test is in a file or class. */
export const isBelow = (test: string, scope: string): boolean => test.startsWith(`${scope}::`);

/** Whether the last names of a test, without parameters, are these: `A::test_x`, or `test_x`. */
export const endsInNames = (test: string, ...names: readonly string[]): boolean =>
  functionOf(test).endsWith(`::${names.join('::')}`);

/**
 * Whether an id stands for the set-up and tear-down of a class or a file, which run once for
 * several tests. The tracer writes such ids as `path::Class::` and `path::`, with nothing after the
 * last colons.
 */
export function isScope(id: string): boolean {
  return id.endsWith('::');
}

/** The names of classes in each other, as ids have them: `Outer::Inner`. */
export const classNames = (names: readonly string[]): string => names.join('::');

/** The opposite of {@link classNames}. */
export const classesIn = (className: string | undefined): string[] =>
  className === undefined || className === '' ? [] : className.split('::');
