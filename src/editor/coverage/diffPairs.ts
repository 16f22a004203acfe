import type { FilePatch } from '../../patch/parsedPatch';

/** The path of a file on each side of a diff. A side without the file shows an empty document. */
export interface DiffPair {
  readonly base: string;
  readonly fixed: string;
}

/** The pairs of documents of the golden diff, in the order of the patch. */
export const diffPairs = (files: readonly FilePatch[]): DiffPair[] =>
  files.flatMap(({ oldPath, newPath }) => {
    const [base, fixed] = [oldPath ?? newPath, newPath ?? oldPath];
    return base === null || fixed === null ? [] : [{ base, fixed }];
  });
