/** What an agent may and must do with tests, whatever its tools are. */
export const rulesOfTests = `Rules:
- Add tests to the repository's own test files, or add test files beside them, in the style and with the tools that the repository's tests use. The test runner of the repository must find them.
- Change tests only. Do not fix the issue: an edit of the code is a mistake.
- A test fails by an assertion about what the issue says. A test that fails for another reason, such as a wrong import, reproduces nothing.
- Existing tests still pass.`;
