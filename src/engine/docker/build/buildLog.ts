import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The log of how one image was made: a file that is written during the build. */
export interface BuildLog {
  readonly path: string;
  /** Writes a line of our own. */
  line(text: string): void;
  /** Writes output of a command as it arrives. */
  output(text: string): void;
  close(): Promise<void>;
}

/**
 * Opens a log in `storage/images/logs/`. It replaces an older log of that name.
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
  // A full disk shows in the build itself, so the log alone raises no error.
  file.on('error', () => undefined);
  const write = (text: string): void => {
    // Work that is left for after the build has no log.
    if (file.writableEnded) return;
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
