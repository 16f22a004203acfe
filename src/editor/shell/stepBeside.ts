/** The name of the author's own candidate in a run, which tells an author nothing. */
const ownCandidate = 'workspace';

/**
 * A step without the name that the title beside it has already: `X: base tests` becomes `base tests`
 * beside `Validating X`.
 *
 * @param title or the name alone, where something else says it
 */
export function stepBeside(title: string, step: string): string {
  const name = /^(\S+): /.exec(step)?.[1];
  return name === ownCandidate || (name !== undefined && title.split(/\s+/).includes(name))
    ? step.slice(name.length + 2)
    : step;
}
