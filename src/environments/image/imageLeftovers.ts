import { pythonText } from '../../engine/pythonProgram';
import { posix } from 'node:path';
import { z } from 'zod';
import { programFolder } from '../../engine/engine';
import { earliestTime, tarOf, asciiJson } from '../../engine/sandbox';
import type { ImageCommands } from '../../engine/environmentMaker';

/**
 * Removes traces of states other than R from the tree of an image that already contains R.
 *
 * @param paths files of R
 * @throws HumanError when it cannot be done
 */
export async function clearImageLeftovers(
  container: ImageCommands,
  {
    paths,
    folder,
    python,
    doing,
  }: {
    readonly paths: Iterable<string>;
    readonly folder: string;
    readonly python: string;
    readonly doing: string;
  },
): Promise<void> {
  const list = { path: 'tmp/swt-bench-paths', content: Buffer.from(asciiJson([...paths])) };
  await container.put(await tarOf([list]));
  const env = {
    HOME: '/tmp',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: folder,
  };
  await container.run(
    [python, ...alone, pythonText('clear_leftovers.py'), folder, `/${list.path}`],
    doing,
    { env },
  );
}

/**
 * Options that let the Python of an image run our own code without the code of installed packages.
 */
const alone = ['-I', '-S', '-c'];

/**
 * Folders that every user may write to. A sandbox empties them before its first run and after each
 * run.
 */
const openPlaces = ['/tmp', '/var/tmp', '/dev', '/run/lock', '/proc', '/sys'];

const closed = z.object({ user: z.number().int() });

/**
 * Closes the surroundings of an image's tree (close_surroundings.py), as the last step of making
 * the image.
 *
 * @param user number of the user that tests are meant to run as
 * @returns the number that they run as: another one where that user owns a large part of the image
 * @throws HumanError when it cannot be done
 */
export async function closeAround(
  container: ImageCommands,
  {
    folder,
    python,
    interpreter = python,
    path,
    user,
    within = '/',
    doing,
  }: {
    readonly folder: string;
    /** Interpreter of the tests. */
    readonly python: string;
    /** The interpreter that does the closing, where it is not that of the tests. */
    readonly interpreter?: string;
    /** PATH of the tests. */
    readonly path: string;
    readonly user: number;
    /**
     * The only folder, apart from that of R, which something may have been written to since the image
     * was closed; everything by default.
     */
    readonly within?: string | undefined;
    readonly doing: string;
  },
): Promise<number> {
  const answer = await container.run(
    [
      ...[interpreter, ...alone, pythonText('close_surroundings.py')],
      ...[folder, String(user), openPlaces.join(':'), String(earliestTime), python, within],
      programFolder,
    ],
    doing,
    { env: { PATH: [posix.dirname(python), path].join(':') }, cwd: '/' },
  );
  return closed.parse(JSON.parse(answer.trim().split('\n').at(-1) ?? '')).user;
}
