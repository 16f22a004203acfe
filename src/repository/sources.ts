import { HumanError } from '../domain/humanError';

/** `--source` arguments: `owner/name=WHERE` for one repository, or `WHERE` for every one. */
export type Sources = ReadonlyMap<string, string>;

/** @throws HumanError when a part is empty */
export function parseSources(values: readonly string[]): Sources {
  const sources = new Map<string, string>();
  for (const value of values) {
    const match = /^([A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+)=(.*)$/.exec(value);
    const [repo, where] = [match?.[1] ?? '*', match?.[2] ?? value];
    if (where.trim() === '') {
      throw new HumanError(
        repo === '*' ? '--source is empty' : `--source ${value} names no place`,
        'Write --source owner/name=PATH_OR_URL or --source PATH',
      );
    }
    sources.set(repo, where);
  }
  return sources;
}

/** The project of the bundled instance. It exists nowhere but in this package. */
export const bundledProject = 'tallybook/tallybook';

/**
 * Sources with that of the bundled project, for every dataset that has its row. A source that is
 * given for this project counts instead, and one for all others does not.
 *
 * @param given as `--source` takes them
 * @param bundled folder of the bundled project
 */
export const withBundledSource = (given: readonly string[], bundled: string): readonly string[] => [
  `${bundledProject}=${bundled}`,
  ...given,
];
