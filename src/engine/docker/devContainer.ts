import type { Instance } from '../../domain/instance';
import { containerImage, installCommand } from './containerImage';

/** The image of a dev container. */
export interface DevContainerImage {
  /** Image with its tag. */
  readonly name: string;
  /** Folder of the repository in it. */
  readonly folder: string;
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /**
   * The command that installs the repository again without a network, as root in its folder. It
   * makes the workspace replace the copy that the image installed. Absent where there is nothing to
   * install.
   */
  readonly install?: readonly string[] | undefined;
}

/**
 * The published image of an instance: the one that its row names, else the one by SWE-bench's
 * naming scheme.
 */
export function publishedImage(
  instance: Pick<Instance, 'id' | 'repo' | 'environment'>,
): DevContainerImage {
  const { name, folder, python, installed } = containerImage(instance);
  return { name, folder, python, ...(installed ? { install: installCommand(python) } : {}) };
}

/**
 * The text of a `devcontainer.json` for the workspace of an instance. With it, "Reopen in
 * Container" opens the workspace in the container that the tests run in. The workspace replaces the
 * repository in the image. The file names only the image, and nothing of X* or T*.
 *
 * Format: https://containers.dev/implementors/json_reference/
 *
 * @param image the image that the docker engine made or found for the instance, else the published
 * one
 */
export function devContainerFile(
  instance: Pick<Instance, 'id' | 'repo' | 'environment'>,
  image: DevContainerImage = publishedImage(instance),
): string {
  const settings = {
    'python.defaultInterpreterPath': image.python,
    // Tests run inside this container already, so no further one is needed.
    'swt-bench.engine': 'local',
    'swt-bench.python': image.python,
  };
  const file = {
    name: instance.id,
    image: image.name,
    workspaceFolder: image.folder,
    workspaceMount: `source=\${localWorkspaceFolder},target=${image.folder},type=bind`,
    // The first process of these images ignores the stop signal; an init passes it on.
    init: true,
    containerEnv: {
      PYTHONHASHSEED: '0',
      // The mounted folder belongs to a user of the host, which git refuses without this setting.
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: image.folder,
    },
    ...(image.install === undefined ? {} : { postCreateCommand: image.install }),
    customizations: {
      vscode: { extensions: ['swt-bench.swt-bench', 'ms-python.python'], settings },
    },
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
