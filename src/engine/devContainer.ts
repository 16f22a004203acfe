import type { Instance } from '../domain/instance';
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
   * What installs the repository again without a network, in its folder and as root: the workspace takes
   * the place of the copy that the image installed. Absent where there is nothing to install.
   */
  readonly install?: readonly string[] | undefined;
}

/** The image of an instance that somebody publishes: what its row says, else by the rule of SWE-bench. */
export function publishedImage(
  instance: Pick<Instance, 'id' | 'repo' | 'environment'>,
): DevContainerImage {
  const { name, folder, python, installed } = containerImage(instance);
  return { name, folder, python, ...(installed ? { install: installCommand(python) } : {}) };
}

/**
 * The text of a `devcontainer.json` with which "Reopen in Container" runs the workspace of an instance
 * in the container that its tests run in. The workspace takes the place of the repository in the
 * image. It names the image alone: nothing of X* or T*.
 *
 * Format: https://containers.dev/implementors/json_reference/
 *
 * @param image what the docker engine made or found for the instance, else the published one
 */
export function devContainerFile(
  instance: Pick<Instance, 'id' | 'repo' | 'environment'>,
  image: DevContainerImage = publishedImage(instance),
): string {
  const settings = {
    'python.defaultInterpreterPath': image.python,
    // The container is where tests run already.
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
      // The mounted folder belongs to a user of the machine outside, and git asks.
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
