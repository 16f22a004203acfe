import { rulesOfTests } from '../agents/rulesOfTests';
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
}): string => `<issue>
${issue}
</issue>

The repository ${repo} lies in ${folder}, as it was when this issue was reported. Write tests that reproduce the issue: they fail now because of the problem that the issue describes, and they pass as soon as somebody fixes it as the issue asks.

${rulesOfTests}

A way to work:
1. Read the code and the tests that the issue is about.
2. Reproduce the problem with a short script.
3. Write the tests.
4. Run them and check that they fail, and for the reason in the issue.
5. Remove other files that you made. Leave your changes in the files, without a commit.
${command === undefined ? '' : `\nThe tests of a file, such as ${command.file}, run in ${folder} with:\n\n${command.line}\n`}
What holds here:
- There is no network, and nothing can be installed. The environment of the tests is ready.
- Nobody answers questions. Work until you are done; what you leave in ${folder} is your answer.`;
