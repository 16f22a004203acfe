import type { ChatMessage } from '../models/chatModel';

/** Raised when the wording of a prompt changes, so that its answers are requested again. */
export const promptVersion = 2;

/** The format of candidates and fixes that a prompt asks for. */
export type CandidateFormat = 'unified' | 'custom';

export interface Prompt {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
}

/** An answer to a prompt, and what is said to the model about it. */
export interface Exchange {
  readonly answer: string;
  readonly said: string;
}

/** A prompt that goes on after an answer to it. Earlier exchanges are left out, which bounds it. */
export const goingOn = ({ system, messages }: Prompt, { answer, said }: Exchange): Prompt => ({
  system,
  messages: [...messages, { role: 'assistant', content: answer }, { role: 'user', content: said }],
});

/** What a model is told that writes tests. */
export const testsSystem =
  'You are an experienced Python developer who reproduces bug reports with tests. You never fix the code ' +
  'under test: you write tests that fail now because of the reported problem, and that will pass once it is ' +
  'solved.';

/** What a model is told that solves the issue in the code. */
const fixSystem =
  'You are an experienced Python developer who solves reported bugs with small changes.';

/**
 * The prompt for a candidate: the issue, files of R with line numbers, and the format of the
 * answer. It follows the paper's appendix E, in our own words.
 *
 * @param files as `packFiles` gives them; empty when there are none
 * @param given in settings of Table 5: further lines, and the place of the tests
 */
export function candidatePrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly files: string;
  readonly format: CandidateFormat;
  readonly given?: { readonly lines: readonly string[]; readonly place: string | undefined };
}): Prompt {
  const { repo, issue, files, format, given } = parts;
  const place =
    given?.place ?? 'where the repository keeps its tests, in an existing test file where one fits';
  const content = [
    ...reportInPrompt({ repo, issue }, [
      'Write tests for the test suite of the repository that reproduce it. You may need modules that are not ' +
        'shown here.',
    ]),
    ...filesInPrompt(files),
    ...(given?.lines ?? []),
    'Your task:',
    '- Add tests, or change existing ones, so that they check the behaviour that the report asks for.',
    '- On the repository as it is they must fail, and for the reason in the report: not because of an import ' +
      'that does not exist, a misspelt name or a missing fixture.',
    '- With a correct solution they must pass. Assert what the report says, and nothing that depends on how it ' +
      'is solved.',
    `- Put them ${place}, and follow its style and its test framework.`,
    '- Change tests only. Do not solve the problem itself.',
    '',
    ...formatInPrompt(format, 'tests'),
    '',
    'Think as long as you like first. End with the tests as one block in that format.',
  ].join('\n');
  return { system: testsSystem, messages: [{ role: 'user', content }] };
}

/**
 * The prompt for a fix of the code, as a method asks for tests. It is worded anew, and asks for an
 * honest fix: some answers are wrong without being asked to.
 *
 * @param parts.files as `packFiles` gives them; empty when there are none
 */
export function fixPrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly files: string;
  readonly format: CandidateFormat;
}): Prompt {
  const { repo, issue, files, format } = parts;
  const content = [
    ...reportInPrompt({ repo, issue }, [
      'Solve it in the code of the repository. You may need modules that are not shown here.',
    ]),
    ...filesInPrompt(files),
    'Your task:',
    '- Change the code so that it does what the report asks for, and nothing else changes.',
    '- Leave the tests as they are.',
    '',
    ...formatInPrompt(format, 'changes'),
    '',
    'Think as long as you like first. End with the changes as one block in that format.',
  ].join('\n');
  return { system: fixSystem, messages: [{ role: 'user', content }] };
}

/**
 * The first lines of a prompt: the repository, and the report between its marks.
 *
 * @param asked lines between the two, which say what the report is for
 */
export const reportInPrompt = (
  { repo, issue }: { readonly repo: string; readonly issue: string },
  asked: readonly string[] = [],
): readonly string[] => [
  `Somebody reported a problem with the repository ${repo}. The report stands between <issue> and </issue>.`,
  ...asked,
  '',
  '<issue>',
  issue.trim(),
  '</issue>',
  '',
];

/** The lines of a prompt that show files of R, as `packFiles` gives them. */
export const filesInPrompt = (files: string): readonly string[] =>
  files === ''
    ? []
    : [
        'Files of the repository that may matter follow between <code> and </code>. The number at the ' +
          'beginning of each line is its number in the file, and no part of the file. A line `...` stands ' +
          'for lines that are not shown.',
        '',
        '<code>',
        files.trimEnd(),
        '</code>',
        '',
      ];

const exampleBefore = [
  '[start of tests/test_shapes.py]',
  '1 import pytest',
  '2 from shapes import area, sides',
  '3 ',
  '4 ',
  '5 def test_area():',
  '6     assert area(2, 3) == 6',
  '7     assert area(0, 3) == 0',
  '8 ',
  '9 ',
  '10 @pytest.mark.parametrize("name, count", [("square", 4), ("hexagon", 6)])',
  '11 def test_sides(name, count):',
  '12     assert sides(name) == count',
  '[end of tests/test_shapes.py]',
];

const exampleTask = [
  'An example. Of this file',
  '',
  ...exampleBefore,
  '',
  'the first test is to check a negative width as well, and a new test is to come at the end. The answer is:',
];

