import type { ChatMessage } from '../models/chatModel';

/** Raised when the wording of a prompt changes, so that its answers are requested again. */
export const promptVersion = 3;

/** The format of candidates and fixes that a prompt asks for. */
export type CandidateFormat = 'unified' | 'custom';

export interface Prompt {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
}

/** An answer to a prompt, and the reply to it. */
export interface Exchange {
  readonly answer: string;
  readonly said: string;
}

/** A prompt continued after an answer to it. Earlier exchanges are omitted, which bounds its length. */
export const continuedPrompt = (
  { system, messages }: Prompt,
  { answer, said }: Exchange,
): Prompt => ({
  system,
  messages: [...messages, { role: 'assistant', content: answer }, { role: 'user', content: said }],
});

/** The system prompt for writing tests. */
export const testsSystem =
  'You are an experienced Python developer who reproduces reported issues with tests.';

/** The system prompt for resolving the issue in the code. */
const fixSystem =
  'You are an experienced Python developer who resolves reported issues with small changes.';

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
    given?.place ??
    'where the repository keeps its tests, in an existing test file if one is suitable';
  const content = [
    ...issueInPrompt({ repo, issue }, [
      "Write tests for the repository's test suite that reproduce the issue. They may use modules " +
        'that are not shown here.',
    ]),
    ...filesInPrompt(files),
    ...(given?.lines ?? []),
    'Your task:',
    '- Add tests, or change existing ones, so that they check the behavior that the issue asks for.',
    '- They must fail on the current repository for the reason in the issue, not because of an ' +
      'import that does not exist, a misspelled name or a missing fixture.',
    '- They must pass once the issue is resolved. Assert what the issue says, and nothing that ' +
      'depends on how it is resolved.',
    `- Put them ${place}. Follow the repository's style and test framework.`,
    '- Change only tests. Do not resolve the issue itself.',
    '',
    ...formatInPrompt(format, 'tests'),
  ].join('\n');
  return { system: testsSystem, messages: [{ role: 'user', content }] };
}

/**
 * The prompt for a fix of the code, in the same form as the one for tests. It asks for a correct
 * fix: wrong patches are answers that happen to be wrong.
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
    ...issueInPrompt({ repo, issue }, [
      "Resolve the issue in the repository's code. You may use modules that are not shown here.",
    ]),
    ...filesInPrompt(files),
    'Your task:',
    '- Change the code so that it does what the issue asks for, and change nothing else.',
    '- Do not change the tests.',
    '',
    ...formatInPrompt(format, 'changes'),
  ].join('\n');
  return { system: fixSystem, messages: [{ role: 'user', content }] };
}

/**
 * The first lines of a prompt: the repository, and the issue between its tags.
 *
 * @param asked lines between the two that state the request
 */
export const issueInPrompt = (
  { repo, issue }: { readonly repo: string; readonly issue: string },
  asked: readonly string[] = [],
): readonly string[] => [
  `An issue was reported for the repository ${repo}. Its text is between <issue> and </issue>.`,
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
        'Files of the repository that may be relevant are between <code> and </code>. The line ' +
          'number at the start of each line is not part of the file. A line `...` stands for ' +
          'omitted lines.',
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
  'The following example shows only the format. In this file:',
  '',
  ...exampleBefore,
  '',
  'the first test should also check a negative width, and a test should be added at the end. The answer is:',
];

const unifiedFormat = (what: 'tests' | 'changes'): readonly string[] => [
  `Write the ${what} as a unified diff, like the output of \`git diff\`. For each file it has ` +
    'the lines `--- a/PATH` and `+++ b/PATH` (`--- /dev/null` for a new file) and then hunks. A ' +
    'hunk starts with `@@ -START,COUNT +START,COUNT @@`: the first line and the number of ' +
    'lines, before and after the change. Each line of a hunk starts with a space (unchanged), ' +
    '`-` (removed) or `+` (added). Copy unchanged and removed lines exactly from the file, ' +
    'without the line numbers. Include three unchanged lines around each change where the file ' +
    'has them.',
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
  `Write the ${what} as edits, each of which inserts or rewrites one whole function or class:`,
  '',
  '```custom-diff',
  'diff',
  'PATH OF THE FILE',
  '"rewrite" or "insert"',
  'APPROXIMATE LINE NUMBER, or BOF or EOF for the beginning or end of the file',
  'THE WHOLE NEW FUNCTION OR CLASS',
  'end diff',
  '```',
  '',
  'A `rewrite` replaces the function or class of the same name that is nearest to the line. An ' +
    '`insert` goes to the beginning or end of a file, which may be new. To add a method to a ' +
    'class, rewrite one of its methods and write the new method below it in the same edit, both ' +
    'indented as in the class. Imports that the code needs can come first in an edit. Write as ' +
    'many edits as you need, for one or more files, and no line numbers before the code.',
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

/** The last lines of a prompt: the format of the answer, with an example, and how to end it. */
export const formatInPrompt = (
  format: CandidateFormat,
  what: 'tests' | 'changes',
): readonly string[] => [
  ...(format === 'unified' ? unifiedFormat(what) : customFormat(what)),
  '',
  'Reason as much as you need first. End your answer with all of the ' +
    `${what} in one block that starts with ${format === 'unified' ? '```diff' : '```custom-diff'}.`,
];

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
    ...issueInPrompt({ repo, issue }),
    'These tests are meant to reproduce it:',
    '',
    '<tests>',
    patch.trimEnd(),
    '</tests>',
    '',
    'The issue is not resolved yet. On the current repository with these tests, the following ones fail:',
    '',
    ...failuresInPrompt(failures),
    failingBefore.length === 0
      ? 'None of them failed before the tests were added or changed.'
      : `These already failed before they were changed: ${failingBefore.join(', ')}.`,
    '',
    'Do the failures reproduce the issue? They do if the tests exercise what the issue is about, ' +
      'and fail in the way that it describes or because what it asks for does not exist yet. They ' +
      'do not if the tests themselves are broken or fail for another reason.',
    '',
    'Explain your answer in a few sentences. Then write a last line with only YES or NO.',
  ].join('\n');
  return {
    system:
      'You are an experienced Python developer who judges whether failing tests reproduce an issue.',
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
