import { isTestPath } from '../../../patch/testFiles';
import { referenceResolver } from '../../../python/references';
import { findTests } from '../../../python/tests';
import type { ModelView } from '../../modelView';
import { importsIn, reachingTestFiles, testFilesOfR } from './reachingTestFiles';

type Seen = Pick<ModelView, 'tree' | 'python' | 'repo'>;

/** Where a new test of a script goes, and in which style. */
interface PlaceOfTest {
  /** The path of a file that R does not have. */
  readonly path: string;
  readonly style: 'pytest' | 'unittest';
}

/**
 * The folder of the test file that uses most of what a script imports, else the one with most test
 * files; the style is that of the test file.
 */
export async function placeOfTest(view: Seen, script: string): Promise<PlaceOfTest> {
  const [nearest] = await reachingTestFiles(view, await importedFiles(view, script));
  const neighbour = nearest ?? (await inLargestFolder(view));
  const folder = neighbour === undefined ? 'tests/' : neighbour.replace(/[^/]*$/, '');
  const taken = new Set(await view.tree.paths());
  const name = (number: number): string =>
    `${folder}test_issue_reproduction${number === 1 ? '' : `_${number}`}.py`;
  let number = 1;
  while (taken.has(name(number))) number += 1;
  return { path: name(number), style: await styleOf(view, neighbour) };
}

/** The files of R that a script imports, or whose names it imports; no tests. */
async function importedFiles({ tree, python, repo }: Seen, script: string): Promise<string[]> {
  const files = await tree.paths();
  const read = (path: string): Promise<string | undefined> => tree.read(path);
  const resolve = referenceResolver({ repo, files, read }, python);
  const found = new Set<string>();
  for (const { from, name } of importsIn(python, script)) {
    const dotted = name === '' || name === '*' ? from : `${from}.${name}`;
    const target = await resolve({ kind: 'dotted', name: dotted, start: 0, end: 0 });
    if (target !== undefined && !isTestPath(target.path)) found.add(target.path);
  }
  return [...found];
}

/** A test file of the folder that has the most of them; the shorter path of equals. */
async function inLargestFolder(view: Seen): Promise<string | undefined> {
  const files = await testFilesOfR(view);
  const counts = new Map<string, number>();
  const folderOf = (path: string): string => path.replace(/[^/]*$/, '');
  for (const path of files) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + 1);
  const [best] = [...counts].sort(
    ([one, many], [other, more]) => more - many || one.length - other.length,
  );
  return files.find((path) => folderOf(path) === best?.[0]);
}

async function styleOf(
  { tree, python }: Seen,
  path: string | undefined,
): Promise<PlaceOfTest['style']> {
  const source = path === undefined ? undefined : await tree.read(path);
  if (path === undefined || source === undefined) return 'pytest';
  const styles = findTests(python, source, { path }).map(({ style }) => style);
  const unittest = styles.filter((style) => style === 'unittest').length;
  return unittest > styles.length / 2 ? 'unittest' : 'pytest';
}
