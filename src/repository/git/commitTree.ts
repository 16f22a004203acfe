/** A commit's tree in a repository on this machine, with all of its objects. */
export interface CommitTree {
  readonly gitDir: string;
  /** Object id of the tree. */
  readonly tree: string;
  /** Object ids of the tree itself and of all trees and files below it. */
  readonly objects: readonly string[];
}
