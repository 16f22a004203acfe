import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** A file that is larger than this is none that a program wrote for a person. */
const mostBytes = 512 * 1024 * 1024 - 64;

/**
 * The text of a file from a stranger: a plain file of bounded size, through no link. A pipe or a
 * device never ends, and a link shows what another person may not read.
 *
 * @throws what the system says, such as ENOENT or ELOOP; an Error for a pipe, device or large file
 */
export async function readPlainText(path: string): Promise<string> {
  // Without `O_NONBLOCK` a pipe that nobody writes to is never opened.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const file = await open(path, flags);
  try {
    const about = await file.stat();
    if (!about.isFile()) throw new Error(`${path} is not a plain file`);
    if (about.size > mostBytes) throw new Error(`${path} is larger than 512 MB`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
