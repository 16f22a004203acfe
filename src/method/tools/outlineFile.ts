import { z } from 'zod';
import { plural } from '../../domain/text';
import { HumanError } from '../../domain/work';
import { findDefinitions, type Definition } from '../../python/definitions';
import { fileOfR, linesOf, pathField, shortLine } from './places';
import { fields, toolOf } from './tool';

const mostDefinitions = 400;

export const outlineFile = toolOf({
  name: 'outline_file',
  title: 'Outline a file',
  description:
    'Returns the outline of a Python file: its imports, and its classes, functions and methods with their signatures and line numbers, without their bodies.',
  input: fields({ path: pathField('Path of a Python file in the repository') }),
  output: fields({
    path: z.string(),
    lines: z.int(),
    imports: z.array(fields({ line: z.int(), text: z.string() })),
    definitions: z.array(
      fields({
        start_line: z.int(),
        end_line: z.int(),
        depth: z.int().describe('Nesting depth'),
        signature: z.string(),
      }),
    ),
    more: z.int().describe('Number of omitted definitions'),
  }),
  effect: 'reads',
  usesCandidate: false,
  confirmation: 'Gives the model the outline of a file of the repository.',
  async run({ tree, python }, { path }) {
    const source = await fileOfR(tree, path);
    if (!path.endsWith('.py')) {
      throw new HumanError(`${path} is not a Python file`, 'Read it with read_file');
    }
    const lines = linesOf(source);
    const imports = lines.flatMap((line, at) =>
      /^(?:import|from)\s/.test(line) ? [{ line: at + 1, text: shortLine(line) }] : [],
    );
    const found = findDefinitions(python, source).filter((each) => !each.local);
    const definitions = found.slice(0, mostDefinitions).map((each) => ({
      start_line: each.range.startLine,
      end_line: each.range.endLine,
      depth: depthOf(each),
      signature: signatureOf(each, source),
    }));
    const more = found.length - definitions.length;
    const text = [
      `${path} has ${plural(lines.length, 'line')}${found.length === 0 ? ', and no class or function' : ''}.`,
      ...imports.map((each) => `${each.line}  ${each.text}`),
      ...definitions.map(
        (each) =>
          `${' '.repeat(4 * each.depth)}${each.start_line}-${each.end_line}  ${each.signature}`,
      ),
      ...(more > 0
        ? [`[${more} more definitions are not shown; search_code finds them by name]`]
        : []),
    ].join('\n');
    return { text, data: { path, lines: lines.length, imports, definitions, more } };
  },
});

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
