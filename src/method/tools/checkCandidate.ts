import { checkSubmission, submissionCheckSchema } from '../submission/submissionCheck';
import { submissionCheckText } from '../submission/submissionCheckText';
import { fields, toolOf } from './tool';

export const checkCandidate = toolOf({
  name: 'check_candidate',
  title: 'Check the candidate before submitting',
  description:
    'Checks the complete candidate before it is submitted: it applies, changes only tests, its tests are collected and fail on the current repository for a reason related to the issue, and the other tests of its files have the same outcomes as before. Runs whole test files, with and without the candidate. Call it last.',
  input: fields({}),
  output: submissionCheckSchema,
  effect: 'runs code',
  usesCandidate: true,
  confirmation: "Runs the candidate's test files on R, with and without the candidate.",
  async run(view, _input, { candidate, timeoutSeconds, signal, reporter }) {
    const check = await checkSubmission(view, await candidate.read(), {
      ...{ timeoutSeconds, signal, reporter },
    });
    return { text: submissionCheckText(check), data: check };
  },
});
