import { parseSources } from './source';

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
