import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { identity } from '../git';

/**
 * Writes a commit without a parent into a repository of ours, and refs that point to it, without a
 * log. Author and date are those of every commit of ours, so equal trees have equal commits.
 * Formats: https://git-scm.com/docs/gitformat-loose, https://git-scm.com/docs/gitrepository-layout
 *
 * @param tree object id of the commit's tree
 * @param refs full names, such as `refs/heads/R`
 */
export async function writeLooseCommit(
  gitDir: string,
  tree: string,
  message: string,
  refs: readonly string[],
): Promise<void> {
  const { name, email, seconds } = identity;
  const person = `${name} <${email}> ${seconds} +0000`;
  const body = `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\n${message}\n`;
  const object = `commit ${Buffer.byteLength(body)}\0${body}`;
  const id = createHash(tree.length === 64 ? 'sha256' : 'sha1')
    .update(object)
    .digest('hex');
  const write = async (path: string, content: Buffer | string, mode: number): Promise<void> => {
    await mkdir(dirname(join(gitDir, path)), { recursive: true });
    await writeFile(join(gitDir, path), content, { mode });
  };
  await write(join('objects', id.slice(0, 2), id.slice(2)), deflateSync(object), 0o444);
  for (const ref of refs) await write(ref, `${id}\n`, 0o666);
}
