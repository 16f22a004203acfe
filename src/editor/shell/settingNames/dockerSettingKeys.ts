import {
  dockerSettingId,
  dockerSettingNames,
  type DockerSettings,
} from '../../../engine/docker/dockerSettings';

/**
 * Settings of the docker engine in VS Code, by their names there. They are apart from the other
 * ids, which the small bundle contains: their table imports the validation library.
 */
export const dockerSettingKeys = Object.fromEntries(
  dockerSettingNames.map((name) => [name, dockerSettingId(name)]),
) as Readonly<Record<keyof DockerSettings, string>>;
