import type * as vscode from 'vscode';

/** The parts of an address that say where a file is. */
type Place = Pick<vscode.Uri, 'scheme' | 'authority' | 'path'>;

/**
 * The path of a file relative to a folder, with `/` as separator and none at its start, as in the
 * tree of R. Undefined when the file is not below the folder.
 */
export function workspacePath(folder: { readonly uri: Place }, file: Place): string | undefined {
  const { scheme, authority } = folder.uri;
  if (file.scheme !== scheme || file.authority !== authority) return undefined;
  return pathBelow(folder, file);
}

/**
 * As {@link workspacePath}, for an address with another scheme: a document of this extension has
 * the path of the workspace file that it stands for.
 */
export function pathBelow(
  folder: { readonly uri: Place },
  { path }: Pick<Place, 'path'>,
): string | undefined {
  const above = folder.uri.path.replace(/\/?$/, '/');
  return withSmallDrive(path).startsWith(withSmallDrive(above))
    ? path.slice(above.length)
    : undefined;
}

/** Windows writes a drive letter in either case. */
const withSmallDrive = (path: string): string =>
  path.replace(/^\/[A-Z]:/, (drive) => drive.toLowerCase());
