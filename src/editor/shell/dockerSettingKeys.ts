import {
  dockerSettingId,
  dockerSettingNames,
  type DockerSettings,
} from '../../engine/docker/dockerSettings';

/**
 * Settings of the docker engine in VS Code, by their names there. They stand apart from the other ids,
 * which the small bundle holds: the table of these settings brings its validation library along.
 */
export const dockerSettingKeys = Object.fromEntries(
  dockerSettingNames.map((name) => [name, dockerSettingId(name)]),
) as Readonly<Record<keyof DockerSettings, string>>;
