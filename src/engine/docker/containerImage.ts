import type { Instance } from '../../domain/instance';
import { knownRepositories } from '../runners/parseLog';

/** The container that the tests of an instance run in. */
interface ContainerImage {
  /** Image with its tag. */
  readonly name: string;
  /** Folder of the repository. */
  readonly folder: string;
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /**
   * Whether the image has the repository installed. If so, another tree must be linked in its
   * place.
   */
  readonly installed: boolean;
}

/** Folder of the repository in images of SWE-bench and in those that are built here. */
export const defaultFolder = '/testbed';

/** The only conda environment in images of SWE-bench, SWT-Bench and Live. */
const condaPython = '/opt/miniconda3/envs/testbed/bin/python';

/** Everything in images that are built here that is neither the base image's nor R's. */
export const builtFolder = '/opt/swt-bench';

/** The environment in images that are built here. */
export const environmentFolder = `${builtFolder}/env`;

/** Its Python. */
export const builtPython = `${environmentFolder}/bin/python`;

/**
 * Possible interpreters with the dependencies of the repository. The first that exists is used.
 * Images of Pro have the interpreter on the path.
 */
export const pythonsOf = (folder: string): readonly string[] =>
  folder === defaultFolder
    ? [condaPython, builtPython, 'python3', 'python']
    : ['python3', 'python', condaPython];

/**
 * The image that SWE-bench publishes for an instance under its naming scheme: lower case, `__`
 * written as `_1776_`.
 *
 * @param namespace preceded by the registry where that is not Docker Hub
 */
export const prebuiltName = (id: string, namespace = 'swebench'): string =>
  `${namespace.replace(/\/+$/, '')}/sweb.eval.x86_64.${id.toLowerCase().replaceAll('__', '_1776_')}:latest`;

/** The command that installs the repository again without a network, as root in its folder. */
export const installCommand = (python: string): readonly string[] => [
  ...[python, '-m', 'pip', 'install', '--disable-pip-version-check', '--quiet'],
  ...['--no-index', '--no-deps', '--no-build-isolation', '--editable', '.'],
];

/**
 * The image of an instance. It is the one that the row names, else the one that SWE-bench publishes
 * under its naming scheme, else a plain Python.
 */
export function containerImage(
  instance: Pick<Instance, 'id' | 'repo' | 'environment'>,
): ContainerImage {
  const { image, folder } = instance.environment ?? {};
  if (image === undefined && !knownRepositories.includes(instance.repo)) {
    return {
      name: 'mcr.microsoft.com/devcontainers/python:3',
      folder: `/workspaces/${instance.id}`,
      python: '/usr/local/bin/python3',
      installed: false,
    };
  }
  const isConda = folder === undefined || folder === defaultFolder;
  return {
    name: image ?? prebuiltName(instance.id),
    folder: folder ?? defaultFolder,
    python: isConda ? condaPython : 'python3',
    installed: isConda,
  };
}
