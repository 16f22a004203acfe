import { contentsWith, type InstanceSession } from '../../evaluation/session';
import { TestBases, testFile } from '../../python/changedTests';
import { asShown } from '../../patch/bytes';
import type { TestSource } from '../verdict/evaluated';

/**
 * The texts of a candidate's tests when its patch was read, by id. The verdict is not about text
 * that is typed or saved while they run.
 */
export async function textsOfTests(
  session: Pick<InstanceSession, 'python' | 'readFileOfR'>,
  patch: string,
): Promise<ReadonlyMap<string, TestSource>> {
  const files = await contentsWith(patch, (path) => session.readFileOfR(path));
  const texts = new Map<string, TestSource>();
  for (const [path, source] of files) {
    if (source === undefined || !path.endsWith('.py')) continue;
    // An editor does not show the byte order mark.
    const shown = asShown(source).replace(/^\ufeff/, '');
    const file = session.python.parse(shown, (root) => testFile(root, shown, path));
    const bases = new TestBases().of(file);
    for (const { id, text } of file.tests) texts.set(id, { text, basis: bases.get(id) });
  }
  return texts;
}
