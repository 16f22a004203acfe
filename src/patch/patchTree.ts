/** The tree for which a patch is converted. */
export interface PatchTree {
  /** The text of a file (see bytes.ts); undefined if there is none. */
  read(path: string): Promise<string | undefined>;
  /** Every file of the tree, for hints and completion. Optional. */
  paths?(): Promise<readonly string[]>;
  /** The paths read so far that are links. Their text is the target path, as git sees them. */
  readonly links?: ReadonlySet<string>;
  /** Paths read so far that lie beyond a link, with the path of that link. Git refuses them. */
  readonly beyondLinks?: ReadonlyMap<string, string>;
}
