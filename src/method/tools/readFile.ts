import { z } from 'zod';
import { plural } from '../../domain/text';
import { HumanError } from '../../domain/work';
import { fileOfR, linesOf, pathField, shortLine } from './places';
import { answerLimit, fields, toolOf } from './tool';

const mostLines = 400;

export const readFile = toolOf({
  name: 'read_file',
  title: 'Read lines of a file',
  description: `Returns lines of a file in the repository with their line numbers, at most ${mostLines}. It shows the repository without the candidate. For a long file, call outline_file first and read only the relevant lines.`,
  input: fields({
    path: pathField('Path in the repository, such as tests/test_money.py'),
    start_line: z.int().min(1).optional().describe('First line, counted from 1; 1 by default'),
    end_line: z
      .int()
      .min(1)
      .optional()
      .describe('Last line (inclusive); by default as many lines as possible'),
  }),
  output: fields({
    path: z.string(),
    start_line: z.int(),
    end_line: z.int().describe('Last line returned; 0 for an empty file'),
    total_lines: z.int(),
    text: z.string().describe('The lines, without line numbers'),
  }),
  effect: 'reads',
  usesCandidate: false,
  confirmation: 'Gives the model lines of a file in the repository.',
  async run({ tree }, { path, start_line: start = 1, end_line: end }) {
    const lines = linesOf(await fileOfR(tree, path));
    if (lines.length === 0) {
      const data = { path, start_line: 1, end_line: 0, total_lines: 0, text: '' };
      return { text: `${path} is empty.`, data };
    }
    if (start > lines.length) {
      throw new HumanError(
        `${path} has ${plural(lines.length, 'line')}, but start_line is ${start}`,
        'Request existing lines',
      );
    }
    if (end !== undefined && end < start) {
      throw new HumanError(
        `end_line ${end} is before start_line ${start}`,
        'Set end_line to the last line you want, counted from 1',
      );
    }
    const wanted = Math.min(end ?? lines.length, lines.length);
    const shown = withinAnswer(lines.slice(start - 1, Math.min(wanted, start + mostLines - 1)));
    const last = start + shown.length - 1;
    const width = String(last).length;
    const text = [
      `${path}, lines ${start} to ${last} of ${lines.length}:`,
      ...shown.map((line, at) => `${String(start + at).padStart(width)}  ${line}`),
      ...(last < wanted ? [`[continue with start_line ${last + 1}]`] : []),
    ].join('\n');
    const data = {
      ...{ path, start_line: start, end_line: last, total_lines: lines.length },
      text: shown.join('\n'),
    };
    return { text, data };
  },
});

/** The first of these lines, as many as an answer holds whole with their numbers. */
function withinAnswer(lines: readonly string[]): string[] {
  let characters = 2000;
  const shown: string[] = [];
  for (const line of lines.map((each) => shortLine(each))) {
    characters += line.length + 12;
    if (characters > answerLimit) break;
    shown.push(line);
  }
  return shown;
}
