import { z } from 'zod';
import { bounded, fields, toolOf } from './tool';

export const readIssue = toolOf({
  name: 'read_issue',
  title: 'Read the issue',
  description:
    'Returns the repository name and the original text of the issue that the tests must reproduce. Call it first.',
  input: fields({}),
  output: fields({ repo: z.string(), instance: z.string(), issue: z.string() }),
  effect: 'reads',
  usesCandidate: false,
  confirmation: 'Gives the model the issue text.',
  run: ({ alias, repo, issue }) =>
    Promise.resolve({
      text: `Issue of ${repo} (instance ${alias}):\n\n${issue.trim()}`,
      data: { repo, instance: alias, issue: bounded(issue.trim()) },
    }),
});
