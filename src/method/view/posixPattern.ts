import { HumanError } from '../../domain/work';

/**
 * An extended regular expression (POSIX) with the meaning of a Perl one, for a git that is built
 * without PCRE.
 *
 * @throws HumanError for what POSIX has no words for, such as lookaround
 */
export function posixPattern(pattern: string): {
  readonly pattern: string;
  readonly ignoresCase: boolean;
} {
  const ignoresCase = pattern.startsWith('(?i)');
  const rest = ignoresCase ? pattern.slice('(?i)'.length) : pattern;
  let isInBrackets = false;
  const parts = rest.match(/\\.?|\[\^?\]?|\(\?(?:P?<\w+>|:)?|[*+?}][?+]?|[^]/gu) ?? [];
  const posix = parts.map((part) => {
    if (part.startsWith('\\')) return escaped(part, isInBrackets);
    if (isInBrackets) {
      if (part === ']') isInBrackets = false;
      return part;
    }
    if (part.startsWith('[')) isInBrackets = true;
    if (part === '(?') {
      throw new HumanError(
        'The pattern is not supported here (it has lookaround or inline options)',
        'Remove them, or search for plain text with kind "text"',
      );
    }
    if (part.startsWith('(?')) return '(';
    return /^[*+?}]/.test(part) ? part.slice(0, 1) : part;
  });
  return { pattern: posix.join(''), ignoresCase };
}

/** Character classes of Perl, as they are between brackets. */
const classes: Readonly<Record<string, string>> = {
  d: '0-9',
  w: '[:alnum:]_',
  s: '[:space:]',
};

function escaped(part: string, isInBrackets: boolean): string {
  const letter = part.slice(1);
  const inside = classes[letter.toLowerCase()];
  if (letter === 't') return '\t';
  if (inside === undefined) return part;
  const isNegated = letter !== letter.toLowerCase();
  if (isInBrackets && !isNegated) return inside;
  return isNegated ? `[^${inside}]` : `[${inside}]`;
}
