import { isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { unsafePath } from '../../patch/unsafePath';
import type { PatchTree } from '../../patch/toUnified';

/** A folder on disk. It never reads a file outside of itself, and does not follow links. */
interface Folder extends PatchTree {
  paths(): Promise<readonly string[]>;
  readonly links: ReadonlySet<string>;
  readonly beyondLinks: ReadonlyMap<string, string>;
}

/**
 * The folders of a workspace as the trees of custom diffs. The text of an editor takes precedence
 * over the disk.
 */
export class WorkspaceTrees {
  #roots: readonly string[] = [];
  #uris: readonly string[] = [];
  /** Texts of editors that are not saved to disk, by path. */
  readonly #texts = new Map<string, string>();
  readonly #folders = new Map<string, Promise<Folder>>();
  #generation = 0;

  constructor(private readonly openFolder: (path: string) => Promise<Folder>) {}

  /** Number of reported changes so far, by which a caller recognises outdated results. */
  get generation(): number {
    return this.#generation;
  }

  /** URIs of the folders. The first one also serves documents outside of all folders. */
  get uris(): readonly string[] {
    return this.#uris;
  }

  /** @param roots URIs; only those of files are used */
  setRoots(roots: readonly string[]): void {
    this.#uris = roots;
    this.#roots = roots.map(pathOfUri).filter((path) => path !== undefined);
    this.forget();
  }

  /** Uses the text of an editor instead of the file on disk; undefined to use the disk again. */
  setText(uri: string, text: string | undefined): void {
    const path = pathOfUri(uri);
    if (path === undefined) return;
    if (text === undefined) this.#texts.delete(path);
    else this.#texts.set(path, text);
    this.#generation += 1;
  }

  /**
   * Discards listings after files were added, removed or changed. The next request lists them
   * again.
   */
  forget(): void {
    this.#folders.clear();
    this.#generation += 1;
  }

  /**
   * The innermost folder that contains a document, or else the first folder; undefined if there is
   * none.
   */
  rootOf(uri: string): string | undefined {
    const path = pathOfUri(uri);
    const holding =
      path === undefined ? [] : this.#roots.filter((root) => pathIn(root, path) !== undefined);
    return holding.sort((a, b) => b.length - a.length)[0] ?? this.#roots[0];
  }

  /** A folder of the workspace as a tree. */
  tree(root: string): PatchTree {
    const links = new Set<string>();
    const beyondLinks = new Map<string, string>();
    return {
      links,
      beyondLinks,
      read: async (path) => {
        if (unsafePath(path) !== undefined) return undefined;
        const folder = await this.#folder(root);
        const text = this.#texts.get(join(root, path));
        const onDisk = await folder.read(path);
        const link = folder.beyondLinks.get(path);
        if (link !== undefined) beyondLinks.set(path, link);
        if (folder.links.has(path)) links.add(path);
        if (text === undefined || link !== undefined || links.has(path)) return onDisk;
        // The text of an editor lacks the byte order mark, which the editor keeps when it saves.
        return (onDisk?.startsWith('\ufeff') === true ? '\ufeff' : '') + text;
      },
      paths: async () => (await this.#folder(root)).paths(),
    };
  }

  /** URI of a file of a folder. */
  readonly uriOf = (root: string, path: string): string => pathToFileURL(join(root, path)).href;

  #folder(root: string): Promise<Folder> {
    const known = this.#folders.get(root);
    if (known !== undefined) return known;
    const opened = this.openFolder(root);
    this.#folders.set(root, opened);
    // Drop a failure, so that the next request tries to read the folder again.
    opened.catch(() => this.#folders.delete(root));
    return opened;
  }
}

/** The path of a file URI; undefined for any other URI. */
function pathOfUri(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

/** A path relative to a folder; undefined if it is outside the folder. */
function pathIn(folder: string, path: string): string | undefined {
  const found = relative(folder, path);
  return found === '..' || found.startsWith(`..${sep}`) || isAbsolute(found) ? undefined : found;
}
