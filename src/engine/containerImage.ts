import type { Instance } from '../domain/instance';
import { knownRepositories } from './logs/parseLog';

/** The container that the tests of an instance run in. */
export interface ContainerImage {
  /** Image with its tag. */
  readonly name: string;
  /** Folder of the repository. */
  readonly folder: string;
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /** Whether the repository is installed in the image, so that it must be linked to another tree. */
  readonly installed: boolean;
}

/**
 * The image of an instance: what its row says, else the one that SWE-bench publishes for it under its
 * naming scheme (lower case, `__` written as `_1776_`), else a plain Python.
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
  const isConda = folder === undefined || folder === '/testbed';
  const published = `swebench/sweb.eval.x86_64.${instance.id.toLowerCase().replace('__', '_1776_')}`;
  return {
    name: image ?? `${published}:latest`,
    folder: folder ?? '/testbed',
    // Images of SWE-bench, SWT-Bench and Live hold one conda environment of this name; those of Pro have
    // what they need on the path.
    python: isConda ? '/opt/miniconda3/envs/testbed/bin/python' : 'python3',
    installed: isConda,
  };
}
