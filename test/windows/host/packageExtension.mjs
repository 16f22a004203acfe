import { createVSIX } from '@vscode/vsce';

/**
 * Packages an extension that is built, as `npm run package` does.
 * @param {string} folder of the extension
 * @param {string} vsix file to write
 */
export async function packageExtension(folder, vsix) {
  // The packager lists every file on stdout; only its failure is of interest here.
  const { log, warn } = console;
  console.log = console.warn = () => undefined;
  try {
    await createVSIX({ cwd: folder, packagePath: vsix, dependencies: false });
  } finally {
    Object.assign(console, { log, warn });
  }
}
