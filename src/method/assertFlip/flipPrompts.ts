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
  'You are an experienced Python developer who shows with tests what a program does today. You never fix the ' +
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
      'Write tests for the test suite of the repository that show what it is about, as the code behaves today. ' +
        'You may need modules that are not shown here.',
    ]),
    ...filesInPrompt(files),
    ...(setback === undefined ? [] : setbackInPrompt(setback)),
    'Your task:',
    '- Add tests that do what the report describes, and assert what is wrong about it: the wrong value, the ' +
      'exception that should not be raised, or that nothing is raised.',
    '- On the repository as it is they must pass. Once the problem is solved, each of them fails.',
    '- Beside each such assertion, say in a comment what would be right. Later the assertions are turned round.',
    '- Put the tests where the repository keeps its tests, in an existing test file where one fits, and follow ' +
      'its style and its test framework.',
    '- Add tests only: change neither the tests that are there nor the code.',
    '',
    ...formatInPrompt('custom', 'tests'),
    '',
    'Think as long as you like first. End with the tests as one block in that format.',
  ].join('\n');
  const prompt: Prompt = { system, messages: [{ role: 'user', content }] };
  return after === undefined ? prompt : goingOn(prompt, after);
}

const setbackInPrompt = ({ tests, said }: Setback): readonly string[] => [
  'An earlier attempt has not shown the problem. Its tests stand between <attempt> and </attempt>, and what was ' +
    'said of them between <said> and </said>. Find another way.',
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
  'The repository is without your earlier answer. Write all of the tests, as one block in the same format.';

/** What is said of tests that do not pass on R. @param complaint lines that say what happens there */
export const passingText = (complaint: readonly string[]): string =>
  [
    ...complaint,
    'The tests must pass on the repository as it is, and show the reported problem by what they assert. Mend that.',
    '',
    again,
  ].join('\n');

/** Asks to turn the assertions of passing tests round. */
export const flipText = [
  'These tests pass on the repository as it is. Now turn their assertions round:',
  '',
  '- Each test asserts what the report asks for, in place of what is wrong today.',
  '- On the repository as it is each test must fail because of the reported problem, and not by a fault of its own.',
  '- With a correct solution each test must pass. Assert nothing that depends on how the problem is solved.',
  '- Leave the rest of the tests as it is. Change names and comments that no longer fit.',
  '',
  again,
].join('\n');

/** What is said of tests that were turned round and do not fail on R as they should. */
export const failingText = (complaint: readonly string[]): string =>
  [
    ...complaint,
    'The assertions of these tests are turned round. Each test must fail on the repository as it is because of ' +
      'the reported problem, and pass once it is solved. Mend that.',
    '',
    again,
  ].join('\n');