const unifiedFormat = (what: 'tests' | 'changes'): readonly string[] => [
  `Write the ${what} as a unified diff, as \`git diff\` does. For each file it has the lines \`--- a/PATH\` and ` +
    '`+++ b/PATH` (`--- /dev/null` for a new file) and then hunks. A hunk begins with `@@ -START,COUNT ' +
    '+START,COUNT @@`: first line and number of lines, before and after. Each line of a hunk begins with a blank ' +
    '(it stays), `-` (it goes) or `+` (it comes). Lines that stay or go are exactly those of the file, without ' +
    'the line numbers shown above, and there are three lines that stay around each change where the file has them.',
  '',
  ...exampleTask,
  '',
  '```diff',
  '--- a/tests/test_shapes.py',
  '+++ b/tests/test_shapes.py',
  '@@ -5,8 +5,13 @@',
  ' def test_area():',
  '     assert area(2, 3) == 6',
  '     assert area(0, 3) == 0',
  '+    assert area(-2, 3) == 6',
  ' ',
  ' ',
  ' @pytest.mark.parametrize("name, count", [("square", 4), ("hexagon", 6)])',
  ' def test_sides(name, count):',
  '     assert sides(name) == count',
  '+',
  '+',
  '+def test_sides_of_a_circle():',
  '+    assert sides("circle") == 0',
  '```',
];

/**
 * The description of the custom format, with an example of tests.
 *
 * @param what the name of what is to be written
 */
const customFormat = (what: 'tests' | 'changes'): readonly string[] => [
  `Write the ${what} as blocks that each insert or rewrite one whole function or class:`,
  '',
  '```custom-diff',
  'diff',
  'PATH OF THE FILE',
  '"rewrite" or "insert"',
  'ROUGH LINE NUMBER, or BOF or EOF for the beginning or the end of the file',
  'THE WHOLE FUNCTION OR CLASS AS IT IS TO BE',
  'end diff',
  '```',
  '',
  'A `rewrite` replaces the function of the same name that is nearest to the line. An `insert` goes to BOF or ' +
    'EOF, or into a new file. Imports that the code needs may stand before it in the block. Write as many blocks ' +
    'as you need, also for several files, and no line numbers before the lines of code.',
  '',
  ...exampleTask,
  '',
  '```custom-diff',
  'diff',
  'tests/test_shapes.py',
  'rewrite',
  '5',
  'def test_area():',
  '    assert area(2, 3) == 6',
  '    assert area(0, 3) == 0',
  '    assert area(-2, 3) == 6',
  'end diff',
  'diff',
  'tests/test_shapes.py',
  'insert',
  'EOF',
  'def test_sides_of_a_circle():',
  '    assert sides("circle") == 0',
  'end diff',
  '```',
];

/** The lines of a prompt that describe the format of the answer, with an example. */
export const formatInPrompt = (
  format: CandidateFormat,
  what: 'tests' | 'changes',
): readonly string[] => (format === 'unified' ? unifiedFormat(what) : customFormat(what));

/** A test that fails on R with the candidate. */
export interface ShownFailure {
  readonly test: string;
  /** The runner's message; the caller limits its length. */
  readonly text: string;
}

/** The lines of a prompt that show failures on R. */
export const failuresInPrompt = (failures: readonly ShownFailure[]): readonly string[] =>
  failures.flatMap(({ test, text }) => [
    `<failure test=${JSON.stringify(test)}>`,
    text,
    '</failure>',
    '',
  ]);

/**
 * The prompt for LIBRO's judge, which asks whether the failure of a candidate on R is the problem
 * of the issue. The judge sees R with the candidate and what R does without it, but nothing of any
 * fix.
 */
export function judgePrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly patch: string;
  readonly failures: readonly ShownFailure[];
  /** Those of the failing tests that R has as well, and that fail there too. */
  readonly failingBefore: readonly string[];
}): Prompt {
  const { repo, issue, patch, failures, failingBefore } = parts;
  const content = [
    `Somebody reported a problem with the repository ${repo}:`,
    '',
    '<issue>',
    issue.trim(),
    '</issue>',
    '',
    'These tests are meant to reproduce it:',
    '',
    '<tests>',
    patch.trimEnd(),
    '</tests>',
    '',
    'The problem is not solved yet. On the repository as it is, with these tests added, the following fail:',
    '',
    ...failuresInPrompt(failures),
    failingBefore.length === 0
      ? 'None of them failed before the tests were added or changed.'
      : `These failed already before they were changed: ${failingBefore.join(', ')}.`,
    '',
    'Does a failure above show the problem of the report? It does when the tests exercise what the report is ' +
      'about and fail with what the report describes, or since what it asks for is not there. It does not when ' +
      'the tests themselves are broken, or fail for another reason.',
    '',
    'Explain in a few sentences. Then write a last line that is only YES or NO.',
  ].join('\n');
  return {
    system:
      'You are an experienced Python developer who judges whether a failing test reproduces a bug report.',
    messages: [{ role: 'user', content }],
  };
}

/**
 * The judge's answer: the last line that is a plain yes or no, else the beginning of the text.
 * Undefined when it is neither.
 */
export function readJudgement(text: string): boolean | undefined {
  const word =
    /^[\s*_`#>"'.:-]*(?:(?:final\s+)?answer\s*[:=-]\s*)?[*_`"']*(yes|no)\b[\s*_`"'.!]*$/i;
  const lines = text.trim().split('\n').reverse();
  const last = lines.map((line) => word.exec(line)?.[1]).find((each) => each !== undefined);
  const first = /^[\s*_`"']*(yes|no)\b/i.exec(text)?.[1];
  const said = (last ?? first)?.toLowerCase();
  return said === undefined ? undefined : said === 'yes';
}
