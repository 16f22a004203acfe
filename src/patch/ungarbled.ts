import type { Diagnostic } from './diagnostic';
import { withoutEntities } from './htmlEntities';

/** Blanks that are not the plain one, as web pages and chat windows put them in. */
const oddBlanks = '\u00a0\u2007\u202f';
const oddIndent = new RegExp(`^([+-]?)([ \\t]*[${oddBlanks}][ \\t${oddBlanks}]*)`);

/** Whether a line begins with a blank that no format and no language knows: such a text is garbled. */
export function isGarbled(text: string): boolean {
  return new RegExp(`^[${oddBlanks}]`, 'm').test(text);
}

/**
 * A text without what a web page or a chat window does to it: other blanks for plain ones before the
 * code, and HTML entities for characters, if none of these characters stand in it as they are.
 *
 * @returns undefined when there is nothing of the kind
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
      message: 'Lines begin with no-break spaces; they are taken for blanks',
      hint: 'Copy the text from its source, not from a web page',
    });
  }
  const shown = lines.join('\n');
  const plain = /[<>]/.test(text) ? undefined : withoutEntities(shown);
  if (plain !== undefined) diagnostics.push(plain.diagnostic);
  return diagnostics.length === 0 ? undefined : { text: plain?.text ?? shown, diagnostics };
}
