/** What an agent may and must do with tests, whatever its tools are. */
const rulesOfTests = `Rules:
- Add tests to the repository's own test files, or add test files beside them, in the style and with the tools that the repository's tests use. The test runner of the repository must find them.
- Change tests only. Do not fix the issue: an edit of the code is a mistake.
- A test fails by an assertion about what the issue says. A test that fails for another reason, such as a wrong import, reproduces nothing.
- Existing tests still pass.`;

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
