import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, parse, resolve } from 'node:path';
import { HumanError } from '../domain/work';

/** What a configuration file is called. */
export const configurationName = 'swt.yaml';

/** Marks a tree of R that `open` has made. */
const treeMarker = join('.swt-bench', 'instance.json');

/**
 * The configuration file that counts in a folder: the nearest `swt.yaml` in it or above it, up to
 * the home folder, or to the root for folders elsewhere. Trees of R and of R∘X* are passed over: a
 * file there is that of strangers, and would be part of the candidate.
 *
 * @param folder absolute path
 * @returns its absolute path; undefined where there is none
 * @throws HumanError when the file belongs to another user, who could send keys elsewhere with it
 */
export async function findConfigurationFile(
  folder: string,
  {
    home = homedir(),
    user = process.getuid?.(),
  }: { home?: string; user?: number | undefined } = {},
): Promise<string | undefined> {
  let found: { readonly path: string; readonly owner: number } | undefined;
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, configurationName);
    if (await isTree(at)) found = undefined;
    else if (found === undefined) {
      const file = await stat(path).catch(() => undefined);
      if (file?.isFile() === true) found = { path, owner: file.uid };
    }
    if (at === resolve(home) || at === parse(at).root) break;
  }
  if (found === undefined) return undefined;
  if (user === undefined || found.owner === user || found.owner === 0) return found.path;
  throw new HumanError(
    `${found.path} belongs to another user, so it is not read`,
    `If you trust it, specify it with --config; otherwise add --no-config`,
  );
}

async function isTree(folder: string): Promise<boolean> {
  const isMarked = (path: string): Promise<boolean> =>
    stat(join(path, treeMarker)).then(
      () => true,
      () => false,
    );
  return (
    (await isMarked(folder)) ||
    (folder.endsWith('-fixed') && (await isMarked(folder.slice(0, -'-fixed'.length))))
  );
}
