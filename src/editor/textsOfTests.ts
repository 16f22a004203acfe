import { contentsWith, type InstanceSession } from '../evaluation/session';
import { findTests } from '../python/tests';
import { asShown } from '../patch/bytes';

/**
 * What the tests of a candidate said when its patch was read, by their ids: text that is typed or saved
 * while they run is not what the verdict is about.
 */
export async function textsOfTests(
  session: Pick<InstanceSession, 'python' | 'readFileOfR'>,
  patch: string,
): Promise<ReadonlyMap<string, string>> {
  const files = await contentsWith(patch, (path) => session.readFileOfR(path));
  const texts = new Map<string, string>();
  for (const [path, source] of files) {
    if (source === undefined || !path.endsWith('.py')) continue;
    // An editor does not show the mark of byte order.
    const shown = asShown(source).replace(/^\ufeff/, '');
    for (const { id, text } of findTests(session.python, shown, { path })) texts.set(id, text);
  }
  return texts;
}
