import {
  filesInPrompt,
  formatInPrompt,
  goingOn,
  reportInPrompt,
  type Exchange,
  type Prompt,
} from '../prompt/prompts';

/** An attempt that was not validated. */
export interface Setback {
  /** Its tests, as a patch on R or as the model wrote them. */
  readonly tests: string;
  /** What the model said of their failure, or what was wrong with them. */
  readonly said: string;
}

/** Most characters of each text of a setback that a prompt shows. */
const setbackLength = 6000;

const system =
  'You are an experienced Python developer who shows with tests what a program currently does. You never fix the ' +
  'code under test.';

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
    ...reportInPrompt(parts, [
      "Write tests for the repository's test suite that show how the code currently behaves in " +
        'the reported case. You may need modules that are not shown here.',
    ]),
    ...filesInPrompt(files),
    ...(setback === undefined ? [] : setbackInPrompt(setback)),
    'Your task:',
    '- Add tests that do what the report describes and assert the wrong behavior: the wrong ' +
      'value, the exception that should not be raised, or that nothing is raised.',
    '- On the current repository they must pass. Once the problem is fixed, each of them must fail.',
    '- Next to each such assertion, state in a comment what would be correct. The assertions will be inverted later.',
    '- Put the tests where the repository keeps its tests, in an existing test file if one is ' +
      "suitable. Follow the repository's style and test framework.",
    '- Only add tests: change neither the existing tests nor the code.',
    '',
    ...formatInPrompt('custom', 'tests'),
    '',
    'Think for as long as you need first. End your answer with the tests as one block in that format.',
  ].join('\n');
  const prompt: Prompt = { system, messages: [{ role: 'user', content }] };
  return after === undefined ? prompt : goingOn(prompt, after);
}

const setbackInPrompt = ({ tests, said }: Setback): readonly string[] => [
  'An earlier attempt did not show the problem. Its tests are between <attempt> and ' +
    '</attempt>, and the feedback on them is between <said> and </said>. Try a different ' +
    'approach.',
  '',
  '<attempt>',
  tests.slice(0, setbackLength).trimEnd(),
  '</attempt>',
  '',
  '<said>',
  said.slice(0, setbackLength).trimEnd(),
  '</said>',
  '',
];

const again =
  'Your earlier answer is not in the repository. Write all of the tests as one block in the same format.';

/** What is said of tests that do not pass on R. @param complaint lines that say what happens there */
export const passingText = (complaint: readonly string[]): string =>
  [
    ...complaint,
    'The tests must pass on the current repository and show the reported problem with their assertions. Fix this.',
    '',
    again,
  ].join('\n');

/** Asks to turn the assertions of passing tests round. */
export const flipText = [
  'These tests pass on the current repository. Now invert their assertions:',
  '',
  '- Each test must assert what the report asks for instead of the current wrong behavior.',
  '- On the current repository each test must fail because of the reported problem, not because of an error in the test.',
  '- With a correct fix each test must pass. Assert nothing that depends on how the problem is fixed.',
  '- Do not change the rest of the tests, except names and comments that no longer fit.',
  '',
  again,
].join('\n');

/** What is said of tests that were turned round and do not fail on R as they should. */
export const failingText = (complaint: readonly string[]): string =>
  [
    ...complaint,
    'The assertions of these tests are inverted. Each test must fail on the current repository ' +
      'because of the reported problem, and pass once it is fixed. Fix this.',
    '',
    again,
  ].join('\n');
