import { asShown, bytesOf, textOf } from '../patch/bytes';
import { git } from '../repository/git';
import { rOf } from '../repository/trees';

/** The files of R in a workspace, whatever has been edited there since. */
export class FilesOfR {
  private commit: Promise<string> | undefined;

  /** @param folder of the workspace */
  constructor(private readonly folder: string) {}

  /** Paths relative to the workspace. */
  async list(): Promise<string[]> {
    const listed = await this.git(['ls-tree', '-r', '-z', '--name-only', await this.r()]);
    return listed.split('\0').filter((path) => path !== '');
  }

  /** A file as an editor shows it; undefined when R has none. */
  async shown(path: string): Promise<string | undefined> {
    const text = await this.text(path);
    return text === undefined ? undefined : asShown(text);
  }

  /** The same with its exact bytes (see patch/bytes.ts). */
  async text(path: string): Promise<string | undefined> {
    const r = await this.r();
    return this.git(['cat-file', 'blob', `${r}:${path}`]).catch(() => undefined);
  }

  /** Files as an editor shows them, by path; those that R has none of are absent. One call of git. */
  async many(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const r = await this.r();
    // Its input is one name a line.
    const names = paths.filter((path) => !path.includes('\n'));
    if (names.length === 0) return new Map();
    const input = names.map((path) => `${r}:${path}\n`).join('');
    const output = bytesOf(await git(['cat-file', '--batch'], { cwd: this.folder, input }));
    const found = new Map<string, string>();
    let at = 0;
    for (const path of names) {
      const end = output.indexOf(0x0a, at);
      const head = output.subarray(at, end < 0 ? output.length : end).toString('latin1');
      at = end + 1;
      const size = Number(/^[0-9a-f]+ [a-z]+ (\d+)$/.exec(head)?.[1]);
      if (Number.isNaN(size)) continue;
      if (head.includes(' blob ')) {
        found.set(path, asShown(textOf(output.subarray(at, at + size))));
      }
      at += size + 1;
    }
    return found;
  }

  private git(args: readonly string[]): Promise<string> {
    return git(args, { cwd: this.folder });
  }

  /** The commit that is R in the workspace. */
  private r(): Promise<string> {
    this.commit ??= rOf(this.folder).catch((error: unknown) => {
      this.commit = undefined;
      throw error;
    });
    return this.commit;
  }
}
