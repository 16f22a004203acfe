import type { PatchProblem } from './diagnostic';
import type { BinaryPatch } from './unified/binaryPatch';
import type { Hunk } from './unified/hunk';

export type FileChange = 'modified' | 'added' | 'deleted' | 'renamed' | 'copied' | 'mode';

/** The part of a patch about one file. */
export interface FilePatch {
  /** Path in the old tree, without prefix; null if the patch adds the file. */
  readonly oldPath: string | null;
  /** Path in the new tree; null if the patch deletes the file. */
  readonly newPath: string | null;
  readonly kind: FileChange;
  /**
   * Octal, such as `100644`, as far as the patch says. Equal to `newMode` if it does not change.
   */
  readonly oldMode?: string;
  readonly newMode?: string;
  readonly binary: boolean;
  /** Set if the part is binary and holds the content, not only the word that it differs. */
  readonly binaryPatch?: BinaryPatch;
  readonly hunks: readonly Hunk[];
  /** False if the part has no `diff --git` line. Git is less strict then. */
  readonly git: boolean;
  /** 1-based lines of the part in the patch, both ends included. */
  readonly line: number;
  readonly endLine: number;
}

export interface ParsedPatch {
  readonly files: readonly FilePatch[];
  readonly problems: readonly PatchProblem[];
}
