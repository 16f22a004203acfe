import { FilesOnR } from '../../../../src/method/agents/filesOnR';
import type { PythonParser } from '../../../../src/python/parser';
import type { TreeOfR } from '../../../../src/method/view/treeOfR';
import { asShown } from '../../../../src/patch/bytes';

/** Files of an R that is not on the disk, and that cannot be searched. */
export function filesInMemory(
  texts: Readonly<Record<string, string>>,
  python: PythonParser,
): FilesOnR {
  const paths = () => Promise.resolve(Object.keys(texts).sort());
  const read = (path: string) => Promise.resolve(texts[path]);
  const tree: TreeOfR = {
    digest: JSON.stringify(texts),
    paths,
    read: (path) => Promise.resolve(texts[path] === undefined ? undefined : asShown(texts[path])),
    whyNotRead: () => Promise.resolve(undefined),
    search: () => Promise.reject(new Error('these files cannot be searched')),
  };
  const files = { paths, read, links: new Set<string>(), beyondLinks: new Map<string, string>() };
  return new FilesOnR({
    ...{ tree, python, files },
    keptIn: { storage: '/nowhere', instance: 'none' },
  });
}
