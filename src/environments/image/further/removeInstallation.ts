import { pythonText } from '../../../engine/pythonProgram';
import { environmentFolder, type BuildContainer } from '../../../engine/docker';
import { asciiJson, tarOf } from '../../../engine/sandbox';
import type { CachedImageRecord } from './cachedImage';

const listPath = '/tmp/swt-installation.json';

/**
 * Makes a container what it was before R was installed in it: removes what the installation wrote
 * into the environment, and all files of the tree that R does not have, except those that were
 * compiled from its sources. Nothing foreign may run meanwhile.
 */
export async function removeInstallation(
  container: BuildContainer,
  {
    files,
    added,
    python,
    folder,
  }: Pick<CachedImageRecord, 'files'> & {
    /** Files of the environment that the installation wrote. */
    readonly added: readonly string[];
    /** Interpreter of the base image. */
    readonly python: string;
    /** Folder of R. */
    readonly folder: string;
  },
): Promise<void> {
  const content = Buffer.from(asciiJson({ added, files: [...files.keys()] }));
  await container.put(await tarOf([{ path: listPath.slice(1), content }]));
  await container.run(
    [
      python,
      '-I',
      '-S',
      '-c',
      pythonText('remove_installation.py'),
      environmentFolder,
      folder,
      listPath,
    ],
    'remove the installation of another instance',
    // Python 3.6 takes names of files for ASCII where an image sets no locale.
    { env: { LC_ALL: 'C.UTF-8' } },
  );
}
