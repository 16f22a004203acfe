import { z } from 'zod';
import { HumanError } from '../../domain/humanError';
import { fileOfR, linesOf, pathField, shortLine } from './places';
import { fields, type Tool } from './tool';

interface Input {
  readonly path: string;
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
}

const mostLines = 400;

export const readFile: Tool<Input> = {
  name: 'read_file',
  title: 'Read lines of a file',
  description: `Gives lines of one file of the repository with their numbers, ${mostLines} at most. It shows the repository as it is, without the candidate. For a long file call outline_file first, and read the lines that matter.`,
  input: fields({
    path: pathField('Path in the repository, such as tests/test_money.py'),
    start_line: z.int().min(1).optional().describe('First line, counted from 1; 1 by default'),
    end_line: z
      .int()
      .min(1)
      .optional()
      .describe('Last line, included; as far as it goes by default'),
  }),
  effect: 'reads',
  confirmation: 'Gives the model lines of a file of the repository.',
  async run({ tree }, { path, start_line: start = 1, end_line: end }) {
    const lines = linesOf(await fileOfR(tree, path));
    if (lines.length === 0) return `${path} is empty.`;
    if (start > lines.length) {
      throw new HumanError(
        `${path} has ${lines.length} lines, and start_line is ${start}`,
        'Ask for lines that are there',
      );
    }
    if (end !== undefined && end < start) {
      throw new HumanError(
        `end_line ${end} comes before start_line ${start}`,
        'Give the last line that is wanted, counted from 1',
      );
    }
    const last = Math.min(end ?? lines.length, lines.length, start + mostLines - 1);
    const width = String(last).length;
    const shown = lines
      .slice(start - 1, last)
      .map((line, at) => `${String(start + at).padStart(width)}  ${shortLine(line)}`);
    const rest = last < Math.min(end ?? lines.length, lines.length);
    return [
      `${path}, lines ${start} to ${last} of ${lines.length}:`,
      ...shown,
      ...(rest ? [`[go on with start_line ${last + 1}]`] : []),
    ].join('\n');
  },
};
