import { reproducingTask } from '../agents/reproducingTask';
import type { TestCommand } from '../modelView';

/** Raised when the prompt or a rule of the session changes, so that no old session is used. */
export const acpPromptVersion = 2;

/**
 * The one prompt of an agent that brings its own tools: the issue, the rule that it writes tests only,
 * and how tests are run.
 */
export const acpPrompt = ({
  repo,
  issue,
  folder,
  command,
}: {
  readonly repo: string;
  readonly issue: string;
  readonly folder: string;
  readonly command: TestCommand | undefined;
}): string => `${reproducingTask({ repo, issue, folder })}
5. Remove any other files that you created. Leave your changes in the working tree and do not commit them.
${command === undefined ? '' : `\nTo run the tests of a file, such as ${command.file}, run in ${folder}:\n\n${command.line}\n`}
Note:
- There is no network access, and you cannot install anything. The test environment is ready.
- No one can answer questions. Work until the tests are done: what you leave in ${folder} is your answer.`;
