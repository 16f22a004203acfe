import { createVSIX } from '@vscode/vsce';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Folders that no package has. The packager compares each file with each pattern of .vscodeignore, and
 * environments and VS Code in the cache have ten times the files of everything else.
 */
const apart = ['.cache', '.git', 'node_modules'];

/**
 * Packages an extension that is built, as `npm run package` does.
 * @param {string} folder of the extension
 * @param {string} vsix file to write
 */
export async function packageExtension(folder, vsix) {
  const copy = mkdtempSync(join(tmpdir(), 'swt-bench-package-'));
  const left = new Set(apart.map((name) => join(folder, name)));
  // The packager lists every file on stdout; only its failure is of interest here.
  const { log, warn } = console;
  console.log = console.warn = () => undefined;
  try {
    cpSync(folder, copy, { recursive: true, filter: (path) => !left.has(path) });
    await createVSIX({ cwd: copy, packagePath: vsix, dependencies: false });
  } finally {
    Object.assign(console, { log, warn });
    rmSync(copy, { recursive: true, force: true });
  }
}
