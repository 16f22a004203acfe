import type { Instance } from '../domain/instance';
import { containerImage } from './containerImage';

/**
 * The text of a `devcontainer.json` with which "Reopen in Container" runs the workspace of an instance
 * in the container that its tests run in. The workspace takes the place of the repository in the
 * image. It names the image alone: nothing of X* or T*.
 *
 * Format: https://containers.dev/implementors/json_reference/
 */
export function devContainerFile(instance: Pick<Instance, 'id' | 'repo' | 'environment'>): string {
  const image = containerImage(instance);
  const settings = {
    'python.defaultInterpreterPath': image.python,
    'swt-bench.python': image.python,
  };
  const file = {
    name: instance.id,
    image: image.name,
    workspaceFolder: image.folder,
    workspaceMount: `source=\${localWorkspaceFolder},target=${image.folder},type=bind`,
    // The first process of these images ignores the stop signal; an init passes it on.
    init: true,
    containerEnv: { PYTHONHASHSEED: '0' },
    ...(image.installed
      ? {
          // The image installed its own copy in place: link the workspace instead, without a network.
          postCreateCommand: [
            image.python,
            ...['-m', 'pip', 'install', '--no-deps', '--no-build-isolation', '--editable', '.'],
          ],
        }
      : {}),
    customizations: {
      vscode: { extensions: ['swt-bench.swt-bench', 'ms-python.python'], settings },
    },
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
