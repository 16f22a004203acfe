import { HumanError } from '../../domain/work';

/**
 * The words of a command line. Quotes hold words together, and a backslash takes a character as it
 * is; no shell expands anything. The package `string-argv` keeps the quotes of `--a="b c"`, joins no
 * quoted parts and drops an open quote, so it is no replacement.
 *
 * @throws HumanError when there is no word, or a quote is open
 */
export function wordsOfCommand(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? '';
    if (letter === '\\' && quote !== "'" && at + 1 < line.length) {
      at += 1;
      word = (word ?? '') + (line[at] ?? '');
    } else if (quote !== '' ? letter === quote : letter === "'" || letter === '"') {
      quote = quote === '' ? letter : '';
      word ??= '';
    } else if (quote === '' && /\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + letter;
  }
  if (word !== undefined) words.push(word);
  if (quote === '' && words.length > 0) return words;
  throw new HumanError(
    `acp:${line} has no command${quote === '' ? '' : `: the quote ${quote} is not closed`}`,
    'Use the form acp:COMMAND, such as acp:claude-code or "acp:my-agent --acp"',
  );
}
