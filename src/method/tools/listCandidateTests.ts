import {
  candidateData,
  candidateShape,
  syntaxErrorText,
  type CandidateData,
} from './candidateData';
import { fields, patchLimit, toolOf, type ToolResult } from './tool';

export const listCandidateTests = toolOf({
  name: 'list_candidate_tests',
  title: "List the candidate's tests",
  description:
    'Returns the current candidate: the tests that it adds, changes or removes, with the names that run_tests accepts, and the complete patch.',
  input: fields({}),
  output: fields(candidateShape),
  effect: 'reads',
  usesCandidate: true,
  mostCharacters: patchLimit,
  confirmation: 'Gives the model the current candidate and the names of its tests.',
  async run(view, _input, { candidate, signal }) {
    const patch = await candidate.read();
    if (patch.trim() === '') {
      return nothing('There is no candidate yet: write one with apply_candidate.');
    }
    const read = await view.read(patch, { signal });
    if (!read.applies) {
      return nothing(`The candidate does not apply to the repository: ${read.problem ?? ''}.`);
    }
    const text = [
      read.ownTests.length === 0
        ? 'The candidate adds or changes no test.'
        : `Tests that the candidate adds or changes:\n${read.ownTests.map((test) => `- ${test}`).join('\n')}`,
      ...(read.removedTests.length > 0
        ? [`Tests that it removes:\n${read.removedTests.map((test) => `- ${test}`).join('\n')}`]
        : []),
      ...syntaxErrorText(read.syntaxErrors),
      `Its patch:\n${read.patch.trimEnd()}`,
    ].join('\n\n');
    return { text, data: candidateData(read) };
  },
});

const nothing = (text: string): ToolResult<CandidateData> => ({
  text,
  data: { tests: [], removed_tests: [], other_files: [], syntax_errors: [], diff: '' },
});
