import type { ImageCommands } from '../../engine/docker/build/buildContainer';
import { testUser } from './askInterpreter';
import { closeAround } from './imageLeftovers';

/** The number of the user that tests usually run as. */
const defaultUser = 1000;

/**
 * Hides from tests what they must not see, and protects what they must not change. Each sandbox
 * gets a repository of its own.
 *
 * @returns the number of the user that tests run as
 */
export async function closeImage(
  container: ImageCommands,
  {
    folder,
    python,
    base,
    inherited,
    within,
  }: {
    readonly folder: string;
    readonly python: string;
    readonly base: string | undefined;
    readonly inherited: string;
    /** The only other folder that may have to be closed; absent for every one. */
    readonly within?: string | undefined;
  },
): Promise<number> {
  const doing = 'close the image to the user of tests';
  await container.run(['rm', '-rf', `${folder}/.git`], doing);
  const user = await closeAround(container, {
    ...{ folder, python, doing, within },
    ...(base === undefined ? {} : { interpreter: base }),
    ...{ path: inherited, user: defaultUser },
  });
  return testUser(container, python, folder, user, base !== undefined);
}
