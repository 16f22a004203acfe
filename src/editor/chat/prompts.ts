import { continueRule, issueText, onlyR, instructions } from '../../method/tools';

/**
 * Prompts of the chat. They are for models and stay English; texts for people are translated
 * elsewhere. None may mention R∘X*: they consist of the issue, of R and of runs on R.
 */

/** For models that may call tools, in every turn. */
const withTools =
  'A developer reads your answers in a chat. Say briefly what you find between calls, and give places in the code as `path:line`. When you have what you need, answer without another call.';

/** The developer sees the patch in the chat. */
const noPatch = 'Do not repeat the patch: the developer sees it beside your answer.';

export const reproduceInstructions = [
  instructions,
  `${continueRule} ${noPatch}`,
  onlyR,
  withTools,
].join('\n');

/** What the tests do, in one sentence. */
const reproducing =
  'they fail on the current repository for the reason in the issue, and they pass once the issue is resolved.';

export const improveInstructions = (callsTools: boolean): string =>
  [
    `A developer has written tests that should reproduce an issue: ${reproducing} These tests are the current candidate. Improve them, and do not resolve the issue itself.`,
    'Check each test against the run. Does it fail for the reason in the issue, not because of an error of its own? Does it check one thing, independently of other tests, their order, the clock and the network? Does it assert what the issue asks for, and nothing that depends on how the issue is resolved? Does its name say what it checks, in the style of the tests around it?',
    'Do not change tests that are good as they are. List briefly what you changed and why, or say that nothing needs to change.',
    ...(callsTools
      ? [
          `To change something, apply the complete candidate again, as a patch to the repository without the current candidate, and run its tests. ${noPatch}`,
          withTools,
        ]
      : []),
    onlyR,
  ].join('\n');

export const explainInstructions = [
  'You explain to a developer what a test does on the current repository, in which an issue is not resolved yet. The test should reproduce the issue: it should fail for the reason in the issue.',
  'Say first, in one sentence, whether it fails for that reason, for another one, or not at all. Then explain step by step what the test does, where in the code it goes wrong, and why; give places as `path:line`. If the error is in the test itself, such as a wrong import, a misspelled name or a missing fixture, say what to change. Do not write a fix for the code under test.',
  onlyR,
].join('\n');

export const answerInstructions = (callsTools: boolean): string =>
  [
    `You help a developer who writes tests that reproduce an issue: ${reproducing} Answer questions about the issue, the code and the existing tests. Do not write a fix for the code under test.`,
    onlyR,
    ...(callsTools ? [withTools] : []),
  ].join('\n');

/** The end of a first message: the developer's request and attachments. */
export function askedFor(prompt: string, attached: string): string {
  return [
    ...(attached === '' ? [] : ['The developer attached:', attached]),
    ...(prompt.trim() === '' ? [] : ['The developer says:', prompt.trim()]),
  ].join('\n\n');
}

export const reproduceRequest = (repo: string): string =>
  `Write tests for the test suite of ${repo} that reproduce its issue. Read the issue first.`;

/** Request to improve the developer's tests, with their outcomes on R. */
export function improveRequest(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly patch: string;
  readonly run: string;
}): string {
  return [
    `The issue of ${parts.repo}:`,
    issueText(parts.issue),
    'The candidate, as a patch to the repository:',
    `<candidate>\n${parts.patch.trimEnd()}\n</candidate>`,
    'What its tests do on the current repository:',
    `<run>\n${parts.run}\n</run>`,
    'Improve the tests where necessary.',
  ].join('\n\n');
}

/**
 * Request to explain a test: its text, its outcome on R, and the code around the places that its
 * failure names.
 */
export function explainRequest(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly test: string;
  readonly text: string;
  readonly run: string;
  readonly code: readonly string[];
}): string {
  return [
    `The issue of ${parts.repo}:`,
    issueText(parts.issue),
    `The test ${parts.test}:`,
    `<test>\n${parts.text.trimEnd()}\n</test>`,
    'What it does on the current repository:',
    `<run>\n${parts.run}\n</run>`,
    ...(parts.code.length === 0
      ? []
      : [
          'Code of the repository at the places that its failure names, with line numbers:',
          `<code>\n${parts.code.join('\n\n')}\n</code>`,
        ]),
    'Explain the test.',
  ].join('\n\n');
}

/** For a model without tools whose answer is not a patch, or whose tests do not fail on R. */
export const tryAgain = (why: string): string =>
  [
    why,
    'Your earlier answer is not in the repository. Write all of the tests again in one block in the same format.',
  ].join('\n\n');

/** Tells a model without tools to answer with one whole patch when it improves existing tests. */
export const wholePatch =
  'To change something, end your answer with the complete candidate as a unified diff against the repository without the current candidate, in one block that starts with ```diff. If nothing needs to change, write no block.';

/** The last message to a model that has used up its calls. */
export const noMoreCalls =
  'You have used up your calls. Answer now with what you know, without another call.';
