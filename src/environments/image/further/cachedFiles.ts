import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../../files/digest';
import { writeWholeFile } from '../../../files/wholeFile';
import { contentTime, filesInTar, tarOf } from '../../../engine/sandbox';

/** Path of files that builds keep on this machine; `digest` names what they were made from. */
export const cachedFilesPath = (storage: string, digest: string): string =>
  join(storage, 'images', 'compiled', digest);

/**
 * The kept files by name. No container can write to them. Files that do not match their recorded
 * digest are discarded.
 *
 * @param say gets a message when files are discarded
 */
export async function readCachedFiles(
  path: string,
  say: (line: string) => void,
): Promise<ReadonlyMap<string, Buffer>> {
  const content = await readFile(path).catch(() => undefined);
  if (content === undefined) return new Map();
  const [digest, archive] = [content.toString('latin1', 0, 64), content.subarray(64)];
  if (sha256(archive) === digest) {
    const files = await filesInTar(archive).catch(() => undefined);
    if (files !== undefined) return new Map(files.map((file) => [file.path, file.content]));
  }
  say(`the compiled files in ${path} do not match their digest and are discarded`);
  await rm(path, { force: true });
  return new Map();
}

/** Never fails: without the kept files, everything is compiled again. */
export async function writeCachedFiles(
  path: string,
  files: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const archive = await tarOf(
    [...files].map(([name, content]) => ({
      path: name,
      content,
      time: contentTime(Buffer.alloc(0)),
    })),
  );
  const whole = Buffer.concat([Buffer.from(sha256(archive), 'latin1'), archive]);
  await writeWholeFile(path, whole).catch(() => undefined);
}
