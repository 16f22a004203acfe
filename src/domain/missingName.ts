import { functionOf, type TestResult } from './outcome';

/** `f(): unexpected keyword argument 'x'` of Python, with function and argument. */
export const unexpectedArgument =
  /(?:^|\s)([\w.<>]+)\(\) got an unexpected keyword argument '([^']+)'/;

/** `Class.name` of a missing attribute; undefined for any other text, and for None. */
export function missingAttribute(text: string): string | undefined {
  const [, module, type, object, name] =
    /^(?:(?:partially initialized )?module '([^']+)'|type object '([^']+)'|'([^']+)' object) has no attribute '([^']+)'/.exec(
      text,
    ) ?? [];
  const owner = module ?? type ?? object;
  // Many issues are about a value that is None by mistake.
  if (owner === undefined || name === undefined || owner === 'NoneType') return undefined;
  return `${owner}.${name}`;
}

/**
 * The module, fixture or name that the message of an exception says is missing, dotted where it
 * names the owner: `cats.purr`, `f(loud=…)`. Undefined where it names none. Untrusted.
 */
export function missingName(text: string): string | undefined {
  const imported =
    /cannot import name '?([\w.]+)'?(?: from (?:partially initialized module )?'([^']+)')?/.exec(
      text,
    );
  if (imported !== null) {
    return imported[2] === undefined ? imported[1] : `${imported[2]}.${imported[1]}`;
  }
  const argument = unexpectedArgument.exec(text);
  if (argument !== null) return `${argument[1]}(${argument[2]}=…)`;
  return (
    /No module named '?([\w.]+)'?/.exec(text)?.[1] ??
    /fixture '([^']*)' not found/.exec(text)?.[1] ??
    /\bname '([^']+)' is not defined/.exec(text)?.[1] ??
    /\(\) missing \d+ required positional arguments?: (.+)$/m
      .exec(text)?.[1]
      ?.replaceAll("'", '') ??
    missingAttribute(text)
  );
}

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
