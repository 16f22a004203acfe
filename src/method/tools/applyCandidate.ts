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
    'Makes a patch with tests the current candidate and replaces the previous one. The patch must apply to the unchanged repository, not to an earlier candidate. Write a unified diff ("--- a/PATH", "+++ b/PATH", "@@ … @@"), SEARCH/REPLACE blocks, or blocks between "diff" and "end diff". Returns the tests that it adds or changes, syntax errors, and the complete diff as applied. It runs nothing: call run_tests next.',
  input: fields({
    patch: z
      .string()
      .min(1)
      .max(1_000_000)
      .describe('The complete patch against the unchanged repository'),
    format: z
      .enum(askedFormats(furtherFormats))
      .optional()
      .describe(
        'Format of the patch; detected by default. "fuzzy" is a diff with wrong line numbers',
      ),
  }),
  output: fields({
    ...candidateShape,
    notes: z.array(z.string()).describe('Diagnostics from parsing the patch'),
  }),
  effect: 'changes the candidate',
  usesCandidate: true,
  mostCharacters: patchLimit,
  confirmation: 'Replaces the current candidate with tests that the model has written.',
  async run(view, { patch, format }, { candidate, signal }) {
    const read = await view.read(patch, { ...(format !== undefined && { format }), signal });
    const told = read.diagnostics.map(describe);
    if (!read.applies) {
      const problem = read.diagnostics.some((each) => each.severity === 'error')
        ? ''
        : `: ${read.problem ?? ''}`;
      throw new HumanError(
        [
          `The patch does not apply to the repository, so the candidate is unchanged${problem}`,
          ...told,
        ].join('\n'),
        'Read the lines that it changes with read_file, and write the complete patch again',
      );
    }
    await candidate.apply(read.patch);
    const { ownTests, otherFiles, removedTests, syntaxErrors } = read;
    const text = [
      'The candidate applies.',
      ...(syntaxErrors.length > 0
        ? [
            'However, it is not valid Python, so its tests cannot run. Fix it and apply the complete patch again.',
          ]
        : []),
      ...syntaxErrorText(syntaxErrors),
      ownTests.length === 0
        ? `It adds or changes no test${read.problem === undefined ? '' : ` (${read.problem})`}, so nothing reproduces the issue.`
        : `Tests that it adds or changes:\n${ownTests.map((test) => `- ${test}`).join('\n')}`,
      ...(removedTests.length > 0 ? [`It removes tests: ${removedTests.join(', ')}.`] : []),
      ...(otherFiles.length > 0
        ? [
            `It changes files that are not tests, which a candidate should not do: ${otherFiles.join(', ')}.`,
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
