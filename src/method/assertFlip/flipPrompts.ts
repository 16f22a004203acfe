import {
  filesInPrompt,
  formatInPrompt,
  continuedPrompt,
  issueInPrompt,
  type Exchange,
  type Prompt,
} from '../prompt/prompts';

/** An attempt that was not validated. */
export interface Setback {
  /** Its tests, as a patch on R or as the model wrote them. */
  readonly tests: string;
  /** The model's opinion of their failure, or what was wrong with them. */
  readonly said: string;
}

/** Maximum number of characters of each text of a setback in a prompt. */
const setbackLength = 6000;

const system =
  'You are an experienced Python developer who shows with tests what a program currently does.';

/**
 * The prompt of an attempt: it asks for tests that pass on R and show the problem of the issue. The
 * wording is our own.
 *
 * @param parts.files as `packFiles` gives them
 * @param parts.setback the attempt before
 * @param parts.after an earlier answer of this attempt
 */
export function flipPrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly files: string;
  readonly setback: Setback | undefined;
  readonly after: Exchange | undefined;
}): Prompt {
  const { files, setback, after } = parts;
  const content = [
    ...issueInPrompt(parts, [
      "Write tests for the repository's test suite that show how the code currently behaves in " +
        'the case that the issue describes. They may use modules that are not shown here.',
    ]),
    ...filesInPrompt(files),
    ...(setback === undefined ? [] : setbackInPrompt(setback)),
    'Your task:',
    '- Add tests that do what the issue describes and assert the wrong behavior: the wrong ' +
      'value, the exception that should not be raised, or that nothing is raised.',
    '- They must pass on the current repository. Each of them must fail once the issue is resolved.',
    '- Next to each such assertion, state in a comment what would be correct. The assertions will be inverted later.',
    '- Put the tests where the repository keeps its tests, in an existing test file if one is ' +
      "suitable. Follow the repository's style and test framework.",
    '- Only add tests: change neither existing tests nor the code.',
    '',
    ...formatInPrompt('custom', 'tests'),
  ].join('\n');
  const prompt: Prompt = { system, messages: [{ role: 'user', content }] };
  return after === undefined ? prompt : continuedPrompt(prompt, after);
}

const setbackInPrompt = ({ tests, said }: Setback): readonly string[] => [
  'An earlier attempt did not show the behavior in the issue. Its tests are between <attempt> ' +
    'and </attempt>, and the feedback on them is between <feedback> and </feedback>. Try a ' +
    'different approach.',
  '',
  '<attempt>',
  tests.slice(0, setbackLength).trimEnd(),
  '</attempt>',
  '',
  '<feedback>',
  said.slice(0, setbackLength).trimEnd(),
  '</feedback>',
  '',
];

const again =
  'Your earlier answer is not in the repository. Write all of the tests again in one block in the same format.';

/** The reply to tests that do not pass on R. @param complaint lines that describe what happens there */
export const passingText = (complaint: readonly string[]): string =>
  [
    ...complaint,
    'The tests must pass on the current repository, and their assertions must show the wrong behavior in the issue. Fix this.',
    '',
    again,
  ].join('\n');

/** Asks to invert the assertions of passing tests. */
export const flipText = [
  'These tests pass on the current repository. Now invert their assertions:',
  '',
  '- Each test must assert what the issue asks for instead of the current wrong behavior.',
  '- Each test must fail on the current repository for the reason in the issue, not because of an error in the test.',
  '- Each test must pass once the issue is resolved. Assert nothing that depends on how it is resolved.',
  '- Change nothing else in the tests, except names and comments that no longer fit.',
  '',
  again,
].join('\n');

/** The reply to inverted tests that do not fail on R as they should. */
export const failingText = (complaint: readonly string[]): string =>
  [
    ...complaint,
    'The assertions of these tests are inverted. Each test must fail on the current repository ' +
      'for the reason in the issue, and pass once the issue is resolved. Fix this.',
    '',
    again,
  ].join('\n');
