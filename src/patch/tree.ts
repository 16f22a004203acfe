/** The tree a patch is converted for. */
export interface PatchTree {
  /** The text of a file (see bytes.ts); undefined if there is none. */
  read(path: string): Promise<string | undefined>;
  /** Every file of the tree, for hints and completion; may be absent. */
  paths?(): Promise<readonly string[]>;
}
