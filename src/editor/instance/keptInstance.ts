import * as vscode from 'vscode';
import type { Instance } from '../../domain/instance';
import type { TreeSource } from '../../repository/source';

/** An instance, and how its R was made. */
export interface KeptInstance {
  readonly instance: Instance;
  readonly source: TreeSource;
}

/**
 * A window inside a container has neither the dataset of the machine outside nor its mirrors, and
 * golden patch and tests must not lie in the workspace that it mounts. The secret storage of VS Code
 * is the extension's own, encrypted, and reached from both windows: an instance whose workspace gets a
 * dev container is kept there.
 */
export async function keepInstance(
  secrets: vscode.SecretStorage,
  instance: Instance,
  source: TreeSource,
): Promise<void> {
  const kept: KeptInstance = { instance, source };
  await secrets.store(keyOf(instance.id), JSON.stringify(kept));
}

/** The instance as it was kept; undefined when it was not. */
export async function keptInstance(
  secrets: vscode.SecretStorage,
  id: string,
): Promise<KeptInstance | undefined> {
  const text = await secrets.get(keyOf(id));
  // Written by this extension alone, so that it needs no checking.
  return text === undefined ? undefined : (JSON.parse(text) as KeptInstance);
}

/** The window runs on another machine than the one that it is shown on, such as a container. */
export const isRemote = (): boolean => vscode.env.remoteName !== undefined;

const keyOf = (id: string): string => `instance.${id}`;
