import { bytesOf, textOf } from '../bytes';

/** File names as unified diffs write them: quoting, prefixes, time stamps. */

const escapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

const escapeLetters = new Map(Object.entries(escapes).map(([letter, byte]) => [byte, letter]));

/** The first directory that git adds to names: a/ b/, or one of `diff.mnemonicPrefix`. */
const prefixes = new Set(['a', 'b', 'c', 'i', 'o', 'w', '1', '2']);

/**
 * Reads a C-style quoted name at the start of `text`. Octal escapes are bytes of UTF-8; `textOf`
 * represents other bytes.
 *
 * @returns the name and its length with quotes; undefined if the text does not begin with one
 */
function readQuoted(text: string): { name: string; length: number } | undefined {
  if (!text.startsWith('"')) return undefined;
  const bytes: number[] = [];
  for (let i = 1; i < text.length;) {
    const char = text[i] ?? '';
    if (char === '"') {
      return { name: textOf(Buffer.from(bytes)), length: i + 1 };
    }
    if (char !== '\\') {
      const whole = String.fromCodePoint(text.codePointAt(i) ?? 0);
      bytes.push(...bytesOf(whole));
      i += whole.length;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(i + 1, i + 4));
    const plain = escapes[text[i + 1] ?? ''];
    if (octal !== null) {
      bytes.push(parseInt(octal[0], 8));
      i += 4;
    } else if (plain !== undefined) {
      bytes.push(plain);
      i += 2;
    } else {
      return undefined;
    }
  }
  return undefined;
}

/** Writes a name as git does: quoted with octal escapes if it contains anything but plain ASCII. */
export function quoteFileName(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name) && !/["\\]/.test(name)) return name;
  let quoted = '"';
  for (const byte of bytesOf(name)) {
    const letter = escapeLetters.get(byte);
    if (letter !== undefined) quoted += `\\${letter}`;
    else if (byte >= 0x20 && byte <= 0x7e) quoted += String.fromCharCode(byte);
    else quoted += `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `${quoted}"`;
}

/** A name as a header writes it, with its prefix; null for /dev/null. */
export type RawFileName = string | null;

const isoStamp = /\s\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d:?\d\d))?$/;
const ctimeStamp = /\s[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
/** `diff -N` marks the missing side by this time, in any time zone. */
const epoch = /\s(1970-01-01|1969-12-31)[ T]\d\d:\d\d:00(\.0+)?( [+-]\d{4})?$/;

/** The name in the rest of a `--- ` or `+++ ` line. */
export function readHeaderName(rest: string): RawFileName {
  const text = rest.replace(/\r$/, '');
  const quoted = readQuoted(text);
  if (quoted !== undefined) return quoted.name;
  // A time stamp is short and at the end, while the line may be long.
  const ended = text.trimEnd();
  const tail = ended.slice(-64);
  if (epoch.test(tail)) return null;
  const tab = text.indexOf('\t');
  const stamp = isoStamp.exec(tail) ?? ctimeStamp.exec(tail);
  const name =
    tab >= 0
      ? text.slice(0, tab)
      : stamp === null
        ? text
        : ended.slice(0, ended.length - stamp[0].length).trimEnd();
  return name === '/dev/null' || /^\/dev\/null\s+$/.test(name) ? null : name;
}

/** The name in the rest of a `rename from ` or similar line. */
export function readPlainName(rest: string): string {
  const text = rest.replace(/\r$/, '');
  return readQuoted(text)?.name ?? text;
}

/**
 * The two names of a `diff --git ` line; undefined if the line does not show where the first ends.
 */
export function readGitNames(rest: string): { old: string; new: string } | undefined {
  const text = rest.replace(/\r$/, '');
  const first = readQuoted(text);
  if (first !== undefined) {
    if (text[first.length] !== ' ') return undefined;
    return { old: first.name, new: readPlainName(text.slice(first.length + 1)) };
  }
  const quote = text.indexOf(' "');
  const second = quote < 0 ? undefined : readQuoted(text.slice(quote + 1));
  if (second !== undefined) return { old: text.slice(0, quote), new: second.name };
  // Without a rename both names are equal except for their prefixes, so the middle separates them,
  // even if they contain spaces. A rename has lines of its own that overrule this guess.
  const middle = (text.length - 1) / 2;
  if (text[middle] === ' ') {
    const [left, right] = [text.slice(0, middle), text.slice(middle + 1)];
    if (left === right || withoutFirst(left) === withoutFirst(right)) {
      return { old: left, new: right };
    }
  }
  // No two paths are that long, and the pattern is slow on such lines.
  const split = text.length > 10_000 ? null : /^(\S+|a\/.*?) (b\/.*|\S+)$/s.exec(text);
  return split === null ? undefined : { old: split[1] ?? '', new: split[2] ?? '' };
}

/**
 * Removes the a/ and b/ prefixes, if there are any.
 *
 * @returns `stripped` is false if there were none, although git would remove a directory
 */
export function stripPrefixes(
  oldName: RawFileName,
  newName: RawFileName,
): { old: string | null; new: string | null; stripped: boolean } {
  const names = [oldName, newName].filter((name) => name !== null);
  if (names.every(hasPrefix)) {
    return {
      old: oldName === null ? null : withoutFirst(oldName),
      new: newName === null ? null : withoutFirst(newName),
      stripped: true,
    };
  }
  return { old: oldName, new: newName, stripped: names.every((name) => !name.includes('/')) };
}

/** What git takes for the path in a name: all but its first directory; undefined if nothing is left. */
export function pathForGit(name: string): string | undefined {
  const slash = name.indexOf('/');
  return slash < 0 || slash === name.length - 1 ? undefined : name.slice(slash + 1);
}

function hasPrefix(name: string): boolean {
  const slash = name.indexOf('/');
  return slash > 0 && slash < name.length - 1 && prefixes.has(name.slice(0, slash));
}

function withoutFirst(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
