import { fileAbove, type PatchTree } from '../../patch/toUnified';
import { applyPatch } from '../../patch/applyPatch';
import { makeUnified, type FileEdit } from '../../patch/makeUnified';
import { parseUnified } from '../../patch/parseUnified';
import { unsafePath } from '../../patch/unsafePath';
import type { PythonParser } from '../../python/parser';
import type { FolderTree } from '../../repository/folderTree';
import type { TreeOfR } from '../view/treeOfR';
import type { WorkDone } from './workspaceOnR';

/** R on this machine: for reading and searching, and with its exact bytes. */
interface Pristine {
  readonly tree: TreeOfR;
  readonly python: PythonParser;
  readonly files: FolderTree;
  /** Where what is read from R may be kept. */
  readonly keptIn: { readonly storage: string; readonly instance: string };
}

/**
 * R with edits that are kept in memory, for agents without a shell. Nothing is written to the disk and
 * nothing runs. As the tree of a patch it is R with the edits; {@link tree} is R itself.
 */
export class FilesOnR implements PatchTree {
  /** Texts by path; undefined for a file that is removed. */
  private readonly edited = new Map<string, string | undefined>();

  constructor(private readonly pristine: Pristine) {}

  /** R, without the edits. */
  get tree(): TreeOfR {
    return this.pristine.tree;
  }

  get python(): PythonParser {
    return this.pristine.python;
  }

  get keptIn(): Pristine['keptIn'] {
    return this.pristine.keptIn;
  }

  get links(): ReadonlySet<string> {
    return this.pristine.files.links;
  }

  get beyondLinks(): ReadonlyMap<string, string> {
    return this.pristine.files.beyondLinks;
  }

  /** The text of a file as `textOf` gives it (patch/bytes.ts); undefined if there is none. */
  async read(path: string): Promise<string | undefined> {
    return this.edited.has(path) ? this.edited.get(path) : this.pristine.files.read(path);
  }

  async paths(): Promise<readonly string[]> {
    const all = [...(await this.pristine.files.paths()), ...this.edited.keys()];
    const isThere = (path: string): boolean =>
      !this.edited.has(path) || this.edited.get(path) !== undefined;
    return [...new Set(all)].filter(isThere).sort();
  }

  /**
   * Why a file cannot be written, as text for the model; undefined for one that can.
   *
   * @param made files that are going to be written with it
   */
  async whyNotWritten(
    path: string,
    made: ReadonlyMap<string, string> = new Map(),
  ): Promise<string | undefined> {
    const unsafe = unsafePath(path);
    if (unsafe !== undefined) return unsafe;
    if (this.edited.has(path)) return undefined;
    const text = await this.pristine.files.read(path);
    if (text?.includes('\0') === true) return 'it is not a text file';
    if (this.links.has(path)) return 'it is a link, and links are not followed';
    const link = this.beyondLinks.get(path);
    if (link !== undefined) return `${link} is a link, and links are not followed`;
    const all = [...(await this.paths()), ...made.keys()];
    if (all.some((each) => each.startsWith(`${path}/`))) return 'it is a folder';
    const above = await fileAbove(path, this, made);
    return above === undefined ? undefined : `${above} is a file, not a folder`;
  }

  /**
   * Writes a file in memory, or removes it.
   *
   * @param path one that {@link whyNotWritten} has nothing against
   */
  write(path: string, text: string | undefined): void {
    this.edited.set(path, text);
  }

  /** The difference to R. */
  async done(): Promise<WorkDone> {
    const edits: FileEdit[] = [];
    for (const path of [...this.edited.keys()].sort()) {
      const before = await this.pristine.files.read(path);
      edits.push({ path, before, after: this.edited.get(path) });
    }
    return { patch: makeUnified(edits), leftOut: new Map() };
  }

  /** Puts R back, and makes what a patch of {@link done} says. */
  async restore(patch: string): Promise<void> {
    this.edited.clear();
    const applied = await applyPatch(parseUnified(patch), (path) => this.pristine.files.read(path));
    if (!applied.ok) throw new Error('a patch in the trace does not apply to R');
    for (const [path, text] of applied.files) this.edited.set(path, text);
  }

  /** Nothing is held that must be freed. */
  dispose(): Promise<void> {
    return Promise.resolve();
  }
}
