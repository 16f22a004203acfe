import { rulesOfTests } from './rulesOfTests';

/**
 * How the prompt of an agent with a shell begins: the issue, where the repository is, the rules, and
 * the steps of the work up to those that depend on the agent. Without a line break at its end.
 */
export const reproducingTask = ({
  repo,
  issue,
  folder,
}: {
  readonly repo: string;
  readonly issue: string;
  /** Where R is in the container. */
  readonly folder: string;
}): string => `<issue>
${issue}
</issue>

The repository ${repo} lies in ${folder}, as it was when this issue was reported. Write tests that reproduce the issue: they fail now because of the problem that the issue describes, and they pass as soon as somebody fixes it as the issue asks.

${rulesOfTests}

A way to work:
1. Read the code and the tests that the issue is about.
2. Reproduce the problem with a short script.
3. Write the tests.
4. Run them and check that they fail, and for the reason in the issue.`;
