import { HumanError } from '../../domain/humanError';
import { findDefinitions, type Definition } from '../../python/definitions';
import { fileOfR, linesOf, pathField, shortLine } from './places';
import { fields, type Tool } from './tool';

interface Input {
  readonly path: string;
}

const mostDefinitions = 400;

export const outlineFile: Tool<Input> = {
  name: 'outline_file',
  title: 'Outline a file',
  description:
    'Gives the skeleton of one Python file: its imports, and its classes, functions and methods with their signatures and line numbers, without their bodies.',
  input: fields({ path: pathField('Path of a Python file in the repository') }),
  effect: 'reads',
  confirmation: 'Gives the model the outline of a file of the repository.',
  async run({ tree, python }, { path }) {
    const source = await fileOfR(tree, path);
    if (!path.endsWith('.py')) {
      throw new HumanError(`${path} is no Python file`, 'Read it with read_file');
    }
    const lines = linesOf(source);
    const imports = lines.flatMap((line, at) =>
      /^(?:import|from)\s/.test(line) ? [`${at + 1}  ${shortLine(line)}`] : [],
    );
    const found = findDefinitions(python, source).filter((each) => !each.local);
    const shown = found
      .slice(0, mostDefinitions)
      .map(
        (each) =>
          `${' '.repeat(4 * depthOf(each))}${each.range.startLine}-${each.range.endLine}  ${signatureOf(each, source)}`,
      );
    const more = found.length - shown.length;
    return [
      `${path} has ${lines.length} lines${found.length === 0 ? ', and no class or function' : ''}.`,
      ...imports,
      ...shown,
      ...(more > 0
        ? [`[${more} more definitions are not shown; search_code finds them by name]`]
        : []),
    ].join('\n');
  },
};

const depthOf = ({ parent }: Definition): number =>
  parent === undefined ? 0 : 1 + depthOf(parent);

/** From `def`, `async def` or `class` to the colon, on one line. */
export function signatureOf({ body, ...definition }: Definition, source: string): string {
  const head = source
    .slice(lineStart(source, definition.defLine), body.start)
    .replace(/#[^\n"']*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  return shortLine(head, 300);
}

function lineStart(source: string, line: number): number {
  let at = 0;
  for (let number = 1; number < line; number += 1) at = source.indexOf('\n', at) + 1;
  return at;
}
