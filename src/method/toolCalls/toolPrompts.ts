import type { ChatMessage } from '../models/chatModel';
import { instructions } from '../tools/tools';

/**
 * What a model reads that works with the tools, beside their descriptions and results. None of it may
 * mention R∘X*: it is made of the issue, of R and of runs on R.
 */

/** Raised when a text of this file or a rule of the loop changes, so that no old answer is used. */
export const toolPromptVersion = 2;

/** How the work goes on and ends. The chat says the same. */
export const goOn =
  'Go on until the tests fail for the reason in the issue. If a run shows that a test fails for another reason, apply a better candidate and run it again. End with two or three sentences: what the tests check, and why they fail now.';

export const onlyR =
  'What happens once the issue is solved is not known to you, and nobody can tell you: judge by the issue and by what happens on the repository as it is.';

export const issueText = (issue: string): string => `<issue>\n${issue.trim()}\n</issue>`;

/** @param answers the most answers of the model */
export const systemPrompt = (answers: number): string =>
  [
    instructions,
    goOn,
    `You have ${answers} answers at most. Each may hold several calls, which are made in their order. An answer without a call ends the work, and the candidate as it is then counts: change tests only, and leave existing tests passing.`,
    onlyR,
  ].join('\n');

export const firstMessage = ({ repo, issue }: { repo: string; issue: string }): ChatMessage => ({
  role: 'user',
  content: `The issue of ${repo}:\n\n${issueText(issue)}\n\nWrite tests for the test suite of ${repo} that reproduce it.`,
});

/** For an answer that ends the work although there is no candidate. */
export const noCandidate =
  'There is no candidate yet, so nothing would count. Write one with apply_candidate.';

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
    return `The arguments are no JSON, so ${which} not made. Write them anew as one JSON object.`;
  }
  const what = calls.length === 0 ? 'before a call was whole' : `so ${which} not made`;
  return `Your answer was cut off at its limit of ${tokens} tokens, ${what}. Go on with a shorter answer: make the call first, leave out explanations, and write a smaller patch if need be.`;
}

/** For calls beyond the most that one answer may hold. */
export const tooManyCalls = (most: number): string =>
  `This call was not made: one answer may hold ${most} calls. Make it again if it is needed.`;
