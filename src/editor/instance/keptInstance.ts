import * as vscode from 'vscode';
import type { Instance } from '../../domain/instance';
import type { TreeSource } from '../../repository/source';

/** An instance, and how its R was made. */
export interface KeptInstance {
  readonly instance: Instance;
  readonly source: TreeSource;
}

/**
 * Stores an instance whose workspace gets a dev container, in the secret storage of VS Code. A
 * window in the container has neither the dataset of the outer machine nor its mirrors. Golden
 * patch and tests must not lie in the workspace, which the container mounts. The secret storage is
 * encrypted, private to the extension, and reachable from both windows.
 */
export async function keepInstance(
  secrets: vscode.SecretStorage,
  instance: Instance,
  source: TreeSource,
): Promise<void> {
  const kept: KeptInstance = { instance, source };
  await secrets.store(keyOf(instance.id), JSON.stringify(kept));
}

/** The stored instance; undefined when there is none. */
export async function keptInstance(
  secrets: vscode.SecretStorage,
  id: string,
): Promise<KeptInstance | undefined> {
  const text = await secrets.get(keyOf(id));
  // Only this extension writes it, so it needs no validation.
  return text === undefined ? undefined : (JSON.parse(text) as KeptInstance);
}

/** Whether the window runs on another machine than the one that shows it, such as a container. */
export const isRemote = (): boolean => vscode.env.remoteName !== undefined;

const keyOf = (id: string): string => `instance.${id}`;
