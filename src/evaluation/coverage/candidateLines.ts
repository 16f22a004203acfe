import { type ReadFile, applyPatch } from '../../patch/applyPatch';
import { newToOldLine, oldToNewLine } from '../../patch/changedLines';
import { parseUnified } from '../../patch/parseUnified';

/** A line of a file, 1-based. */
export interface FileLine {
  readonly path: string;
  readonly line: number;
}

/** Maps lines of one side to their places once a candidate is applied, and back. */
export interface CandidateLines {
  /** Undefined when the candidate removes or replaces the line. */
  with(at: FileLine): FileLine | undefined;
  /** Undefined when the candidate wrote the line. */
  without(at: FileLine): FileLine | undefined;
}

/** Lines that stay where they are. */
const unmoved: CandidateLines = { with: (at) => at, without: (at) => at };

/**
 * Maps the lines of a side for a candidate that may edit the code under test: the changed lines
 * then move, or disappear.
 *
 * @param patch unified diff that applies to the side; empty for none
 * @param read reads a file of the side without the patch
 */
export async function candidateLines(patch: string, read: ReadFile): Promise<CandidateLines> {
  if (patch.trim() === '') return unmoved;
  const parsed = parseUnified(patch);
  const applied = await applyPatch(parsed, read);
  const { files } = applied.ok ? applied.placed : parsed;
  // A copied file also stays where it is.
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
