import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let made: string | undefined;

/**
 * A storage folder for all test files of this process, so that the trees of the bundled instance are
 * made once. For tests whose result does not depend on what others keep there.
 */
export function sharedStorage(): string {
  if (made === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'swt-bench-test-storage-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    made = folder;
  }
  return made;
}
