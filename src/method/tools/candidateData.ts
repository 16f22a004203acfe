import { z } from 'zod';
import type { Immutable } from '../../domain/work';
import type { SyntaxErrorOfCandidate } from '../steps/syntaxErrorsOf';
import type { ReadOnR } from '../view/runOnR';
import { shortLine } from './places';
import { bounded, fields, patchLimit } from './tool';

/** A candidate as data for a program. */
export const candidateShape = {
  tests: z
    .array(z.string())
    .describe('Tests that it adds or changes, with the names that run_tests accepts'),
  removed_tests: z.array(z.string()),
  other_files: z.array(z.string()).describe('Changed files that are not tests'),
  syntax_errors: z.array(
    fields({ path: z.string(), line: z.int(), text: z.string().describe('The surrounding lines') }),
  ),
  diff: z.string().describe('Unified diff against the unchanged repository'),
};

export type CandidateData = Immutable<z.infer<z.ZodObject<typeof candidateShape>>>;

/** @param read a candidate that applies */
export const candidateData = (read: ReadOnR): CandidateData => ({
  tests: read.ownTests,
  removed_tests: read.removedTests,
  other_files: read.otherFiles,
  syntax_errors: read.syntaxErrors.map((each) => ({
    path: each.path,
    line: each.line,
    text: linesAround(each),
  })),
  diff: bounded(read.patch, patchLimit),
});

/** The syntax errors of a candidate with the lines around each, for a model. */
export const syntaxErrorText = (errors: readonly SyntaxErrorOfCandidate[]): string[] =>
  errors.map(
    (error) =>
      `Syntax error in ${error.path}, line ${error.line}${error.problem === undefined ? '' : ` (${error.problem})`}:\n${linesAround(error)}`,
  );

const linesAround = ({ line, firstLine, lines }: SyntaxErrorOfCandidate): string =>
  lines
    .map(
      (text, at) => `${firstLine + at === line ? '>' : ' '} ${firstLine + at}  ${shortLine(text)}`,
    )
    .join('\n');
