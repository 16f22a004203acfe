import type { TreeOfR } from '../../../../src/method/view/treeOfR';

/** A tree of these texts, by path. */
export const madeUpTree = (files: ReadonlyMap<string, string>): TreeOfR => ({
  digest: 'd'.repeat(40),
  paths: () => Promise.resolve([...files.keys()].sort()),
  read: (path) => Promise.resolve(files.get(path)),
  whyNotRead: () => Promise.resolve(undefined),
  search: () => Promise.resolve([]),
});
