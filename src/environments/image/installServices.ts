import { posix } from 'node:path';
import { asOf } from '../packageDay';
import { services, type ServiceName } from '../../engine/services';
import { servicePython } from '../../engine/sandbox/sandboxServices';
import type { BuildContainer } from '../../engine/docker/build/buildContainer';
import { uvPath } from './resolve';

/** Everything that a service in an image is made from. */
export const identityOfService = (name: ServiceName): readonly unknown[] => {
  const { requirements, day } = services[name];
  return [name, requirements, day];
};

/**
 * Gives services that tests expect an environment each in the container of an environment image,
 * apart from that of the tests. One that cannot be installed is left out: runs say that it is
 * missing.
 *
 * @param using interpreter of the base image, and the variables that uv runs with
 */
export async function installServices(
  container: BuildContainer,
  names: readonly ServiceName[],
  using: { readonly python: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  for (const name of names) {
    const own = servicePython(name);
    const folder = posix.dirname(posix.dirname(own));
    const { requirements, day } = services[name];
    const foreign = { env: using.env, isForeign: true, doing: `install ${name}` };
    const made = await container.attempt(
      [uvPath, 'venv', '--python', using.python, folder],
      foreign,
    );
    const install = [uvPath, 'pip', 'install', '--python', own, '--compile-bytecode'];
    const ended =
      made.code === 0
        ? await container.attempt(
            [...install, ...asOf(day, requirements), ...requirements],
            foreign,
          )
        : made;
    if (ended.code !== 0) await container.run(['rm', '-rf', folder], `leave ${name} out`);
  }
}
