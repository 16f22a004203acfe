import { fileOf, functionOf } from '../../domain/testId';
import { HumanError } from '../../domain/work';
import { applyPatch } from '../../patch/applyPatch';
import { isTestPath } from '../../patch/testFiles';
import { parseUnified } from '../../patch/parseUnified';
import { findTests } from '../../python/tests';
import type { ModelView } from '../modelView';
import type { ReadOnR } from '../view/runOnR';

/** Maximum number of files of R that are read for a name without a path. */
const mostFiles = 20;

/**
 * Ids of tests and paths of files for names as models write them: `tests/test_a.py`,
 * `tests/test_a.py::Class::test_x`, `tests/test_a.py::Class`, `test_a.py`, `test_x`,
 * `Class.test_x`, `tests.test_a.Class.test_x`. Tests of the candidate come before those of R. A
 * path that names nothing stays as it is, for the run to refuse.
 *
 * @param read the candidate
 * @throws HumanError for a name without a path that names nothing, or tests of several files
 */
export async function testsNamed(
  view: ModelView,
  read: ReadOnR,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const naming = new Naming(view, read, signal);
  const found: string[] = [];
  for (const name of names)
    found.push(...(await naming.meant(name.trim().replace(/^(?:\.\/)+/, ''))));
  return [...new Set(found)];
}

class Naming {
  private readonly after: Promise<ReadonlyMap<string, string | undefined>>;

  constructor(
    private readonly view: ModelView,
    private readonly read: ReadOnR,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.after = contentsOf(view, read.patch);
  }

  async meant(name: string): Promise<string[]> {
    const path = fileOf(name);
    const isPath = path.endsWith('.py') || path.includes('/');
    if (isPath || (await this.paths()).includes(path)) return this.inFile(name);
    const parts = functionOf(name).split(/::|\./);
    if (!parts.every((part) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(part))) return [name];
    const dotted = await this.inModule(parts, name);
    return dotted ?? this.anywhere(parts, name);
  }

  /** A name that begins with a path, or with the name of a file. */
  private async inFile(name: string): Promise<string[]> {
    const path = await this.wholePath(fileOf(name));
    const rest = name.slice(fileOf(name).length + '::'.length);
    if (rest === '') return [path];
    const parts = functionOf(rest).split(/::|\./);
    const found = testsMeant(await this.testsOf(path), parts);
    return found.length === 0 ? [`${path}::${rest}`] : withParameters(found, rest);
  }

  /** `tests.test_a.Class.test_x`, as unittest and Django name tests. */
  private async inModule(parts: readonly string[], name: string): Promise<string[] | undefined> {
    const paths = await this.paths();
    for (let count = parts.length; count > 0; count -= 1) {
      const file = `${parts.slice(0, count).join('/')}.py`;
      // One part alone is rather the name of a test than that of a module.
      const path = paths.find((each) => each === file || (count > 1 && each.endsWith(`/${file}`)));
      if (path === undefined) continue;
      const rest = parts.slice(count);
      if (rest.length === 0) return [path];
      const found = testsMeant(await this.testsOf(path), rest);
      if (found.length > 0) return withParameters(found, name);
    }
    return undefined;
  }

  private async anywhere(parts: readonly string[], name: string): Promise<string[]> {
    const ofCandidate: string[] = [];
    for (const path of this.read.files) {
      ofCandidate.push(...testsMeant(await this.testsOf(path), parts));
    }
    const found = ofCandidate.length > 0 ? ofCandidate : await this.inR(parts);
    if (found.length === 0) {
      throw new HumanError(
        `${JSON.stringify(name)} is not a test of the candidate or the repository`,
        "Use the path of a test file, or a test such as tests/test_a.py::Class::test_x. list_candidate_tests returns the candidate's tests",
      );
    }
    if (new Set(found.map(fileOf)).size > 1) {
      throw new HumanError(
        `Several tests are named ${JSON.stringify(name)}`,
        `Use one of ${found.slice(0, 20).join(', ')}`,
      );
    }
    return withParameters(found, name);
  }

  private async inR(parts: readonly string[]): Promise<string[]> {
    const last = parts.at(-1) ?? '';
    const paths = new Set<string>();
    for (const pattern of [`def ${last}(`, `class ${last}`]) {
      const lines = await this.view.tree.search({ pattern, ending: '.py' }, this.signal);
      for (const { path } of lines) paths.add(path);
    }
    const found: string[] = [];
    for (const path of [...paths].slice(0, mostFiles)) {
      found.push(...testsMeant(await this.testsOf(path), parts));
    }
    return found;
  }

  /** The path of a test file that is named without its folders, where only one has that name. */
  private async wholePath(path: string): Promise<string> {
    const paths = await this.paths();
    if (path.includes('/') || paths.includes(path)) return path;
    const near = paths.filter((each) => each.endsWith(`/${path}`) && isTestPath(each));
    return near.length === 1 ? (near[0] ?? path) : path;
  }

  private async paths(): Promise<readonly string[]> {
    return [...new Set([...this.read.files, ...(await this.view.tree.paths())])];
  }

  /** Ids of all tests of a file, with the candidate. */
  private async testsOf(path: string): Promise<string[]> {
    const after = await this.after;
    const source = after.has(path) ? after.get(path) : await this.view.tree.read(path);
    if (source === undefined) return [];
    return findTests(this.view.python, source, { path }).map(({ id }) => id);
  }
}

/** The files that a candidate writes; none when there is no candidate. */
async function contentsOf(
  { tree }: ModelView,
  patch: string,
): Promise<ReadonlyMap<string, string | undefined>> {
  if (patch === '') return new Map();
  const applied = await applyPatch(parseUnified(patch), (path) => tree.read(path));
  return applied.ok ? applied.files : new Map();
}

/** The test of this name; without one, all tests of the class of this name, in any class around. */
function testsMeant(tests: readonly string[], parts: readonly string[]): string[] {
  const name = parts.join('::');
  const exact = tests.filter((id) => id === `${fileOf(id)}::${name}`);
  if (exact.length > 0) return exact;
  const ending = tests.filter((id) => id.endsWith(`::${name}`));
  return ending.length > 0 ? ending : tests.filter((id) => id.includes(`::${name}::`));
}

/** Ids with the parameters that a name has: `test_x[1]`. */
function withParameters(ids: readonly string[], name: string): string[] {
  const parameters = /\[.*$/s.exec(name)?.[0] ?? '';
  return ids.map((id) => id + parameters);
}
