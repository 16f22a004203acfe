import { reproducingTask } from '../agents/reproducingTask';
import type { TestCommand } from '../modelView';

/** Raised when the prompt or a rule of the session changes, so that no old session is used. */
export const acpPromptVersion = 1;

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
5. Remove other files that you made. Leave your changes in the files, without a commit.
${command === undefined ? '' : `\nThe tests of a file, such as ${command.file}, run in ${folder} with:\n\n${command.line}\n`}
What holds here:
- There is no network, and nothing can be installed. The environment of the tests is ready.
- Nobody answers questions. Work until you are done; what you leave in ${folder} is your answer.`;
