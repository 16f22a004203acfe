import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The log of how one image came about: a file that is written as it goes. */
export interface BuildLog {
  readonly path: string;
  /** A line of ours. */
  line(text: string): void;
  /** Output of a command, as it comes. */
  output(text: string): void;
  close(): Promise<void>;
}

/**
 * Opens a log in `storage/images/logs/`, in the place of an older one of that name.
 *
 * @param secrets texts that are written as `***`: passwords in addresses of indexes and proxies
 */
export async function openBuildLog(
  storage: string,
  name: string,
  secrets: readonly string[] = [],
): Promise<BuildLog> {
  const path = join(storage, 'images', 'logs', `${name.replace(/[^A-Za-z0-9_.-]/g, '-')}.log`);
  await mkdir(dirname(path), { recursive: true });
  const file = createWriteStream(path);
  // A disk that is full shows in what is built; the log alone is not worth an error.
  file.on('error', () => undefined);
  const write = (text: string): void => {
    let plain = stripVTControlCharacters(text);
    for (const secret of secrets) plain = plain.replaceAll(secret, '***');
    file.write(plain);
  };
  return {
    path,
    line: (text) => write(`${new Date().toISOString()} ${text}\n`),
    output: write,
    close: () => new Promise((resolve) => file.end(() => resolve())),
  };
}
