import { basename, dirname } from 'node:path';
import type { RepairResults } from '../../study/document';

/** Results of code repair from one file. */
export interface ListedRepairs {
  readonly path: string;
  /** With a name that no other file has; undefined when the file is no longer readable. */
  readonly results: RepairResults | undefined;
  /** Why the file is not readable. Untrusted. */
  readonly problem?: string;
}

/** The same files with distinct names: files of one name also show their folder. */
export function withDistinctNames(files: readonly ListedRepairs[]): readonly ListedRepairs[] {
  const times = new Map<string, number>();
  for (const { results } of files) {
    if (results !== undefined) times.set(results.name, (times.get(results.name) ?? 0) + 1);
  }
  return files.map((file) =>
    file.results === undefined || times.get(file.results.name) === 1
      ? file
      : {
          ...file,
          // The leaderboard stores a file of the same name for each method, each in its own folder.
          results: {
            ...file.results,
            name: `${file.results.name} (${basename(dirname(file.path))})`,
          },
        },
  );
}
