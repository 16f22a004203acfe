import type { ReadFile } from '../../patch/unified/applyPatch';
import { applyPatch } from '../../patch/unified/applyPatch';
import { newToOldLine, oldToNewLine } from '../../patch/changedLines';
import { parseUnified } from '../../patch/unified/parseUnified';

/** A line of a file, 1-based. */
export interface FileLine {
  readonly path: string;
  readonly line: number;
}

/** Where the lines of one side stand once a candidate is applied to it, and back. */
export interface CandidateLines {
  /** Undefined when the candidate removes or replaces the line. */
  with(at: FileLine): FileLine | undefined;
  /** Undefined when the candidate wrote the line. */
  without(at: FileLine): FileLine | undefined;
}

/** Lines that stay where they are. */
const unmoved: CandidateLines = { with: (at) => at, without: (at) => at };

/**
 * A candidate may edit the code that it tests, and then the changed lines stand elsewhere, or are gone.
 *
 * @param patch unified diff that applies to the side; empty for none
 * @param read reads a file of the side without the patch
 */
export async function candidateLines(patch: string, read: ReadFile): Promise<CandidateLines> {
  if (patch.trim() === '') return unmoved;
  const parsed = parseUnified(patch);
  const applied = await applyPatch(parsed, read);
  const { files } = applied.ok ? applied.placed : parsed;
  // A file that is copied stays where it is as well.
  const moving = files.filter((file) => file.kind !== 'copied');
  return {
    with: ({ path, line }) => {
      const file = moving.find((each) => each.oldPath === path);
      if (file === undefined) return { path, line };
      const now = oldToNewLine(file, line);
      return now === undefined || file.newPath === null
        ? undefined
        : { path: file.newPath, line: now };
    },
    without: ({ path, line }) => {
      const file = files.find((each) => each.newPath === path);
      if (file === undefined) {
        return files.some((each) => each.oldPath === path && each.newPath === null)
          ? undefined
          : { path, line };
      }
      if (file.kind === 'copied') return undefined;
      const before = newToOldLine(file, line);
      return before === undefined || file.oldPath === null
        ? undefined
        : { path: file.oldPath, line: before };
    },
  };
}
