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
const bundledProject = 'tallybook/tallybook';

/**
 * Sources with that of the bundled project, for a dataset of one's own that has its row. A source
 * that a person names for it, or for all projects, counts instead.
 *
 * @param given as `--source` takes them
 * @param bundled folder of the bundled project
 * @throws HumanError when a part of `given` is empty
 */
export function withBundledSource(given: readonly string[], bundled: string): readonly string[] {
  const named = parseSources(given);
  return named.has('*') || named.has(bundledProject)
    ? given
    : [...given, `${bundledProject}=${bundled}`];
}
