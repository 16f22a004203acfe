import type { LineCounts } from '../domain/changeCoverage';
import { functionOf, isScope } from '../domain/testId';
import type { RunnableMutant } from './mutantsOf';

/**
 * Which test functions can notice a mutant: those that run a line of its statement. All can where
 * import or collection runs such a line, or where the tracer does not count each of them.
 *
 * @param counts executions on R∘X* without the mutant, with line numbers of R∘X*
 * @param functions ids of test functions, without parameters
 */
export function reachingTests(
  { path, statement, isCounted }: Pick<RunnableMutant, 'path' | 'statement' | 'isCounted'>,
  counts: LineCounts,
  functions: readonly string[],
): string[] {
  return isCounted ? testsAt(path, statement, counts, functions) : [...functions];
}

/** Which test functions run one of these lines; all of them where import or collection does. */
export function testsAt(
  path: string,
  lines: readonly number[],
  counts: LineCounts,
  functions: readonly string[],
): string[] {
  const ofFile = counts.get(path);
  const found = lines.flatMap((line) => ofFile?.get(line) ?? []);
  if (found.some(({ shared }) => shared > 0)) return [...functions];
  const ids = found.flatMap(({ byTest }) =>
    [...byTest].flatMap(([id, count]) => (count > 0 ? [id] : [])),
  );
  const scopes = ids.filter(isScope);
  const tests = new Set(ids.map(functionOf));
  return functions.filter(
    (name) => tests.has(name) || scopes.some((scope) => name.startsWith(scope)),
  );
}
