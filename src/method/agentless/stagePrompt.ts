import type { Prompt } from '../prompts';

/**
 * The prompt of a stage, in our own words: the report, what the stage shows, and what is to be
 * done. The same parts come first in all of them, so that a provider can cache them.
 *
 * @param parts.shown what the stage shows of R, with its heading
 * @param parts.task the lines of the task
 */
export function stagePrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly shown: readonly string[];
  readonly task: readonly string[];
}): Prompt {
  const { repo, issue, shown, task } = parts;
  const content = [
    `Somebody reported a problem with the repository ${repo}. The report stands between <issue> and </issue>.`,
    '',
    '<issue>',
    issue.trim(),
    '</issue>',
    '',
    ...shown,
    '',
    'Your task:',
    ...task,
  ].join('\n');
  return { system, messages: [{ role: 'user', content }] };
}

const system =
  'You are an experienced Python developer. You find the code that a reported problem comes from, and solve ' +
  'it with small changes.';
