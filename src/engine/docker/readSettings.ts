import { HumanError } from '../../domain/problem';
import { dockerSettings, type DockerSettings } from './settings';

/**
 * Settings of the docker engine as a person gave them, with the defaults for all others.
 *
 * @param nameOf how the person calls a setting, such as `--memory`
 * @throws HumanError naming the first that cannot be used, and what can
 */
export function readDockerSettings(
  given: Readonly<Partial<Record<keyof DockerSettings, unknown>>>,
  nameOf: (key: keyof DockerSettings) => string,
): DockerSettings {
  const read = dockerSettings.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const key = (issue?.path[0] ?? 'host') as keyof DockerSettings;
  throw new HumanError(
    `${nameOf(key)} cannot be ${JSON.stringify(given[key]) ?? 'nothing'}`,
    expected[key],
  );
}

const expected: Readonly<Record<keyof DockerSettings, string>> = {
  host: 'Write an address such as unix:///run/docker.sock, tcp://host:2376 or ssh://user@host',
  baseImage: 'Write the name of an image, {python} standing for the version',
  prebuilt: 'Write a namespace such as swebench, or nothing to pull none',
  memoryMb: 'Write a whole number of MiB, 64 or more',
  processes: 'Write a whole number, 16 or more',
  cpus: 'Write a number of processors, 0 for no limit',
  diskMb: 'Write a whole number of MiB, 16 or more',
  network: 'Write ids of instances and names of repositories',
  idleMinutes: 'Write a number of minutes, 0 for never',
  budgetGb: 'Write a number of GiB, 1 or more',
};
