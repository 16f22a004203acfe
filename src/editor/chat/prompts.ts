import { goOn, issueText, onlyR, instructions } from '../../method/tools';

/**
 * Prompts of the chat. They are for models and stay English; texts for people are translated
 * elsewhere. None may mention R∘X*: they are made of the issue, of R and of runs on R.
 */

/** For models that may call tools, in every turn. */
const withTools =
  'You work in a chat beside a developer. Say briefly what you find as you go on, and quote places in the code as `path:line`. When you have what you need, answer without another call.';

export const reproduceInstructions = [
  instructions,
  `${goOn} Do not repeat the patch, which the developer is shown anyway.`,
  onlyR,
  withTools,
].join('\n');

export const improveInstructions = (callsTools: boolean): string =>
  [
    'A developer has written tests that are to reproduce an issue: they fail on the repository as it is because of the fault that the issue tells of, and would pass once it is mended. They are the current candidate. Make them better, and do not mend the fault.',
    'Look at what a run shows. Does each test fail for the reason in the issue, and not for a fault of its own? Does it check one thing, by itself, without leaning on other tests, their order, the clock or the network? Does it assert what the issue asks for, and nothing that depends on how the fault is mended? Does its name say what it checks, in the style of its neighbours?',
    'Leave tests alone that need nothing. Give a short list of what you have changed and why, or say that nothing needs to change.',
    ...(callsTools
      ? [
          'Where something is to be mended, apply the whole candidate anew (a patch on the repository as it is, with what was good in it) and run its tests. Do not repeat the patch at the end, which the developer is shown anyway.',
          withTools,
        ]
      : []),
    onlyR,
  ].join('\n');

export const explainInstructions = [
  'You explain to a developer what a test does on a repository, which has the fault that an issue tells of. The test is meant to reproduce the issue: it should fail because of that fault.',
  'Say first, in one sentence, whether it fails for the reason in the issue, for another one, or not at all. Then go through it: what the test does, where in the code it goes wrong and why, step by step, with places as `path:line`. If the fault is in the test itself (a wrong import, a misspelt name, a missing fixture), say what to change. Do not write a fix of the code under test.',
  onlyR,
].join('\n');

export const answerInstructions = (callsTools: boolean): string =>
  [
    'You help a developer who writes tests that reproduce an issue of a repository: they fail on the repository as it is because of the fault that the issue tells of, and would pass once it is mended. Answer questions about the issue, the code and the tests that are there. Do not write a fix of the code under test.',
    onlyR,
    ...(callsTools ? [withTools] : []),
  ].join('\n');

/** The end of a first message: what the person asked and attached. */
export function askedFor(prompt: string, attached: string): string {
  return [
    ...(attached === '' ? [] : ['The developer has attached:', attached]),
    ...(prompt.trim() === '' ? [] : ['The developer says:', prompt.trim()]),
  ].join('\n\n');
}

export const reproduceRequest = (repo: string): string =>
  `Write tests for the test suite of ${repo} that reproduce its issue. Begin by reading the issue.`;

/** Request to improve the developer's tests, with their outcomes on R. */
export function improveRequest(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly patch: string;
  readonly run: string;
}): string {
  return [
    `An issue of ${parts.repo}:`,
    issueText(parts.issue),
    'The candidate, as a patch on the repository:',
    `<candidate>\n${parts.patch.trimEnd()}\n</candidate>`,
    'What its tests do on the repository as it is:',
    `<run>\n${parts.run}\n</run>`,
    'Make the tests better where they need it.',
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
    `An issue of ${parts.repo}:`,
    issueText(parts.issue),
    `The test ${parts.test}:`,
    `<test>\n${parts.text.trimEnd()}\n</test>`,
    'What it does on the repository as it is:',
    `<run>\n${parts.run}\n</run>`,
    ...(parts.code.length === 0
      ? []
      : [
          'Code of the repository that its failure names, with line numbers:',
          `<code>\n${parts.code.join('\n\n')}\n</code>`,
        ]),
    'Explain it.',
  ].join('\n\n');
}

/** For a model without tools, when its answer is no patch or fails on R for a wrong reason. */
export const tryAgain = (why: string): string =>
  [
    why,
    'Write the tests again, as one whole patch on the repository as it is, in the same format as before.',
  ].join('\n\n');

/** Tells a model without tools to answer with one whole patch when it improves existing tests. */
export const wholePatch =
  'If something is to be changed, end with the whole candidate anew: one unified diff on the repository as it is, in a block that begins with ```diff. Otherwise write no block.';

/** The last message to a model that has used up its calls. */
export const noMoreCalls =
  'You have made as many calls as you may. Answer now, without another call, by what you know.';
