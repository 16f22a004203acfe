import { isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { unsafePath } from '../patch/unsafePath';
import type { PatchTree } from '../patch/patchTree';

/** A folder on disk that never gives a file outside of it; links are not followed. */
export interface Folder extends PatchTree {
  paths(): Promise<readonly string[]>;
  readonly links: ReadonlySet<string>;
  readonly beyondLinks: ReadonlyMap<string, string>;
}

/** The folders of a workspace as the trees that custom diffs are about: editors before the disk. */
export class WorkspaceTrees {
  #roots: readonly string[] = [];
  #uris: readonly string[] = [];
  /** Texts that editors hold and the disk does not, by path. */
  readonly #texts = new Map<string, string>();
  readonly #folders = new Map<string, Promise<Folder>>();
  #generation = 0;

  constructor(private readonly openFolder: (path: string) => Promise<Folder>) {}

  /** Counts the changes of which this was told, so that what was computed before one can be told apart. */
  get generation(): number {
    return this.#generation;
  }

  /** Addresses of the folders, the first of them for documents that are in none. */
  get uris(): readonly string[] {
    return this.#uris;
  }

  /** @param roots addresses; others than of files are left out */
  setRoots(roots: readonly string[]): void {
    this.#uris = roots;
    this.#roots = roots.map(pathOfUri).filter((path) => path !== undefined);
    this.forget();
  }

  /** Takes the text of an editor before what is on disk; undefined to take the disk again. */
  setText(uri: string, text: string | undefined): void {
    const path = pathOfUri(uri);
    if (path === undefined) return;
    if (text === undefined) this.#texts.delete(path);
    else this.#texts.set(path, text);
    this.#generation += 1;
  }

  /** Files came, went or changed: what was listed is listed anew when it is asked for. */
  forget(): void {
    this.#folders.clear();
    this.#generation += 1;
  }

  /** The folder that holds a document, the innermost of several, else the first; undefined for none. */
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
        // An editor shows no byte order mark and keeps it.
        return (onDisk?.startsWith('\ufeff') === true ? '\ufeff' : '') + text;
      },
      paths: async () => (await this.#folder(root)).paths(),
    };
  }

  /** Address of a file of a folder. */
  readonly uriOf = (root: string, path: string): string => pathToFileURL(join(root, path)).href;

  #folder(root: string): Promise<Folder> {
    const known = this.#folders.get(root);
    if (known !== undefined) return known;
    const opened = this.openFolder(root);
    this.#folders.set(root, opened);
    // A folder that cannot be read may be there the next time.
    opened.catch(() => this.#folders.delete(root));
    return opened;
  }
}

/** The path of a file's address; undefined for an address of anything else. */
function pathOfUri(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

/** A path below a folder, relative to it; undefined for one that is not there. */
function pathIn(folder: string, path: string): string | undefined {
  const found = relative(folder, path);
  return found === '..' || found.startsWith(`..${sep}`) || isAbsolute(found) ? undefined : found;
}
