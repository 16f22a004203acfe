import { lstat, mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HumanError } from '../../domain/work';
import { writeBesideAndRename } from '../../files/wholeFile';
import { unsafePath } from '../../patch/unsafePath';

/**
 * Works like `writeWholeFile`, for a folder with foreign content, such as the files of R. It never
 * writes through a link: it checks every folder on the way, and makes those that are missing.
 *
 * @param folder its path is ours; its content may be anything
 * @param path relative to it, with `/` between its parts
 * @param options.replacesLink the place is ours, so a link or file there is replaced; without it, a
 * link stays
 * @throws HumanError when a link, or something that is no folder, is in the way
 */
export async function writeWholeFileBelow(
  folder: string,
  path: string,
  content: string | Uint8Array,
  { replacesLink = false }: { readonly replacesLink?: boolean } = {},
): Promise<void> {
  const unsafe = unsafePath(path);
  if (unsafe !== undefined) throw new Error(`${JSON.stringify(path)}: ${unsafe}`);
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    await enterFolder(folder, parts.slice(0, depth).join('/'));
  }
  const place = join(folder, ...parts);
  const there = await lstat(place).catch(() => undefined);
  if (there?.isDirectory() === true) throw inTheWay(folder, path, 'a folder');
  if (there?.isSymbolicLink() === true && !replacesLink) throw inTheWay(folder, path, 'a link');
  const parent = join(await realpath(folder), ...parts.slice(0, -1));
  await writeBesideAndRename(place, content, async (beside) => {
    // A link that has replaced a folder meanwhile would have redirected this file.
    if ((await realpath(beside)) !== join(parent, basename(beside))) {
      throw inTheWay(folder, parts.slice(0, -1).join('/'), 'a link');
    }
    if (!(await readFile(beside)).equals(Buffer.from(content))) {
      throw new HumanError(`${place} does not contain what was written to it`, 'Check the disk');
    }
  });
}

/** Creates one folder on the way. Throws when something other than a folder is there. */
async function enterFolder(folder: string, path: string): Promise<void> {
  const place = join(folder, ...path.split('/'));
  const made = await mkdir(place).then(
    () => true,
    () => false,
  );
  if (made) return;
  const info = await lstat(place);
  if (info.isSymbolicLink()) throw inTheWay(folder, path, 'a link');
  if (!info.isDirectory()) throw inTheWay(folder, path, 'a file');
}

const inTheWay = (folder: string, path: string, what: string): HumanError =>
  new HumanError(
    `${path} in ${folder} is ${what}, so nothing was written`,
    what === 'a link'
      ? "Check where it leads. If you don't need it, remove it and try again"
      : 'Move it away and try again',
  );
