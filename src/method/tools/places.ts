import { z } from 'zod';
import { HumanError } from '../../domain/work';
import type { TreeOfR } from '../view/treeOfR';

/**
 * Normalises paths as models write them: `./a/b/` is `a/b`, and `.` the root. Does not check
 * whether the path is safe.
 */
const tidied = (path: string): string =>
  path
    .trim()
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/+$/, (slashes, at) => (at === 0 ? slashes : ''))
    .replace(/^\.$/, '');

export const folderField = (description: string) =>
  z.string().max(1000).transform(tidied).describe(description);

export const pathField = (description: string) =>
  z.string().min(1).max(1000).transform(tidied).describe(description);

/**
 * The text of a file of R by the path that a model gave.
 *
 * @throws HumanError that says why the file cannot be read, and suggests files of the same name
 */
export async function fileOfR(tree: TreeOfR, path: string): Promise<string> {
  const text = await tree.read(path);
  if (text !== undefined) return text;
  const why = (await tree.whyNotRead(path)) ?? 'it cannot be read';
  const name = path.split('/').at(-1) ?? '';
  const near = (await tree.paths()).filter((each) => each.endsWith(`/${name}`)).slice(0, 5);
  throw new HumanError(
    `${JSON.stringify(path)} cannot be read: ${why}`,
    near.length > 0 && !near.includes(path)
      ? `Files with that name are ${near.join(', ')}`
      : "Use the file's path in the repository, as returned by list_files and search_code",
  );
}

/** Lines of a text, without the empty one after a final line end. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The start of a line that is too long for an answer. */
export const shortLine = (line: string, most = 400): string =>
  line.length <= most ? line : `${line.slice(0, most)} [${line.length - most} more characters]`;
