import { readForeign } from './git/readForeign';

/**
 * Marks a folder as the workspace of an instance. It names the instance and the source of its row.
 * It contains nothing of X* or T*, so that a search in the folder finds no answer.
 */
export interface WorkspaceMarker {
  readonly format: 1;
  readonly id: string;
  /** Path of the dataset file, or `bundled` for the instance that comes with the extension. */
  readonly dataset: string;
  /** `--source` arguments that R was made with. */
  readonly sources: readonly string[];
}

/** Path relative to the workspace folder; `activationEvents` in package.json contains it too. */
export const markerPath = '.swt-bench/instance.json';

/** The marker of a folder; undefined when the folder is not the workspace of an instance. */
export async function readMarker(folder: string): Promise<WorkspaceMarker | undefined> {
  // The opened folder may be foreign, and its marker a pipe or a link to anything.
  const text = await readForeign(folder, markerPath);
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Partial<Record<keyof WorkspaceMarker, unknown>>;
    const { id, dataset, sources } = value;
    if (value.format !== 1 || typeof id !== 'string' || typeof dataset !== 'string')
      return undefined;
    const texts = Array.isArray(sources) ? sources.filter((each) => typeof each === 'string') : [];
    return { format: 1, id, dataset, sources: texts };
  } catch {
    return undefined;
  }
}
