import type { PatchProblem } from '../diagnostic';
import type { Hunk } from './hunk';

export type FileChange = 'modified' | 'added' | 'deleted' | 'renamed' | 'copied' | 'mode';

/** The part of a patch about one file. */
export interface FilePatch {
  /** Path in the tree before, without prefix; null when the patch adds the file. */
  readonly oldPath: string | null;
  /** Path in the tree after; null when the patch deletes the file. */
  readonly newPath: string | null;
  readonly kind: FileChange;
  /** Octal, such as `100644`, as far as the patch says. Equal to `newMode` when it does not change. */
  readonly oldMode?: string;
  readonly newMode?: string;
  readonly binary: boolean;
  readonly hunks: readonly Hunk[];
  /** False when the part has no `diff --git` line; git then takes more for granted. */
  readonly git: boolean;
  /** 1-based lines of the patch that the part takes, both ends included. */
  readonly line: number;
  readonly endLine: number;
}

export interface ParsedPatch {
  readonly files: readonly FilePatch[];
  readonly problems: readonly PatchProblem[];
}
