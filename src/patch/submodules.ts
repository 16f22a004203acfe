import { parseUnified } from './unified/parseUnified';
import type { FilePatch } from './unified/parsedPatch';

const mode = '160000';

/**
 * Whether a part is about a submodule, which is also how git lists a repository that an agent left in
 * the tree. Git writes nothing of it: the diff has only the id of a commit.
 */
export const isSubmodule = ({ oldMode, newMode }: FilePatch): boolean =>
  oldMode === mode || newMode === mode;

/** A unified diff without its submodules, and their paths. */
export function withoutSubmodules(text: string): {
  readonly text: string;
  readonly left: readonly string[];
} {
  // Only few patches have one, and lists read thousands.
  const parts = text.includes(mode) ? parseUnified(text).files.filter(isSubmodule) : [];
  if (parts.length === 0) return { text, left: [] };
  const isLeft = (line: number): boolean =>
    parts.some((part) => part.line <= line && line <= part.endLine);
  return {
    text: text
      .split('\n')
      .filter((_, at) => !isLeft(at + 1))
      .join('\n'),
    left: parts.map(({ oldPath, newPath }) => newPath ?? oldPath ?? ''),
  };
}
