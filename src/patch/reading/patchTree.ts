import type { Diagnostic } from '../diagnostic';

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

/**
 * The file that a path names as a folder. It exists in the tree, or the patch makes it.
 *
 * @param made new files by path, as the patch makes them; undefined for a deleted file
 */
export async function fileAbove(
  path: string,
  tree: PatchTree,
  made: ReadonlyMap<string, unknown>,
): Promise<string | undefined> {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const above = path.slice(0, end);
    const there = made.has(above) ? made.get(above) : await tree.read(above);
    if (there !== undefined) return above;
  }
  return undefined;
}

/** The error that a file cannot be made below another file. */
export const belowFile = (
  path: string,
  above: string,
): Pick<Diagnostic, 'severity' | 'code' | 'message' | 'hint'> => ({
  severity: 'error',
  code: 'file-exists',
  message: `${path} cannot be created: ${above} is a file, not a folder`,
  hint: 'Use a path inside a folder',
});
