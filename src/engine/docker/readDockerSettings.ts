import { HumanError } from '../../domain/work';
import { dockerSettings, dockerSettingTable, type DockerSettings } from './dockerSettings';

/**
 * Checks the settings of the docker engine that a person gave, and fills in defaults for all
 * others.
 *
 * @param nameOf the name under which the person knows a setting, such as `--memory`
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
    dockerSettingTable[key].expected,
  );
}
