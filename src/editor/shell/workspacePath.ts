import type * as vscode from 'vscode';

/** What of an address says where something lies. */
type Place = Pick<vscode.Uri, 'scheme' | 'authority' | 'path'>;

/**
 * The path of a file relative to a folder, with `/` between its parts and none at its start, as in the
 * tree of R; undefined where the file is not below the folder.
 */
export function workspacePath(folder: { readonly uri: Place }, file: Place): string | undefined {
  const { scheme, authority } = folder.uri;
  if (file.scheme !== scheme || file.authority !== authority) return undefined;
  return pathBelow(folder, file);
}

/**
 * As {@link workspacePath}, of an address whose scheme is another: a document of ours that stands for a
 * file of the workspace has the path of it.
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

/** Windows writes the letter of a drive in either case. */
const withSmallDrive = (path: string): string =>
  path.replace(/^\/[A-Z]:/, (drive) => drive.toLowerCase());
