import { basename, dirname } from 'node:path';
import type { RepairResults } from '../../domain/study/document';

/** Results of code repair, as a file says them. */
export interface ListedRepairs {
  readonly path: string;
  /** With a name that no other file has; undefined where the file cannot be read any more. */
  readonly results: RepairResults | undefined;
  /** Why it cannot. Untrusted. */
  readonly problem?: string;
}

/** The same files with names that tell them apart: where several have one name, it names their folder. */
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
          // The leaderboard keeps a file of the same name for each method, in a folder of its own.
          results: {
            ...file.results,
            name: `${file.results.name} (${basename(dirname(file.path))})`,
          },
        },
  );
}
