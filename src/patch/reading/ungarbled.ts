import type { Diagnostic } from '../diagnostic';
import { withoutEntities } from './htmlEntities';

/** Blanks other than the plain one, as web pages and chat windows insert them. */
const oddBlanks = '\u00a0\u2007\u202f';
const oddIndent = new RegExp(`^([+-]?)([ \\t]*[${oddBlanks}][ \\t${oddBlanks}]*)`);

/**
 * Whether a line begins with a blank that no format or language uses, so that the text is garbled.
 */
export function isGarbled(text: string): boolean {
  return new RegExp(`^[${oddBlanks}]`, 'm').test(text);
}

/**
 * Repairs what a web page or a chat window does to a text. Odd blanks before the code become plain
 * ones. HTML entities become characters, unless the text also has plain `<` or `>`.
 *
 * @returns undefined if there is nothing to repair
 */
export function ungarbled(
  text: string,
): { text: string; diagnostics: readonly Diagnostic[] } | undefined {
  const diagnostics: Diagnostic[] = [];
  let lines = text.split('\n');
  const odd = lines.findIndex((line) => oddIndent.test(line));
  if (odd >= 0) {
    lines = lines.map((line) =>
      line.replace(
        oddIndent,
        (_, mark: string, blanks: string) => mark + blanks.replace(/[^\t]/g, ' '),
      ),
    );
    diagnostics.push({
      severity: 'warning',
      code: 'white-space',
      line: odd + 1,
      message: 'Lines begin with no-break spaces; they are read as blanks',
      hint: 'Copy the text from its source, not from a web page',
    });
  }
  const shown = lines.join('\n');
  const plain = /[<>]/.test(text) ? undefined : withoutEntities(shown);
  if (plain !== undefined) diagnostics.push(plain.diagnostic);
  return diagnostics.length === 0 ? undefined : { text: plain?.text ?? shown, diagnostics };
}
