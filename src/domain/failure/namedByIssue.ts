import { missingName } from './missingName';
import { functionOf, type TestResult } from '../outcome';

/** Values that any text may have by chance. */
const isTelling = (value: string): boolean =>
  value.length >= 3 && !/^(true|false|none|null|nan|-?\d{1,2}(\.\d)?)$/i.test(value);

/**
 * Whether the issue names what a failing test is about: what its failure says is missing, or the
 * value of its parameter. Such a failure may well be that of the issue. Only whole words count.
 *
 * @param test one case, whose id has its parameters in brackets
 */
export function isNamedByIssue(
  issue: string,
  { test, message = '' }: Pick<TestResult, 'test' | 'message'>,
): boolean {
  return [...missingWords(message), ...parameters(test)].some(
    (word) => isTelling(word) && hasWord(issue, word),
  );
}

/** Of `cats.purr` and `f(loud=…)` the name that is missing, not its owner, which exists. */
function missingWords(message: string): string[] {
  const missing = missingName(message);
  if (missing === undefined) return [];
  const last = /([\w]+)(?:=…\))?$/.exec(missing)?.[1];
  return [missing, ...(last === undefined ? [] : [last])];
}

/** The parameters of a case: `test_x[a-b]` has `a-b`, `a` and `b`. */
function parameters(test: string): string[] {
  const all = test.slice(functionOf(test).length).slice(1, -1);
  return all === '' ? [] : [all, ...all.split('-')];
}

function hasWord(text: string, word: string): boolean {
  const isWordCharacter = (character: string | undefined): boolean =>
    character !== undefined && /[\p{L}\p{N}_]/u.test(character);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = isWordCharacter(word[0]) && isWordCharacter(text[at - 1]);
    const after = isWordCharacter(word.at(-1)) && isWordCharacter(text[at + word.length]);
    if (!before && !after) return true;
  }
  return false;
}
