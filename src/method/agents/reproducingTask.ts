/** The rules for any agent, whatever its tools are. */
const rulesOfTests = `Rules:
- Add tests to the repository's own test files, or add test files next to them, in the style and with the tools of the existing tests. The repository's test runner must find them.
- Change only tests. Do not resolve the issue or change any other code.
- Each test must fail for the reason in the issue. A test that fails for another reason, such as a wrong import, does not reproduce the issue.
- The other existing tests must still pass.`;

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

The repository ${repo} is in ${folder}, in the state in which this issue was reported. Write tests that reproduce the issue: they fail now, and they pass once the issue is resolved.

${rulesOfTests}

Recommended steps:
1. Read the code and the tests that are related to the issue.
2. Reproduce the issue with a short script.
3. Write the tests.
4. Run them and check that they fail for the reason in the issue.`;
