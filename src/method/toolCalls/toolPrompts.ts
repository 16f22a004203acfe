import type { ChatMessage } from '../models/chatModel';
import { instructions } from '../tools/tools';

/**
 * What a model reads that works with the tools, beside their descriptions and results. None of it may
 * mention R∘X*: it is made of the issue, of R and of runs on R.
 */

/** Raised when a text of this file or a rule of the loop changes, so that no old answer is used. */
export const toolPromptVersion = 3;

/** How the work continues and ends. The chat uses the same words. */
export const continueRule =
  'If a test fails for another reason or passes, apply a better candidate and run it again. Finish with two or three sentences that explain what the tests check and why they fail now.';

export const onlyR =
  'You cannot find out what happens once the issue is resolved. Judge by the issue and by what happens on the current repository.';

export const issueText = (issue: string): string => `<issue>\n${issue.trim()}\n</issue>`;

/** @param answers the most answers of the model */
export const systemPrompt = (answers: number): string =>
  [
    instructions,
    continueRule,
    `You have at most ${answers} answers. Each answer can have several calls, which run in order. An answer without a call ends your work, and the current candidate is then graded.`,
    onlyR,
  ].join('\n');

export const firstMessage = ({ repo, issue }: { repo: string; issue: string }): ChatMessage => ({
  role: 'user',
  content: `The issue of ${repo}:\n\n${issueText(issue)}\n\nWrite tests for the test suite of ${repo} that reproduce it.`,
});

/** For an answer that ends the work although there is no candidate. */
export const noCandidate =
  'There is no candidate yet, so there is nothing to grade. Write one with apply_candidate.';

/**
 * For an answer that ended at the limit of its length, or whose calls are no JSON.
 *
 * @param calls names of the tools whose calls were not whole
 */
export function notWhole(
  calls: readonly string[],
  { isCut, tokens }: { readonly isCut: boolean; readonly tokens: number },
): string {
  const names = [...new Set(calls)].join(', ');
  const which = calls.length === 1 ? `the call of ${names} was` : `the calls of ${names} were`;
  if (!isCut) {
    return `The arguments are not valid JSON, so ${which} not made. Write them again as one JSON object.`;
  }
  const what = calls.length === 0 ? 'before a call was whole' : `so ${which} not made`;
  return `Your answer was cut off at its limit of ${tokens} tokens, ${what}. Continue with a shorter answer: make the call first, omit explanations, and write a smaller patch if necessary.`;
}

/** For calls beyond the most that one answer may hold. */
export const tooManyCalls = (most: number): string =>
  `This call was not made: an answer can have at most ${most} calls. Make it again if you need it.`;
