import { fields, type Tool } from './tool';

export const readIssue: Tool<Record<string, never>> = {
  name: 'read_issue',
  title: 'Read the issue',
  description:
    'Gives the text of the issue that the tests are to reproduce, as its author wrote it, with the name of the repository. Call it first.',
  input: fields({}),
  effect: 'reads',
  confirmation: 'Gives the model the text of the issue.',
  run: ({ alias, repo, issue }) =>
    Promise.resolve(`Issue of ${repo} (instance ${alias}):\n\n${issue.trim()}`),
};
