import { z } from 'zod';
import { HumanError } from '../../domain/work';
import { furtherFormats } from '../../patch/patchFormats';
import { askedFormats } from '../../patch/toUnified';
import type { Diagnostic } from '../../patch/diagnostic';
import { candidateData, candidateShape, syntaxErrorText } from './candidateData';
import { fields, patchLimit, toolOf } from './tool';

export const applyCandidate = toolOf({
  name: 'apply_candidate',
  title: 'Apply a candidate',
  description:
    'Takes a patch with tests as the candidate, in the place of the one before: the patch is always on the repository as it is, never on an earlier candidate. Write a unified diff ("--- a/PATH", "+++ b/PATH", "@@ … @@"), SEARCH/REPLACE blocks, or blocks between "diff" and "end diff". Gives the tests that it adds or changes, syntax errors, and the whole diff as it was applied. Nothing is run: call run_tests then.',
  input: fields({
    patch: z.string().min(1).max(1_000_000).describe('The whole patch, on the repository as it is'),
    format: z
      .enum(askedFormats(furtherFormats))
      .optional()
      .describe(
        'How the patch is written; found out by default. "fuzzy" is a diff with wrong line numbers',
      ),
  }),
  output: fields({
    ...candidateShape,
    notes: z.array(z.string()).describe('What was noticed while the patch was read'),
  }),
  effect: 'changes the candidate',
  usesCandidate: true,
  mostCharacters: patchLimit,
  confirmation: 'Puts the tests that the model has written in the place of the current candidate.',
  async run(view, { patch, format }, { candidate, signal }) {
    const read = await view.read(patch, { ...(format !== undefined && { format }), signal });
    const told = read.diagnostics.map(describe);
    if (!read.applies) {
      const problem = read.diagnostics.some((each) => each.severity === 'error')
        ? ''
        : `: ${read.problem ?? ''}`;
      throw new HumanError(
        [
          `The patch does not apply to the repository, and the candidate is what it was${problem}`,
          ...told,
        ].join('\n'),
        'Read the lines that it changes with read_file, and write the whole patch again',
      );
    }
    await candidate.apply(read.patch);
    const { ownTests, otherFiles, removedTests, syntaxErrors } = read;
    const text = [
      'The candidate applies.',
      ...(syntaxErrors.length > 0
        ? [
            'But it is not Python, so its tests cannot run. Correct it, and apply the whole patch again.',
          ]
        : []),
      ...syntaxErrorText(syntaxErrors),
      ownTests.length === 0
        ? `It adds or changes no test${read.problem === undefined ? '' : ` (${read.problem})`}: there is nothing to reproduce the issue with.`
        : `Tests that it adds or changes:\n${ownTests.map((test) => `- ${test}`).join('\n')}`,
      ...(removedTests.length > 0 ? [`It removes tests: ${removedTests.join(', ')}.`] : []),
      ...(otherFiles.length > 0
        ? [
            `It changes files that are no tests, which a candidate should not: ${otherFiles.join(', ')}.`,
          ]
        : []),
      ...told,
      `Applied as this diff:\n${read.patch.trimEnd()}`,
    ].join('\n');
    return { text, data: { ...candidateData(read), notes: told } };
  },
});

const describe = ({ severity, line, message, hint }: Diagnostic): string =>
  `${severity}, line ${line} of the patch: ${message}${hint === undefined ? '' : `. ${hint}`}`;
