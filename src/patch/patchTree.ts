/** The tree a patch is converted for. */
export interface PatchTree {
  /** The text of a file (see bytes.ts); undefined if there is none. */
  read(path: string): Promise<string | undefined>;
  /** Every file of the tree, for hints and completion; may be absent. */
  paths?(): Promise<readonly string[]>;
  /** Paths that were asked for and are links, whose text is where they lead: git sees them so. */
  readonly links?: ReadonlySet<string>;
  /** Paths that were asked for and lie beyond a link, by the path of that link. Git refuses them. */
  readonly beyondLinks?: ReadonlyMap<string, string>;
}
